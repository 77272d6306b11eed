"""A tar archive of stored objects has one form, can be continued anywhere, and is never complete
when an object is damaged.
"""

import io
import tarfile
from hashlib import sha256

import pytest

from app.kit.objects import Objects, put_bytes
from app.kit.tar import ObjectDamaged, StoredMember, TarArchive, TextMember
from tests.support.cases import cases
from tests.support.objects.in_memory import in_memory_objects

WEIGHTS = bytes(range(256)) * 9 + b"end"
LONG = "n" * 150
GIB = 1 << 30


async def archive_of(objects: Objects, weights: bytes = WEIGHTS) -> TarArchive:
    await put_bytes(objects, "a/weights", weights)
    await put_bytes(objects, "a/empty", b"")
    return TarArchive(
        [
            TextMember("manifest.json", b"{}"),
            StoredMember("weights", "a/weights", len(weights), sha256(weights).hexdigest()),
            StoredMember("empty", "a/empty", 0, sha256(b"").hexdigest()),
            TextMember(LONG, b"x" * 512),
        ],
        modified_at=1_795_000_000,
    )


async def read(objects: Objects, archive: TarArchive, *part: int) -> bytes:
    start, stop = part or (0, archive.size)
    return b"".join([chunk async for chunk in archive.read(objects, start=start, stop=stop)])


async def test_the_standard_library_reads_the_members_back() -> None:
    objects = in_memory_objects()
    archive = await archive_of(objects)
    content = await read(objects, archive)
    assert len(content) == archive.size
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as tar:
        members = tar.getmembers()
        found = {each.name: (tar.extractfile(each) or io.BytesIO()).read() for each in members}
    assert found == {"manifest.json": b"{}", "weights": WEIGHTS, "empty": b"", LONG: b"x" * 512}
    assert {each.mtime for each in members} == {1_795_000_000}
    assert all(each.isreg() and each.uid == each.gid == 0 for each in members)


async def test_every_part_is_that_part_of_the_whole() -> None:
    objects = in_memory_objects()
    archive = await archive_of(objects)
    whole = await read(objects, archive)
    edges = [0, 1, 511, 512, 514, 1024, 1536, 1537, *range(3700, 4200, 37), archive.size]
    for start in edges:
        for stop in edges:
            part = await read(objects, archive, start, stop)
            assert part == (whole[start:stop] if start < stop else b""), (start, stop)


@cases("change", [WEIGHTS[:-1] + b"?", WEIGHTS[:-1], b"?" + WEIGHTS[1:]])
async def test_an_archive_with_a_damaged_object_ends_before_the_objects_end(change: bytes) -> None:
    objects = in_memory_objects()
    archive = await archive_of(objects)
    await put_bytes(objects, "a/weights", change)
    read_so_far = 0
    with pytest.raises(ObjectDamaged, match="a/weights differs from its digest"):
        async for chunk in archive.read(objects):
            read_so_far += len(chunk)
    assert read_so_far < archive.size - 1024 - 512 - len(LONG)
    await objects.delete("a/weights")
    with pytest.raises(FileNotFoundError):
        await read(objects, archive)


def test_a_file_of_many_gigabytes_has_a_header_and_a_known_length() -> None:
    archive = TarArchive([StoredMember("weights", "w", 40 * GIB, "0")], modified_at=0)
    assert 40 * GIB < archive.size < 40 * GIB + 8 * 512
