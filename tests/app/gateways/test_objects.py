from collections.abc import AsyncIterator
from hashlib import sha256
from pathlib import Path

import pytest

from app.domain.errors import TooLarge
from app.gateways.objects import InMemoryObjects, LocalObjects, Objects


@pytest.fixture(params=["local", "in memory"])
def objects(request: pytest.FixtureRequest, tmp_path: Path) -> Objects:
    return LocalObjects(tmp_path) if request.param == "local" else InMemoryObjects()


async def chunks(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


async def read(objects: Objects, key: str) -> bytes:
    return b"".join([chunk async for chunk in objects.read(key)])


def files_below(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file()]


async def test_what_is_put_comes_back_with_its_size_and_digest(objects: Objects) -> None:
    stored = await objects.put("a/b", chunks(b"one ", b"two"))
    assert (stored.bytes, stored.sha256) == (7, sha256(b"one two").hexdigest())
    assert await read(objects, "a/b") == b"one two"


async def test_too_large_a_stream_leaves_nothing(objects: Objects, tmp_path: Path) -> None:
    with pytest.raises(TooLarge):
        await objects.put("a/b", chunks(b"1234", b"5678"), max_bytes=7)
    with pytest.raises(FileNotFoundError):
        await read(objects, "a/b")
    assert files_below(tmp_path) == []


async def test_delete_takes_an_object_or_all_below_a_key(objects: Objects) -> None:
    for key in ("a/b/1", "a/b/2", "a/c"):
        await objects.put(key, chunks(key.encode()))
    await objects.delete("a/b")
    await objects.delete("a/b")
    with pytest.raises(FileNotFoundError):
        await read(objects, "a/b/1")
    assert await read(objects, "a/c") == b"a/c"


@pytest.mark.parametrize("key", ["/etc/passwd", "../up", "a/../../up", ""])
def test_a_key_never_leaves_the_root(tmp_path: Path, key: str) -> None:
    with pytest.raises(ValueError, match="not an object key"):
        LocalObjects(tmp_path).local_path(key)
