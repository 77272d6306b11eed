"""A tar archive of stored objects and of bytes in memory, as a stream of known length.

The same members always give the same bytes, so that a later request can continue an archive. It
ends early (`ObjectDamaged`) when a stored object differs from its digest.
"""

import asyncio
import hashlib
import tarfile
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from app.kit.errors import AgentRftError
from app.kit.objects import DOWNLOAD_CHUNK_BYTES, Objects


class ObjectDamaged(AgentRftError):
    """A stored object differs from what was written."""


@dataclass(frozen=True, slots=True)
class StoredMember:
    name: str
    key: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class TextMember:
    name: str
    content: bytes

    @property
    def size(self) -> int:
        return len(self.content)


Member = StoredMember | TextMember


class TarArchive:
    def __init__(self, members: Sequence[Member], *, modified_at: int) -> None:
        self._parts: list[bytes | StoredMember] = []
        for member in members:
            info = tarfile.TarInfo(member.name)
            info.size, info.mtime, info.mode = member.size, modified_at, 0o644
            content = member.content if isinstance(member, TextMember) else member
            filling = bytes(-member.size % tarfile.BLOCKSIZE)
            self._parts += [info.tobuf(format=tarfile.PAX_FORMAT), content, filling]
        self._parts.append(bytes(2 * tarfile.BLOCKSIZE))

    @property
    def size(self) -> int:
        return sum(map(_size, self._parts))

    async def read(
        self, objects: Objects, *, start: int = 0, stop: int | None = None
    ) -> AsyncGenerator[bytes, None]:
        """Yields the bytes from `start` up to `stop`, by default to the end. Raises
        `FileNotFoundError` and `ObjectDamaged` for a stored object, before its last chunk.
        """
        end, first = self.size if stop is None else min(stop, self.size), 0
        for part in self._parts:
            begin, close = max(start - first, 0), min(end - first, _size(part))
            first += _size(part)
            if begin >= close:
                continue
            if isinstance(part, bytes):
                yield part[begin:close]
                continue
            async with aclosing(_stored(objects, part, begin, close)) as chunks:
                async for chunk in chunks:
                    yield chunk


async def _stored(
    objects: Objects, member: StoredMember, begin: int, close: int
) -> AsyncGenerator[bytes, None]:
    """Yields the last chunk only after the digest of a whole object was compared."""
    digest, left, pending = hashlib.sha256(), close - begin, b""
    async with aclosing(
        objects.read(member.key, start=begin, chunk_bytes=DOWNLOAD_CHUNK_BYTES)
    ) as chunks:
        async for chunk in chunks:
            if pending:
                yield pending
            pending = chunk[:left]
            left -= len(pending)
            await asyncio.to_thread(digest.update, pending)
            if not left:
                break
    whole = close - begin == member.size
    if left or (whole and digest.hexdigest() != member.sha256):
        raise ObjectDamaged(f"{member.key} differs from its digest")
    yield pending


def _size(part: bytes | StoredMember) -> int:
    return len(part) if isinstance(part, bytes) else part.size
