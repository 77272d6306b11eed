"""One download of a model's files, an adapter or merged weights, into a directory."""

import fcntl
import hashlib
import re
import shutil
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self

from app.cli.client import Answer, NoAnswer, ReplyTooLong, Service
from app.cli.terminal import ServiceError
from app.kit.directories import (
    FULL,
    MANIFEST,
    ManifestMismatch,
    check_digests,
    check_directory,
    flush,
    read_manifest,
    sha256_of,
)
from app.kit.errors import AgentRftError
from app.kit.processes import NO_ANSWER

_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_PARTIAL_CONTENT: Final = 206
_RANGE_NOT_SATISFIABLE: Final = 416
_CHUNK_BYTES: Final = 1 << 20
_MAX_MANIFEST_BYTES: Final = 1 << 20

Report = Callable[[int, int], None]
"""A function that reports progress: the bytes so far and the bytes of the whole archive."""


class DownloadFailed(AgentRftError):
    """A download ended early; the message names the next step."""


class ModelDownload:
    def __init__(self, directory: Path, *, force: bool) -> None:
        """Raises `DownloadFailed` for a destination that must not be replaced."""
        self._target, self._force = directory.expanduser().resolve(), force
        with _room(self._target):
            _check_destination(self._target, force=force)
        self._work = self._target.with_name(f".{self._target.name}.partial")
        self._archive = self._work / "archive.tar"
        self._content = self._work / "sha256"
        """File with the manifest's checksum, by which the service recognises the archive."""
        self._lock: IO[bytes] | None = None

    def __enter__(self) -> Self:
        with _room(self._work):
            self._work.mkdir(parents=True, exist_ok=True)
            self._lock = (self._work / "lock").open("ab")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self._lock.close()
            raise DownloadFailed(f"another download into {self._target} is running") from error
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if not self._so_far():
            shutil.rmtree(self._work, ignore_errors=True)
        if self._lock is not None:
            self._lock.close()

    def fetch(self, service: Service, path: str, *, report: Report) -> None:
        try:
            with _room(self._work):
                if not self._fetch(service, path, report):
                    self._archive.unlink()
                    self._fetch(service, path, report)
        except ReplyTooLong:
            self._archive.unlink(missing_ok=True)  # nothing to go on from
            raise
        except (NoAnswer, KeyboardInterrupt) as error:
            if isinstance(error, NoAnswer) and error.never_sent:
                raise
            reason = error.reason if isinstance(error, NoAnswer) else type(error).__name__
            raise DownloadFailed(
                f"interrupted after {self._so_far()} bytes ({reason}). Run the same command again "
                "to go on."
            ) from error

    def install(self) -> Path:
        files = self._work / "files"
        try:
            shutil.rmtree(files, ignore_errors=True)
            with _room(self._work):
                files.mkdir()
                _unpack(self._archive, files, self._content.read_text(encoding="ascii"))
        except (ManifestMismatch, tarfile.TarError) as error:
            shutil.rmtree(self._work, ignore_errors=True)
            raise DownloadFailed(
                f"the download was damaged ({error}) and is removed. Run the same command again."
            ) from error
        with _room(self._work):
            _check_destination(self._target, force=self._force)
            self._replace(files)
        shutil.rmtree(self._work, ignore_errors=True)
        return self._target

    def _fetch(self, service: Service, path: str, report: Report) -> bool:
        start, headers = self._so_far(), {}
        if start:
            etag = self._content.read_text(encoding="ascii")
            headers = {"Range": f"bytes={start}-", "If-Range": f'"{etag}"'}
        also = _RANGE_NOT_SATISFIABLE if start else None
        with service.stream("GET", path, headers=headers, also=also) as reply:
            if reply.status == _RANGE_NOT_SATISFIABLE:
                return reply.headers.get("content-range") == f"bytes */{start}"
            is_resumed = reply.status == _PARTIAL_CONTENT
            length = int(reply.headers.get("content-length", 0))
            done, total = (start, start + length) if is_resumed else (0, length)
            self._remember(reply, is_resumed=is_resumed)
            with self._archive.open("ab" if is_resumed else "wb") as file:
                for chunk in reply.chunks:
                    file.write(chunk)
                    done += len(chunk)
                    report(done, total)
        return True

    def _remember(self, reply: Answer, *, is_resumed: bool) -> None:
        content = reply.headers.get("x-manifest-sha256", "")
        if not _SHA256.fullmatch(content):
            raise ServiceError(
                f"{reply.url} is not the archive of a model of an agent-rft service",
                exit_code=NO_ANSWER,
            )
        if not is_resumed:
            self._archive.unlink(missing_ok=True)
            self._content.write_text(content, encoding="ascii")

    def _so_far(self) -> int:
        if not self._content.is_file():
            return 0
        try:
            return self._archive.stat().st_size
        except FileNotFoundError:
            return 0

    def _replace(self, files: Path) -> None:
        """Renames `files` to the destination; an earlier download comes back if that fails."""
        earlier = self._work / "earlier"
        shutil.rmtree(earlier, ignore_errors=True)
        with suppress(FileNotFoundError):
            self._target.rename(earlier)
        try:
            files.rename(self._target)
        except OSError:
            if earlier.exists():
                earlier.rename(self._target)
            raise
        flush(self._target.parent)


def _check_destination(target: Path, *, force: bool) -> None:
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return
    if not target.is_dir():
        raise DownloadFailed(f"{target} is a file: name a directory with --out")
    if not force:
        raise DownloadFailed(f"{target} exists: pass --force to replace it, or another --out")
    try:
        check_directory(target, name=target.name)
    except (ManifestMismatch, OSError) as error:
        raise DownloadFailed(
            f"{target} is not replaced, because it is not an unchanged download ({error}): name "
            "another --out"
        ) from error


@contextmanager
def _room(directory: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            message = f"no space for the model in {directory.parent}: free some"
        else:
            message = f"{error.filename or directory}: {error.strerror}: cure that"
        raise DownloadFailed(f"{message}, and run the same command again to go on") from error


def _unpack(archive: Path, files: Path, manifest_sha256: str) -> None:
    """Extracts the members. Raises `ManifestMismatch` unless the manifest has them all."""
    with tarfile.open(archive, mode="r:") as tar:
        expected = _manifest(tar, archive.name, manifest_sha256)
        found = dict[str, str]()
        for member in tar:
            if not member.isreg() or member.name in found:
                raise ManifestMismatch(f"{member.name} is not a file")
            if member.name not in (MANIFEST, *expected):
                raise ManifestMismatch(f"{member.name} is not in the manifest")
            _extract(tar, member, files / member.name)
            found[member.name] = sha256_of(files / member.name)
    del found[MANIFEST]
    check_digests("the archive", expected, found)


def _manifest(tar: tarfile.TarFile, name: str, sha256: str) -> dict[str, str]:
    """Returns the digests in the archive's first member."""
    first = tar.next()
    source = None if first is None else tar.extractfile(first)
    if first is None or source is None or first.name != MANIFEST:
        raise ManifestMismatch(f"{name} does not begin with {MANIFEST}")
    content = source.read(_MAX_MANIFEST_BYTES)
    if hashlib.sha256(content).hexdigest() != sha256:
        raise ManifestMismatch(f"{MANIFEST} differs from the checksum that the service sent")
    return read_manifest(name, content)


def _extract(tar: tarfile.TarFile, member: tarfile.TarInfo, path: Path) -> None:
    source = tar.extractfile(member)
    if source is None:
        raise ManifestMismatch(f"{member.name} is not a file")
    with source, path.open("xb") as file:
        shutil.copyfileobj(source, file, _CHUNK_BYTES)
    flush(path)
