"""Archives of stored directories: a tar that is built while it is sent.

Promises that the stored files are streamed, never loaded whole, and that no key of the object
storage is shown.
"""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

from app.domain.models.adapter_archives import sha256_hex
from app.domain.models.manifests import MANIFEST, check_digests, read_manifest
from app.gateways.objects import Objects
from app.gateways.objects.tar import Member, StoredMember, TarArchive, TextMember


@dataclass(frozen=True, slots=True)
class StoredArchive:
    filename: str
    manifest_sha256: str
    """SHA-256 of the manifest, which contains the digests of all other files, so that it identifies
    the content.
    """
    _tar: TarArchive
    _objects: Objects

    @property
    def size(self) -> int:
        return self._tar.size

    def read(self, start: int, stop: int) -> AsyncGenerator[bytes, None]:
        return self._tar.read(self._objects, start=start, stop=stop)


def packed_archive(
    objects: Objects, name: str, *, manifest: bytes, members: Sequence[Member], modified_at: int
) -> StoredArchive:
    """Returns an archive that begins with its manifest."""
    return StoredArchive(
        filename=f"{name}.tar",
        manifest_sha256=sha256_hex(manifest),
        _tar=TarArchive([TextMember(MANIFEST, manifest), *members], modified_at=modified_at),
        _objects=objects,
    )


async def stored_members(objects: Objects, object_key: str) -> list[StoredMember]:
    """Returns the files of a stored directory in order of name, after a comparison of their names
    with the stored manifest. Raises `FileNotFoundError` and `ManifestMismatch`.
    """
    content = b"".join([chunk async for chunk in objects.read(f"{object_key}/{MANIFEST}")])
    digests = read_manifest(object_key, content)
    sizes = {
        child.name: child.bytes
        for child in await objects.children(object_key)
        if child.name != MANIFEST
    }
    check_digests(object_key, dict.fromkeys(digests, ""), dict.fromkeys(sizes, ""))
    return [
        StoredMember(file, f"{object_key}/{file}", sizes[file] or 0, digests[file])
        for file in sorted(digests)
    ]
