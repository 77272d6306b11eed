"""Exports of a job's rows into a local file: JSON Lines, or Parquet by the name of the file."""

from pathlib import Path
from typing import Any, Final

from app.cli.jobs.listing import JOBS
from app.cli.service.client import path_of
from app.cli.service.downloads import download
from app.cli.service.remote import Remote
from app.cli.terminal.printable import printable
from app.cli.terminal.service_errors import ServiceError
from app.domain.processes.exit_codes import WRONG_OPTIONS

_FORMATS: Final = {".jsonl": "jsonl", ".parquet": "parquet"}


def export(
    remote: Remote, job_id: str, rows: str, out: Path, *, force: bool, **conditions: Any
) -> None:
    """Writes the `rollouts` or the `metrics` of a job, and prints the path of the file."""
    form = _FORMATS.get(out.suffix)
    if form is None:
        raise ServiceError(
            f"{out}: the name must end with {' or '.join(_FORMATS)}", exit_code=WRONG_OPTIONS
        )
    path = f"{JOBS}/{path_of(job_id)}/{rows}/export"
    file = download(remote, path, out, force=force, format=form, **conditions)
    remote.out.result(
        {"job_id": job_id, "path": str(file.path), "bytes": file.size},
        lambda: print(printable(str(file.path))),
    )
