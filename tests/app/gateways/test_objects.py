"""Every storage keeps the promises of the protocol."""

import errno
import os
from collections.abc import AsyncIterator, Callable
from hashlib import sha256
from pathlib import Path

import pytest

from app.domain.data.manifests import ManifestMismatch
from app.domain.errors import NoFreeSpace, TooLarge
from app.gateways.free_space import FreeSpace
from app.gateways.objects import InMemoryObjects, LocalObjects, Objects, fetched, put_bytes
from tests.support.s3_server import S3Server
from workers.learning.committed import commit_directory, verify_directory

BAD_KEYS = (
    *("/etc/passwd", "../up", "a/../../up", ""),
    *("a/\0b", "a/\ud800", "a/" + "b" * 201, "/".join(["b" * 100] * 9)),
)


@pytest.fixture(params=["local", "in memory", "s3"])
def objects(request: pytest.FixtureRequest, tmp_path: Path) -> Objects:
    match request.param:
        case "local":
            return LocalObjects(tmp_path / "objects")
        case "in memory":
            return InMemoryObjects()
        case _:
            return _s3(request.getfixturevalue("s3"))


def _s3(server: S3Server) -> Objects:
    from app.gateways.objects.s3 import S3Objects  # noqa: PLC0415 - after the check of the extra

    return S3Objects(server.settings())


async def chunks(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


async def read(objects: Objects, key: str) -> bytes:
    return b"".join([chunk async for chunk in objects.read(key)])


async def below(objects: Objects, directory: str) -> list[str]:
    return [child.key for child in await objects.children(directory)]


def committed(directory: Path, **files: bytes) -> Path:
    with commit_directory(directory) as partial:
        for name, content in files.items():
            (partial / name).write_bytes(content)
    return directory


def found(directory: Path, pattern: str) -> list[Path]:
    return list(directory.rglob(pattern))


async def test_what_is_put_comes_back_with_its_size_and_digest(objects: Objects) -> None:
    stored = await objects.put("a/b", chunks(b"one ", b"two"))
    assert (stored.bytes, stored.sha256) == (7, sha256(b"one two").hexdigest())
    assert await read(objects, "a/b") == b"one two"


async def test_an_empty_object_is_an_object(objects: Objects, tmp_path: Path) -> None:
    assert (await objects.put("a/b", chunks())).bytes == 0
    assert await read(objects, "a/b") == b""
    await objects.fetch("a/b", tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == b""


@pytest.mark.parametrize("before", [b"", b"1234" * (3 << 20)])
async def test_a_stream_that_breaks_off_leaves_nothing(objects: Objects, before: bytes) -> None:
    class Broken(Exception):
        pass

    async def broken() -> AsyncIterator[bytes]:
        yield before
        raise Broken

    with pytest.raises(Broken):
        await objects.put("a/b", broken())
    with pytest.raises(FileNotFoundError):
        await read(objects, "a/b")
    assert await below(objects, "a") == []


@pytest.mark.parametrize("size", [8, 12 << 20])
async def test_too_large_a_stream_leaves_nothing(objects: Objects, size: int) -> None:
    half = b"x" * (size // 2)
    with pytest.raises(TooLarge):
        await objects.put("a/b", chunks(half, half), max_bytes=size - 1)
    with pytest.raises(FileNotFoundError):
        await read(objects, "a/b")
    assert await below(objects, "a") == []
    await objects.put("a/b", chunks(half, half), max_bytes=size)
    assert len(await read(objects, "a/b")) == size


async def test_an_object_of_many_parts_is_whole(objects: Objects, tmp_path: Path) -> None:
    parts = [bytes([number]) * 3_000_001 for number in range(9)]
    stored = await objects.put("big", chunks(*parts))
    whole = b"".join(parts)
    assert (stored.bytes, stored.sha256) == (len(whole), sha256(whole).hexdigest())
    assert await read(objects, "big") == whole
    await objects.fetch("big", tmp_path / "deep" / "file")
    assert (tmp_path / "deep" / "file").read_bytes() == whole


async def test_an_object_is_read_from_any_of_its_bytes_on(objects: Objects) -> None:
    whole = bytes(range(256)) * 9_000
    await put_bytes(objects, "a/b", whole)
    for start in (0, 1, 1 << 20, len(whole) - 1):
        chunks = [chunk async for chunk in objects.read("a/b", start=start)]
        assert b"".join(chunks) == whole[start:]
    with pytest.raises(FileNotFoundError):
        await anext(objects.read("a/c", start=1))


async def test_delete_takes_an_object_or_all_below_a_key(objects: Objects) -> None:
    for key in ("a/b/1", "a/b/2", "a/b/deep/3", "a/bc", "a/c"):
        await put_bytes(objects, key, key.encode())
    await objects.delete("a/b")
    await objects.delete("a/b")
    for gone in ("a/b/1", "a/b/2", "a/b/deep/3"):
        with pytest.raises(FileNotFoundError):
            await read(objects, gone)
    left = [child.key for child in await objects.children("a") if child.age_s is not None]
    assert left == ["a/bc", "a/c"]
    await objects.delete("a/bc")
    assert "a/bc" not in await below(objects, "a")


async def test_a_fetched_file_outlives_its_object(objects: Objects, tmp_path: Path) -> None:
    await put_bytes(objects, "a/b", b"here")
    await objects.fetch("a/b", tmp_path / "copy")
    await objects.delete("a/b")
    assert (tmp_path / "copy").read_bytes() == b"here"
    with pytest.raises(FileNotFoundError):
        await objects.fetch("a/b", tmp_path / "other")
    assert not (tmp_path / "other").exists()


async def test_a_fetched_file_is_there_while_it_is_read(objects: Objects, tmp_path: Path) -> None:
    await put_bytes(objects, "a/b", b"here")
    async with fetched(objects, "a/b", tmp_path / "work") as path:
        file = path.open("rb")
    with file:
        assert file.read() == b"here"
    with pytest.raises(FileNotFoundError):
        async with fetched(objects, "a/c", tmp_path / "work"):
            pytest.fail("there is no such object")
    assert list((tmp_path / "work").iterdir()) == []


async def test_a_directory_comes_back_as_it_was(objects: Objects, tmp_path: Path) -> None:
    directory = committed(tmp_path / "made", weights=b"w" * 9_000_000, config=b"{}")
    await objects.put_directory("jobs/a/adapter", directory)
    names = ["config", "manifest.json", "weights"]
    assert await below(objects, "jobs/a/adapter") == [f"jobs/a/adapter/{name}" for name in names]
    copy = tmp_path / "deep" / "copy"
    await objects.fetch_directory("jobs/a/adapter", copy)
    assert sorted(path.name for path in copy.iterdir()) == names
    verify_directory(copy)
    await objects.delete("jobs/a/adapter")
    verify_directory(copy)
    verify_directory(directory)
    assert await objects.children("jobs/a/adapter") == []


async def test_a_version_is_never_overwritten(objects: Objects, tmp_path: Path) -> None:
    first = committed(tmp_path / "first", file=b"1")
    await objects.put_directory("a", first)
    with pytest.raises(FileExistsError):
        await objects.put_directory("a", committed(tmp_path / "second", file=b"2"))
    assert await read(objects, "a/file") == b"1"
    with pytest.raises(FileExistsError):
        await objects.fetch_directory("a", first)


async def test_a_directory_without_a_manifest_is_none(objects: Objects, tmp_path: Path) -> None:
    (tmp_path / "loose").mkdir()
    (tmp_path / "loose" / "file").write_bytes(b"x")
    with pytest.raises(ValueError, match="not a committed directory"):
        await objects.put_directory("a", tmp_path / "loose")
    with pytest.raises(FileNotFoundError):
        await objects.fetch_directory("a", tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def _flip(content: bytes) -> bytes:
    return b"2" + content[1:]


@pytest.mark.parametrize(
    ("name", "damage"),
    [("file", _flip), ("file", None), ("manifest.json", lambda _: b"{"), ("manifest.json", None)],
)
async def test_a_damaged_directory_is_not_fetched(
    objects: Objects, tmp_path: Path, name: str, damage: Callable[[bytes], bytes] | None
) -> None:
    await objects.put_directory("a", committed(tmp_path / "made", file=b"1", other=b"3"))
    content = await read(objects, f"a/{name}")
    await objects.delete(f"a/{name}")
    if damage is not None:
        await put_bytes(objects, f"a/{name}", damage(content))
    with pytest.raises((ManifestMismatch, FileNotFoundError)):
        await objects.fetch_directory("a", tmp_path / "copy")
    assert not (tmp_path / "copy").exists()
    assert found(tmp_path, ".*") == []


def _link_outside(path: Path) -> None:
    secret = path.parent.parent / "outside"
    secret.write_bytes(b"secret")
    path.symlink_to(secret)


def _subdirectory(path: Path) -> None:
    path.mkdir()
    (path / "deep").write_bytes(b"x")


@pytest.mark.parametrize("make", [_link_outside, os.mkfifo, _subdirectory])
@pytest.mark.parametrize("name", ["file", "extra", "manifest.json"])
async def test_a_directory_of_other_than_plain_files_is_not_stored(
    objects: Objects, tmp_path: Path, name: str, make: Callable[[Path], None]
) -> None:
    directory = committed(tmp_path / "made", file=b"1")
    (directory / name).unlink(missing_ok=True)
    make(directory / name)
    with pytest.raises(ManifestMismatch, match=f"{name} is not a plain file"):
        await objects.put_directory("a", directory)
    assert await below(objects, "a") == []
    with pytest.raises(FileNotFoundError):
        await objects.fetch_directory("a", tmp_path / "copy")


@pytest.mark.parametrize("make", [_link_outside, os.mkfifo, _subdirectory])
@pytest.mark.parametrize("name", ["file", "extra", "manifest.json"])
async def test_other_than_plain_files_in_the_root_are_not_fetched(
    tmp_path: Path, name: str, make: Callable[[Path], None]
) -> None:
    objects = LocalObjects(tmp_path / "objects")
    await objects.put_directory("a", committed(tmp_path / "made", file=b"1"))
    await objects.delete(f"a/{name}")
    make(tmp_path / "objects" / "a" / name)
    with pytest.raises(ManifestMismatch):
        await objects.fetch_directory("a", tmp_path / "copy")
    with pytest.raises(FileNotFoundError):
        await objects.fetch(f"a/{name}", tmp_path / "copy")
    with pytest.raises(FileNotFoundError):
        await read(objects, f"a/{name}")
    assert not (tmp_path / "copy").exists()


async def test_an_object_below_a_stored_directory_damages_it(
    objects: Objects, tmp_path: Path
) -> None:
    await objects.put_directory("a", committed(tmp_path / "made", file=b"1"))
    await put_bytes(objects, "a/deep/file", b"2")
    with pytest.raises(ManifestMismatch, match="deep"):
        await objects.fetch_directory("a", tmp_path / "copy")
    with pytest.raises(FileNotFoundError):
        await read(objects, "a/deep")
    with pytest.raises(FileNotFoundError):
        await objects.fetch("a/deep", tmp_path / "copy")


async def test_a_fetched_file_is_read_only(objects: Objects, tmp_path: Path) -> None:
    """It may be the stored file itself, under a second name."""
    await put_bytes(objects, "one", b"1")
    await objects.put_directory("a", committed(tmp_path / "made", file=b"1"))
    await objects.fetch("one", tmp_path / "one")
    await objects.fetch_directory("a", tmp_path / "copy")
    files = [tmp_path / "one", *(tmp_path / "copy").iterdir()]
    assert sorted(path.name for path in files) == ["file", "manifest.json", "one"]
    assert [path.stat().st_mode & 0o777 for path in files] == [0o444] * 3


async def test_a_copied_file_is_read_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_: object) -> None:
        raise OSError(errno.EXDEV, "another file system")

    objects = LocalObjects(tmp_path / "objects")
    await put_bytes(objects, "one", b"1")
    monkeypatch.setattr(os, "link", no_links)
    await objects.fetch("one", tmp_path / "one")
    assert (tmp_path / "one").stat().st_mode & 0o777 == 0o444


async def test_a_manifest_that_names_a_path_writes_nothing_there(
    objects: Objects, tmp_path: Path
) -> None:
    await put_bytes(objects, "a/file", b"x")
    await put_bytes(objects, "a/manifest.json", b'{"sha256": {"../../up": "0"}}')
    with pytest.raises(ManifestMismatch):
        await objects.fetch_directory("a", tmp_path / "deep" / "copy")
    assert found(tmp_path, "up*") == []


async def test_children_are_what_is_right_below(objects: Objects) -> None:
    for key in ("p/b/file", "p/a", "p/b/deep/file", "q"):
        await put_bytes(objects, key, b"x")
    first, second = await objects.children("p")
    assert (first.key, first.name, second.key, second.age_s) == ("p/a", "a", "p/b", None)
    assert (first.bytes, second.bytes) == (1, None)
    assert first.age_s is not None
    assert first.age_s < 3600
    assert await objects.children("nothing/here") == []


async def test_a_key_has_one_spelling(objects: Objects, tmp_path: Path) -> None:
    await put_bytes(objects, "a//b/./c", b"x")
    assert await read(objects, "a/b/c") == await read(objects, "./a/b//c/") == b"x"
    assert [child.key for child in await objects.children("a//b/")] == ["a/b/c"]
    await objects.put_directory("d//e", committed(tmp_path / "made", file=b"1"))
    await objects.fetch_directory("d/./e", tmp_path / "copy")
    assert (tmp_path / "copy" / "file").read_bytes() == b"1"
    with pytest.raises(FileExistsError):
        await objects.put_directory("d/e/", committed(tmp_path / "again", file=b"1"))
    await objects.delete("a//b")
    assert await objects.children("a/b") == []


@pytest.mark.parametrize("key", BAD_KEYS)
async def test_a_key_never_leaves_the_root(objects: Objects, tmp_path: Path, key: str) -> None:
    made = committed(tmp_path / "made", file=b"1")
    for call in (
        objects.put(key, chunks(b"x")),
        read(objects, key),
        objects.fetch(key, tmp_path / "copy"),
        objects.put_directory(key, made),
        objects.fetch_directory(key, tmp_path / "copy"),
        objects.delete(key),
        objects.children(key),
    ):
        with pytest.raises(ValueError, match="not an object key"):
            await call


async def test_a_local_storage_stops_at_the_minimum_in_the_middle_of_a_file(tmp_path: Path) -> None:
    free = iter([50, 30, 10])
    space = FreeSpace(tmp_path, minimum_bytes=20, measure=lambda _path: next(free))
    objects = LocalObjects(tmp_path / "objects", space=space)
    with pytest.raises(NoFreeSpace, match="less than 0 MB of free disk space"):
        await objects.put("file", chunks(b"1", b"2", b"3"))
    assert found(tmp_path, "*file*") == []


async def test_a_local_storage_below_the_minimum_takes_no_directory(tmp_path: Path) -> None:
    free = [10]
    space = FreeSpace(tmp_path, minimum_bytes=20, measure=lambda _path: free[0])
    objects = LocalObjects(tmp_path / "objects", space=space)
    made = committed(tmp_path / "made", file=b"1")
    with pytest.raises(NoFreeSpace):
        await objects.put_directory("a", made)
    assert not (tmp_path / "objects").exists()
    free[0] = 20
    await objects.put_directory("a", made)
    assert await read(objects, "a/file") == b"1"
