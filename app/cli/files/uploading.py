"""Uploads a local file."""

import stat
from pathlib import Path
from typing import Any, Final

import httpx
from pydantic import BaseModel

from app.cli.service.client import Service, json_object, parse_reply
from app.cli.service.ids import ServiceId
from app.cli.terminal.service_errors import ServiceError
from app.domain.processes.exit_codes import WRONG_OPTIONS

FILES: Final = "files"
_TIMEOUT: Final = httpx.Timeout(300.0, connect=5.0)
"""Timeout of an upload: the service reads the whole file before it replies."""


class FileReply(BaseModel):
    id: ServiceId
    filename: str
    bytes: int
    created_at: float
    purpose: str
    status: str | None = None
    expires_at: float | None = None


def upload(service: Service, path: Path, *, purpose: str) -> dict[str, Any]:
    """Returns the service's reply, which has the shape of `File`."""
    try:
        # Before it is opened, because a pipe without a writer waits for one.
        if not stat.S_ISREG(path.stat().st_mode):
            raise ServiceError(
                f"{path} is not a regular file, and an upload must name its size: write it to "
                "a file first",
                exit_code=WRONG_OPTIONS,
            )
        with path.open("rb") as file:
            name = path.name.encode("utf-8", "replace").decode("utf-8")
            reply = service.http.post(
                FILES,
                files={"file": (name, file, "application/octet-stream")},
                data={"purpose": purpose},
                timeout=_TIMEOUT,
            )
    except OSError as error:
        raise ServiceError(f"{path}: {error.strerror}", exit_code=WRONG_OPTIONS) from error
    content = json_object(reply)
    parse_reply(FileReply, content)
    return content
