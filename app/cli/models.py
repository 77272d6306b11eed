"""`agent-rft models`: lists the models of a project, downloads the adapter of one, or exports it.

Standard output has the list, or the directory of the downloaded files.
"""

import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import httpx
from pydantic import BaseModel
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TransferSpeedColumn

from app.cli.model_download import ModelDownload
from app.cli.output import columns, console
from app.cli.remote import Remote
from app.cli.service_client import check, service_client, shaped
from app.cli.service_errors import ServiceError
from app.cli.times import moment

_POLL_S: Final = 1.0
_USABLE: Final = ("queued", "in_progress", "completed")
Archive = Callable[[httpx.Client, str, Callable[[str], None]], str]
"""Returns the path of an archive once it can be downloaded. Gets the client, the path of the model
and a function that shows a state.
"""
_NOT_IN_NAMES: Final = re.compile(r"[^\w.-]+")


class _Model(BaseModel):
    id: str
    created: float | None = None
    owned_by: str


class _Models(BaseModel):
    data: list[dict[str, Any]]


def print_models(remote: Remote) -> None:
    with remote.service() as service:
        rows = shaped(_Models, service.get("models")).data
    models = [shaped(_Model, row) for row in rows]

    def show() -> None:
        cells = [(one.id, moment(one.created or None), one.owned_by) for one in models]
        console().print(columns(("MODEL", "CREATED", "OWNER"), cells))

    remote.out.result(rows, show)


def download(
    name: str, out: Path | None, *, base_url: str | None, api_key: str | None, force: bool
) -> Path:
    """Returns the directory. Raises `ServiceError`, and `DownloadFailed` for faults of this
    machine.
    """

    def adapter(_client: httpx.Client, path: str, _report: Callable[[str], None]) -> str:
        return f"{path}/adapter"

    target = _target(name) if out is None else out
    return _fetch(name, target, adapter, base_url=base_url, api_key=api_key, force=force)


def export(
    name: str, out: Path | None, *, base_url: str | None, api_key: str | None, force: bool
) -> Path:
    """Returns the directory. Raises `ServiceError`, also for an export that failed, and
    `DownloadFailed`.
    """

    def merged(client: httpx.Client, path: str, report: Callable[[str], None]) -> str:
        made = _completed(client, f"{path}/exports", report=report)
        return f"{path}/exports/{made['id']}/content"

    target = _target(f"{name}-merged") if out is None else out
    return _fetch(name, target, merged, base_url=base_url, api_key=api_key, force=force)


def _target(name: str) -> Path:
    return Path(_NOT_IN_NAMES.sub("-", name).strip("-."))


def _fetch(
    name: str,
    target: Path,
    archive: Archive,
    *,
    base_url: str | None,
    api_key: str | None,
    force: bool,
) -> Path:
    """Downloads an archive of a model into a directory, and returns it."""
    with (
        service_client(base_url, api_key) as client,
        _progress() as progress,
        ModelDownload(target, force=force) as download,
    ):
        task = progress.add_task(name, total=None)

        def show_state(state: str) -> None:
            progress.update(task, description=state)

        def show_bytes(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)

        path = archive(client, f"models/{quote(name, safe='')}", show_state)
        download.fetch(client, path, report=show_bytes)
        return download.install()


def _completed(client: httpx.Client, path: str, *, report: Callable[[str], None]) -> dict[str, Any]:
    """Returns the newest export if it is or becomes complete, else one that is made now."""
    listed = client.get(path, params={"limit": 1})
    check(listed)
    found = [row for row in listed.json()["data"] if row["status"] in _USABLE]
    if not found:
        made = client.post(path, json={})
        check(made)
        found = [made.json()]
    export: dict[str, Any] = found[0]
    while export["status"] != "completed":
        if export["status"] not in _USABLE:
            reason = (export["error"] or {}).get("message", "it was deleted.")
            raise ServiceError(f"the export {export['status']}: {reason}")
        report(str(export["stage"] or export["status"]))
        time.sleep(_POLL_S)
        reply = client.get(f"{path}/{export['id']}")
        check(reply)
        export = reply.json()
    return export


def _progress() -> Progress:
    """Returns a progress bar on standard error, which stays silent unless that is a terminal."""
    console = Console(stderr=True)
    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn())
    return Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty())
