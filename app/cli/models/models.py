"""`agent-rft models`: lists the models of a project, downloads the adapter of one, or exports it.

Standard output has the list, or the directory of the downloaded files.
"""

import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import httpx
from pydantic import BaseModel
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from app.cli.models.downloading import ModelDownload
from app.cli.service.client import Service, parse_reply, path_of
from app.cli.service.ids import ServiceId
from app.cli.service.patience import ServicePatience
from app.cli.service.remote import Remote
from app.cli.terminal.output import columns, console
from app.cli.terminal.printable import printable
from app.cli.terminal.service_errors import ServiceError
from app.cli.terminal.times import moment
from app.domain.processes.exit_codes import WRONG_OPTIONS

_POLL_S: Final = 1.0
_USABLE: Final = ("queued", "in_progress", "completed")
Archive = Callable[[Service, str, Callable[[str], None]], str]
"""Returns the path of an archive once it can be downloaded. Gets the service, the path of the model
and a function that shows a state.
"""
_NOT_IN_NAMES: Final = re.compile(r"[^\w.-]+")


class _Model(BaseModel):
    id: str
    created: float | None = None
    owned_by: str


class _Fault(BaseModel):
    message: str


class _Export(BaseModel):
    id: ServiceId
    status: str
    stage: str | None = None
    error: _Fault | None = None


class _Models(BaseModel):
    data: list[dict[str, Any]]


def print_models(remote: Remote) -> None:
    with remote.service() as service:
        rows = parse_reply(_Models, service.get("models")).data
    models = [parse_reply(_Model, row) for row in rows]

    def show() -> None:
        cells = [(one.id, moment(one.created or None), one.owned_by) for one in models]
        console().print(columns(("MODEL", "CREATED", "OWNER"), cells))

    remote.out.result(rows, show)


def download(remote: Remote, name: str, out: Path | None, *, force: bool) -> None:
    """Prints the directory. Raises `ServiceError`, and `DownloadFailed` for faults of this
    machine.
    """

    def adapter(_service: Service, path: str, _report: Callable[[str], None]) -> str:
        return f"{path}/adapter"

    _fetch(remote, name, _target(name) if out is None else out, adapter, force=force)


def export(remote: Remote, name: str, out: Path | None, *, force: bool) -> None:
    """Prints the directory. Raises `ServiceError`, also for an export that failed, and
    `DownloadFailed`.
    """

    def merged(service: Service, path: str, report: Callable[[str], None]) -> str:
        made = _completed(service, f"{path}/exports", report=report)
        return f"{path}/exports/{path_of(made.id)}/content"

    _fetch(remote, name, _target(f"{name}-merged") if out is None else out, merged, force=force)


def _target(name: str) -> Path:
    found = _NOT_IN_NAMES.sub("-", name).strip("-.")
    if not found:
        raise ServiceError(
            "the model's name is not a directory: pass --out", exit_code=WRONG_OPTIONS
        )
    return Path(found)


def _fetch(remote: Remote, name: str, target: Path, archive: Archive, *, force: bool) -> None:
    """Downloads an archive of a model into a directory, and prints its path."""
    with (
        remote.service() as service,
        _progress() as progress,
        ModelDownload(target, force=force) as download,
    ):
        task = progress.add_task(printable(name), total=None)

        def show_state(state: str) -> None:
            progress.update(task, description=printable(state))

        def show_bytes(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)

        path = archive(service, f"models/{path_of(name)}", show_state)
        download.fetch(service.http, path, report=show_bytes)
        directory = download.install()
    remote.out.result(
        {"model": name, "path": str(directory)}, lambda: print(printable(str(directory)))
    )


def _completed(service: Service, path: str, *, report: Callable[[str], None]) -> _Export:
    """Returns the newest export if it is or becomes complete, else a new one."""
    listed = service.rows(path, limit=1).data
    found = [one for one in (parse_reply(_Export, row) for row in listed) if one.status in _USABLE]
    export = found[0] if found else parse_reply(_Export, service.create(path, {}))
    patience = ServicePatience("The export continues: run the same command again later.")
    while export.status != "completed":
        if export.status not in _USABLE:
            reason = "it was deleted." if export.error is None else export.error.message
            raise ServiceError(f"the export {export.status}: {reason}")
        report(export.stage or export.status)
        time.sleep(_POLL_S)
        try:
            export = parse_reply(_Export, service.get(f"{path}/{path_of(export.id)}"))
        except (httpx.RequestError, ServiceError) as failure:
            report(f"the service is unavailable ({patience.reason(failure)})")
            patience.wait()
        else:
            patience.heard()
    return export


def _progress() -> Progress:
    """Returns a progress bar on standard error, which stays silent unless that is a terminal."""
    console = Console(stderr=True)
    columns = (
        *(TextColumn("{task.description}", markup=False), BarColumn()),
        *(DownloadColumn(), TransferSpeedColumn()),
    )
    return Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty())
