"""Downloads into a new local file, which appears whole or not at all."""

import os
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from app.cli.service.bounded_replies import DOWNLOAD_BYTES, at_most
from app.cli.service.client import check, query
from app.cli.service.remote import Remote
from app.cli.terminal.service_errors import ServiceError
from app.domain.processes.exit_codes import WRONG_OPTIONS

_CHUNK_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class LocalFile:
    path: Path
    size: int


def download(remote: Remote, path: str, out: Path, *, force: bool, **params: Any) -> LocalFile:
    """Downloads the file. Raises `ServiceError` for an existing file without `force`, for one that
    cannot be written, and for an interrupted reply.
    """
    target = out.expanduser().absolute()
    _check(target, force=force)
    try:
        return LocalFile(target, _written(remote, path, target, params))
    except OSError as error:
        raise ServiceError(
            f"{error.filename or target}: {error.strerror}", exit_code=WRONG_OPTIONS
        ) from error


def _check(target: Path, *, force: bool) -> None:
    """Refuses an existing file. A device or a directory is refused even with `force`, because the
    new file would replace it.
    """
    try:
        mode = target.lstat().st_mode
    except OSError:
        return  # nothing stands there, or the directory cannot be read: writing says which
    if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
        raise ServiceError(f"{target} is not a file: choose another --out", exit_code=WRONG_OPTIONS)
    if not force:
        raise ServiceError(
            f"{target} exists: pass --force to replace it, or another --out",
            exit_code=WRONG_OPTIONS,
        )


def _written(remote: Remote, path: str, target: Path, params: dict[str, Any]) -> int:
    sent = query(params)
    descriptor, made = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}-")
    try:
        with os.fdopen(descriptor, "wb") as file, remote.service() as service:
            bound = at_most(DOWNLOAD_BYTES)
            with service.http.stream("GET", path, params=sent, extensions=bound) as reply:
                check(reply)
                for chunk in reply.iter_raw(_CHUNK_BYTES):
                    file.write(chunk)
            size = file.tell()
        Path(made).replace(target)
    except BaseException:
        Path(made).unlink(missing_ok=True)
        raise
    return size
