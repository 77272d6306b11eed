"""Objects in an S3-compatible bucket, through `obstore` (the Rust crate `object_store`).

The library signs, retries, splits big objects into parts and pages through lists. A directory is
complete once its manifest exists: it is written last and removed first. Parts of an upload of a
killed process are invisible; a lifecycle rule of the bucket should remove them.
"""

import asyncio
import hashlib
import os
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Iterator
from contextlib import aclosing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import structlog

from app.kit.directories import MANIFEST, check_digests, read_manifest
from app.kit.errors import Unavailable
from app.kit.objects import (
    CHUNK_BYTES,
    StoredChild,
    StoredObject,
    check_size,
    committed_files,
    make_read_only,
    normalised_key,
    partial_of,
    remove,
    rename_directory,
    room_needed,
)
from app.settings import ObjectsSettings

if TYPE_CHECKING:  # an optional extra, imported when a bucket is configured
    from obstore.store import MemoryStore, S3Store

log = structlog.get_logger()

PART_BYTES: Final = 8 << 20
_PARTS_AT_ONCE: Final = 4


class S3Objects:
    """Implements `Objects`; with a `MemoryStore` in place of a bucket it needs no server."""

    def __init__(self, store: "S3Store | MemoryStore") -> None:
        self._store = store

    async def put(
        self, key: str, chunks: AsyncIterable[bytes], *, max_bytes: int | None = None
    ) -> StoredObject:
        name = normalised_key(key)
        counted = _PartStream(chunks, max_bytes)
        async with aclosing(counted.parts()) as parts:
            first = await anext(parts, b"")
            second = await anext(parts, None)
            content = first if second is None else _joined(first, second, parts)
            with _faults(counted):
                await self._store.put_async(
                    name, content, chunk_size=PART_BYTES, max_concurrency=_PARTS_AT_ONCE
                )
        return StoredObject(bytes=counted.size, sha256=counted.digest.hexdigest())

    async def read(
        self, key: str, *, start: int = 0, chunk_bytes: int = CHUNK_BYTES
    ) -> AsyncGenerator[bytes, None]:
        with _faults():
            result = await self._store.get_async(
                normalised_key(key), options={"range": {"offset": start}} if start else None
            )
            stream = result.stream(min_chunk_size=chunk_bytes)
        while True:
            with _faults():
                chunk = await anext(stream, None)
            if chunk is None:
                return
            # The library joins small parts of the reply and does not split a large one.
            for first in range(0, len(chunk), chunk_bytes):
                yield bytes(chunk[first : first + chunk_bytes])

    async def fetch(self, key: str, destination: Path) -> None:
        await self._download(key, destination)

    async def put_directory(self, key: str, directory: Path) -> None:
        name = normalised_key(key)
        files = await asyncio.to_thread(committed_files, directory)
        exists = False
        with _faults(), suppress(FileNotFoundError):
            exists = bool(await self._store.head_async(f"{name}/{MANIFEST}"))
        if exists:
            raise FileExistsError(key)
        await asyncio.gather(
            *(self._upload(f"{name}/{file.name}", file) for file in files if file.name != MANIFEST)
        )
        await self._upload(f"{name}/{MANIFEST}", directory / MANIFEST, new=True)

    async def fetch_directory(self, key: str, destination: Path) -> None:
        with _faults():
            result = await self._store.get_async(f"{normalised_key(key)}/{MANIFEST}")
            content = bytes(await result.bytes_async())
        expected = read_manifest(key, content)
        present = {child.name for child in await self.children(key)} - {MANIFEST}
        check_digests(key, dict.fromkeys(expected, ""), dict.fromkeys(present, ""))
        if await asyncio.to_thread(destination.exists):
            raise FileExistsError(destination)
        partial = partial_of(destination)
        try:
            digests = await asyncio.gather(
                *(self._download(f"{key}/{name}", partial / name) for name in expected)
            )
            check_digests(key, expected, dict(zip(expected, digests, strict=True)))
            await asyncio.to_thread(_finish, partial, destination, content)
        except BaseException:
            await asyncio.shield(asyncio.to_thread(remove, partial))
            raise

    async def delete(self, key: str) -> None:
        name = normalised_key(key)
        with _faults():
            below = [meta["path"] for meta in await self._store.list(name).collect_async()]
            manifests = [path for path in below if path.endswith(f"/{MANIFEST}")]
            if manifests:
                await self._store.delete_async(manifests)
            await self._store.delete_async([name, *below])

    async def children(self, directory: str) -> list[StoredChild]:
        name = normalised_key(directory)
        with _faults():
            listing = await self._store.list_with_delimiter_async(name)
        now = datetime.now(UTC)
        children = [StoredChild(prefix, None, None) for prefix in listing["common_prefixes"]]
        for meta in listing["objects"]:
            if meta["path"] == name:  # an object that represents the directory itself
                continue
            age_s = (now - meta["last_modified"]).total_seconds()
            children.append(StoredChild(meta["path"], max(0.0, age_s), meta["size"]))
        return sorted(children, key=lambda child: child.key)

    async def _upload(self, name: str, path: Path, *, new: bool = False) -> None:
        with _faults():
            await self._store.put_async(
                name,
                path,
                mode="create" if new else "overwrite",
                chunk_size=PART_BYTES,
                max_concurrency=_PARTS_AT_ONCE,
            )

    async def _download(self, key: str, destination: Path) -> str:
        digest = hashlib.sha256()
        partial = partial_of(destination)
        async with aclosing(self.read(key)) as chunks:
            first = await anext(chunks, b"")
            await asyncio.to_thread(lambda: destination.parent.mkdir(parents=True, exist_ok=True))
            try:
                with room_needed(), partial.open("xb") as file:
                    await asyncio.to_thread(_write, file, digest, first)
                    async for chunk in chunks:
                        await asyncio.to_thread(_write, file, digest, chunk)
                await asyncio.to_thread(make_read_only, partial)
                await asyncio.to_thread(os.replace, partial, destination)
            except BaseException:
                await asyncio.shield(asyncio.to_thread(remove, partial))
                raise
        return digest.hexdigest()


class _PartStream:
    def __init__(self, chunks: AsyncIterable[bytes], max_bytes: int | None) -> None:
        self._chunks, self._max_bytes = chunks, max_bytes
        self.size = 0
        self.digest = hashlib.sha256()
        self.fault: BaseException | None = None

    async def parts(self) -> AsyncGenerator[bytes, None]:
        pending = bytearray()
        try:
            async for chunk in self._chunks:
                self.size += len(chunk)
                check_size(self.size, self._max_bytes)
                await asyncio.to_thread(self.digest.update, chunk)
                pending += chunk
                while len(pending) > PART_BYTES:
                    yield bytes(pending[:PART_BYTES])
                    del pending[:PART_BYTES]
        except BaseException as fault:
            self.fault = fault
            raise
        yield bytes(pending)


async def _joined(first: bytes, second: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    yield second
    async for part in rest:
        yield part


@contextmanager
def _faults(source: _PartStream | None = None) -> Iterator[None]:
    from obstore.exceptions import AlreadyExistsError, BaseError  # noqa: PLC0415 - an optional extra

    try:
        yield
    except FileNotFoundError as error:
        raise FileNotFoundError(str(error).partition(":")[0]) from None
    except AlreadyExistsError as error:
        raise FileExistsError(str(error).partition(":")[0]) from None
    except (BaseError, OSError) as error:
        if source is not None and source.fault is not None:
            raise source.fault from None
        log.warning("the object storage failed", error=str(error)[:500])
        raise Unavailable("The object storage cannot be reached at the moment.") from error


def open_bucket(settings: ObjectsSettings) -> S3Objects:
    try:
        from obstore.store import S3Store  # noqa: PLC0415 - an optional extra
    except ImportError as error:
        raise RuntimeError("a bucket needs the extra: pip install 'agent-rft[s3]'") from error
    credentials: dict[str, str] = {}
    if settings.access_key_id is not None and settings.secret_access_key is not None:
        credentials["access_key_id"] = settings.access_key_id
        credentials["secret_access_key"] = settings.secret_access_key.get_secret_value()
    if settings.session_token is not None:
        credentials["session_token"] = settings.session_token.get_secret_value()
    if settings.endpoint is not None:
        credentials["endpoint"] = settings.endpoint
    store = S3Store(
        settings.bucket,
        prefix=settings.prefix or None,
        region=settings.region,
        virtual_hosted_style_request=settings.bucket_in_host,
        client_options={
            "allow_http": (settings.endpoint or "").startswith("http://"),
            # Long for a whole download; `read_timeout` ends a stalled one.
            "timeout": timedelta(hours=6),
            "read_timeout": timedelta(seconds=30),
        },
        retry_config={"max_retries": 5, "retry_timeout": timedelta(seconds=30)},
        **credentials,
    )
    return S3Objects(store)


def _write(file: Any, digest: Any, chunk: bytes) -> None:
    digest.update(chunk)
    file.write(chunk)


def _finish(partial: Path, destination: Path, manifest: bytes) -> None:
    partial.mkdir(parents=True, exist_ok=True)
    (partial / MANIFEST).write_bytes(manifest)
    make_read_only(partial / MANIFEST)
    rename_directory(partial, destination)
