"""`agent-rft models`: lists the models of a project, and downloads the adapter of one.

Standard output has the list, or the directory of the downloaded adapter.
"""

import json
import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import httpx
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TransferSpeedColumn

from app.cli.adapter_download import AdapterDownload
from app.cli.service_client import ServiceError, check, service_client

_NOT_IN_NAMES: Final = re.compile(r"[^\w.-]+")


def print_models(base_url: str | None, api_key: str | None, *, as_json: bool) -> None:
    with service_client(base_url, api_key) as client:
        reply = client.get("models")
        check(reply)
        models = _rows(reply)
    if as_json:
        print(json.dumps(models, indent=1))
        return
    width = max((len(model["id"]) for model in models), default=0)
    for model in models:
        created = model["created"]
        time = f"{datetime.fromtimestamp(created, UTC):%Y-%m-%d %H:%M} UTC" if created else "-"
        print(f"{model['id']:{width}}  {time:20}  {model['owned_by']}")


def download(
    name: str, out: Path | None, *, base_url: str | None, api_key: str | None, force: bool
) -> None:
    """Raises `ServiceError`, and `DownloadFailed` for faults of this machine."""
    target = Path(_NOT_IN_NAMES.sub("-", name).strip("-.")) if out is None else out
    path = f"models/{quote(name, safe='')}/adapter"
    with (
        service_client(base_url, api_key) as client,
        _progress() as progress,
        AdapterDownload(target, force=force) as adapter,
    ):
        task = progress.add_task(name, total=None)
        adapter.fetch(
            client,
            path,
            report=lambda done, total: progress.update(task, completed=done, total=total),
        )
        directory = adapter.install()
    print(directory)


def _progress() -> Progress:
    """Returns a progress bar on standard error, which stays silent unless that is a terminal."""
    console = Console(stderr=True)
    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn())
    return Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty())


def _rows(reply: httpx.Response) -> list[dict[str, Any]]:
    try:
        return [
            {key: row[key] for key in ("id", "created", "owned_by")} for row in reply.json()["data"]
        ]
    except (ValueError, KeyError, TypeError) as error:
        raise ServiceError(f"{reply.url} is not the model list of an agent-rft service") from error
