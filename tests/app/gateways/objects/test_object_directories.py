"""Every storage keeps a committed directory whole, and takes nothing else for one."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from app.kit.directories import FreeSpace, ManifestMismatch, verify_directory
from app.kit.errors import NoFreeSpace
from app.kit.objects import LocalObjects, Objects, put_bytes, rename_directory
from tests.support.objects.stored_objects import below, committed_directory, matching_objects, read


async def test_a_directory_returns_as_it_was(objects: Objects, tmp_path: Path) -> None:
    directory = committed_directory(tmp_path / "made", weights=b"w" * 9_000_000, config=b"{}")
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
    first = committed_directory(tmp_path / "first", file=b"1")
    await objects.put_directory("a", first)
    with pytest.raises(FileExistsError):
        await objects.put_directory("a", committed_directory(tmp_path / "second", file=b"2"))
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
    await objects.put_directory("a", committed_directory(tmp_path / "made", file=b"1", other=b"3"))
    content = await read(objects, f"a/{name}")
    await objects.delete(f"a/{name}")
    if damage is not None:
        await put_bytes(objects, f"a/{name}", damage(content))
    with pytest.raises((ManifestMismatch, FileNotFoundError)):
        await objects.fetch_directory("a", tmp_path / "copy")
    assert not (tmp_path / "copy").exists()
    assert matching_objects(tmp_path, ".*") == []


def _link_outside(path: Path) -> None:
    secret = path.parent.parent / "outside"
    secret.write_bytes(b"secret")
    path.symlink_to(secret)


def _subdirectory(path: Path) -> None:
    path.mkdir()
    (path / "deep").write_bytes(b"x")


@pytest.mark.parametrize("make", [_link_outside, os.mkfifo, _subdirectory])
@pytest.mark.parametrize("name", ["extra", "manifest.json"])
async def test_a_directory_of_other_than_plain_files_is_not_stored(
    objects: Objects, tmp_path: Path, name: str, make: Callable[[Path], None]
) -> None:
    directory = committed_directory(tmp_path / "made", file=b"1")
    (directory / name).unlink(missing_ok=True)
    make(directory / name)
    with pytest.raises(ManifestMismatch, match=f"{name} is not a plain file"):
        await objects.put_directory("a", directory)
    assert await below(objects, "a") == []
    with pytest.raises(FileNotFoundError):
        await objects.fetch_directory("a", tmp_path / "copy")


@pytest.mark.parametrize("make", [_link_outside, os.mkfifo, _subdirectory])
@pytest.mark.parametrize("name", ["extra", "manifest.json"])
async def test_other_than_plain_files_in_the_root_are_not_fetched(
    tmp_path: Path, name: str, make: Callable[[Path], None]
) -> None:
    objects = LocalObjects(tmp_path / "objects")
    await objects.put_directory("a", committed_directory(tmp_path / "made", file=b"1"))
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
    await objects.put_directory("a", committed_directory(tmp_path / "made", file=b"1"))
    await put_bytes(objects, "a/deep/file", b"2")
    with pytest.raises(ManifestMismatch, match="deep"):
        await objects.fetch_directory("a", tmp_path / "copy")
    with pytest.raises(FileNotFoundError):
        await read(objects, "a/deep")
    with pytest.raises(FileNotFoundError):
        await objects.fetch("a/deep", tmp_path / "copy")


async def test_a_manifest_that_names_a_path_writes_nothing_there(
    objects: Objects, tmp_path: Path
) -> None:
    await put_bytes(objects, "a/file", b"x")
    await put_bytes(objects, "a/manifest.json", b'{"sha256": {"../../up": "0"}}')
    with pytest.raises(ManifestMismatch):
        await objects.fetch_directory("a", tmp_path / "deep" / "copy")
    assert matching_objects(tmp_path, "up*") == []


async def test_a_local_storage_below_the_minimum_takes_no_directory(tmp_path: Path) -> None:
    free = [10]
    space = FreeSpace(tmp_path, minimum_bytes=20, measure=lambda _path: free[0])
    objects = LocalObjects(tmp_path / "objects", space=space)
    made = committed_directory(tmp_path / "made", file=b"1")
    with pytest.raises(NoFreeSpace):
        await objects.put_directory("a", made)
    assert not (tmp_path / "objects").exists()
    free[0] = 20
    await objects.put_directory("a", made)
    assert await read(objects, "a/file") == b"1"


def test_a_directory_that_another_fetch_made_first_is_reported_as_one(tmp_path: Path) -> None:
    """Both saw none; its files stay."""
    partial, made = tmp_path / "partial", tmp_path / "copy"
    for directory in (partial, made):
        directory.mkdir()
        (directory / "file").write_text(directory.name)
    with pytest.raises(FileExistsError):
        rename_directory(partial, made)
    assert (made / "file").read_text() == "copy"
