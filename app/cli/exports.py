"""Writes replies of the service to local files, each of which appears whole or not at all."""

import stat
from pathlib import Path
from typing import Any, Final

from app.cli.remote import Remote
from app.cli.replies import path_of
from app.cli.terminal import WrongOption, local_faults, whole_file

_FORMATS: Final = {".jsonl": "jsonl", ".parquet": "parquet"}


def export(
    remote: Remote, job_id: str, rows: str, out: Path, *, force: bool, **conditions: Any
) -> None:
    """Writes the `rollouts` or the `metrics` of a job, and prints the path of the file."""
    form = _FORMATS.get(out.suffix)
    if form is None:
        raise WrongOption(f"{out}: the name must end with {' or '.join(_FORMATS)}")
    path = f"fine_tuning/jobs/{path_of(job_id)}/{rows}/export"
    download(remote, path, out, force=force, about={"job_id": job_id}, format=form, **conditions)


def download(
    remote: Remote, path: str, out: Path, *, force: bool, about: dict[str, Any], **params: Any
) -> None:
    """Writes a reply and prints the path of the file. Raises `ServiceError` for an existing file
    without `force`, for one that cannot be written, and for an interrupted reply.
    """
    target = out.expanduser().absolute()
    _check(target, force=force)
    with local_faults(target), whole_file(target) as file, remote.service() as service:
        with service.stream("GET", path, params=params) as reply:
            file.writelines(reply.chunks)
        size = file.tell()
    remote.out.line({**about, "path": str(target), "bytes": size}, str(target))


def _check(target: Path, *, force: bool) -> None:
    """Refuses an existing file. A device or a directory is refused even with `force`, because the
    new file would replace it.
    """
    try:
        mode = target.lstat().st_mode
    except OSError:
        return  # nothing stands there, or the directory cannot be read: writing says which
    if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
        raise WrongOption(f"{target} is not a file: choose another --out")
    if not force:
        raise WrongOption(f"{target} exists: pass --force to replace it, or another --out")
