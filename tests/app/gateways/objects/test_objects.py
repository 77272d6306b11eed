"""Every storage keeps the promises of the protocol."""

import errno
import os
from collections.abc import AsyncIterator
from hashlib import sha256
from pathlib import Path

import pytest

from app.kit.directories import FreeSpace
from app.kit.errors import NoFreeSpace, TooLarge
from app.kit.objects import LocalObjects, Objects, local_copy, put_bytes
from tests.support.objects.stored_objects import (
    below,
    chunks,
    committed_directory,
    matching_objects,
    read,
)

WRITABLE = 0o222
BAD_KEYS = (
    *("/etc/passwd", "../up", "a/../../up", ""),
    *("a/\0b", "a/\ud800", "a/" + "b" * 201, "/".join(["b" * 100] * 9)),
)


async def test_what_is_put_returns_with_its_size_and_digest(objects: Objects) -> None:
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
    async with local_copy(objects, "a/b", tmp_path / "work") as path:
        file = path.open("rb")
    with file:
        assert file.read() == b"here"
    with pytest.raises(FileNotFoundError):
        async with local_copy(objects, "a/c", tmp_path / "work"):
            pytest.fail("there is no such object")
    assert list((tmp_path / "work").iterdir()) == []


async def test_a_fetched_file_is_read_only(objects: Objects, tmp_path: Path) -> None:
    """It may be the stored file itself, under a second name."""
    await put_bytes(objects, "one", b"1")
    await objects.put_directory("a", committed_directory(tmp_path / "made", file=b"1"))
    await objects.fetch("one", tmp_path / "one")
    await objects.fetch_directory("a", tmp_path / "copy")
    files = [tmp_path / "one", *(tmp_path / "copy").iterdir()]
    assert sorted(path.name for path in files) == ["file", "manifest.json", "one"]
    assert [path.stat().st_mode & WRITABLE for path in files] == [0] * 3


async def test_a_copied_file_is_read_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_: object) -> None:
        raise OSError(errno.EXDEV, "another file system")

    objects = LocalObjects(tmp_path / "objects")
    await put_bytes(objects, "one", b"1")
    monkeypatch.setattr(os, "link", no_links)
    await objects.fetch("one", tmp_path / "one")
    assert (tmp_path / "one").stat().st_mode & WRITABLE == 0


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
    await objects.put_directory("d//e", committed_directory(tmp_path / "made", file=b"1"))
    await objects.fetch_directory("d/./e", tmp_path / "copy")
    assert (tmp_path / "copy" / "file").read_bytes() == b"1"
    with pytest.raises(FileExistsError):
        await objects.put_directory("d/e/", committed_directory(tmp_path / "again", file=b"1"))
    await objects.delete("a//b")
    assert await objects.children("a/b") == []


@pytest.mark.parametrize("key", BAD_KEYS)
async def test_a_key_never_leaves_the_root(objects: Objects, tmp_path: Path, key: str) -> None:
    made = committed_directory(tmp_path / "made", file=b"1")
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
    assert matching_objects(tmp_path, "*file*") == []
