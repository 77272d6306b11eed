"""`agent-rft files upload`, `list`, `show`, `download` and `delete`."""

import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

import httpx
from pydantic import BaseModel

from app.cli.client import Service, ServiceId, download, json_object, parse_reply, path_of
from app.cli.output import columns, console, fields, note
from app.cli.printable import moment, printable
from app.cli.remote import Remote
from app.cli.terminal import ServiceError
from app.files.files import MAX_FILE_BYTES, MAX_PART_BYTES
from app.kit.processes import WRONG_OPTIONS


def upload_file(remote: Remote, path: Path, *, purpose: str) -> None:
    with remote.service() as service:
        reply = upload(service, path, purpose=purpose)
    remote.out.result(reply, lambda: print(printable(str(reply["id"]))))


def list_files(remote: Remote, *, purpose: str | None, limit: int) -> None:
    with remote.service() as service:
        rows = service.rows(FILES, limit=limit, purpose=purpose)
    files = [parse_reply(FileReply, row) for row in rows.data]

    def show() -> None:
        header = ("ID", "BYTES", "CREATED", "PURPOSE", "NAME")
        cells = [
            (file.id, file.bytes, moment(file.created_at), file.purpose, file.filename)
            for file in files
        ]
        console().print(columns(header, cells))

    remote.out.result(rows.data, show, has_more=rows.has_more)


def show_file(remote: Remote, file_id: str) -> None:
    with remote.service() as service:
        reply = service.get(f"{FILES}/{path_of(file_id)}")
    file = parse_reply(FileReply, reply)

    def show() -> None:
        pairs = [
            *(("id", file.id), ("name", file.filename), ("bytes", file.bytes)),
            *(("purpose", file.purpose), ("status", file.status)),
            *(("created", moment(file.created_at)), ("expires", moment(file.expires_at))),
        ]
        console().print(fields(pairs))

    remote.out.result(reply, show)


def download_file(remote: Remote, file_id: str, out: Path, *, force: bool) -> None:
    """Writes the file and prints its path."""
    file = download(remote, f"{FILES}/{path_of(file_id)}/content", out, force=force)
    remote.out.result(
        {"id": file_id, "path": str(file.path), "bytes": file.size},
        lambda: print(printable(str(file.path))),
    )


def delete_file(remote: Remote, file_id: str) -> None:
    with remote.service() as service:
        reply = service.delete(f"{FILES}/{path_of(file_id)}")
    remote.out.result(reply, lambda: note(f"{printable(file_id)} is deleted"))


FILES: Final = "files"
UPLOADS: Final = "uploads"
_BINARY: Final = "application/octet-stream"
_JOINED_WITHIN_S: Final = 900.0
"""Timeout of the call that joins the parts: the service reads all of them."""
_TIMEOUT: Final = httpx.Timeout(300.0, connect=5.0)
"""Timeout of an upload: the service reads the whole file before it replies."""


class _BegunUpload(BaseModel):
    id: ServiceId


class _JoinedFile(BaseModel):
    file: dict[str, Any]


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
            size = os.fstat(file.fileno()).st_size
            send = _whole if size <= MAX_FILE_BYTES else _in_parts
            content = send(service, _SentFile(file, _name(path), purpose, size))
    except OSError as error:
        raise ServiceError(f"{path}: {error.strerror}", exit_code=WRONG_OPTIONS) from error
    parse_reply(FileReply, content)
    return content


@dataclass(frozen=True, slots=True)
class _SentFile:
    """An open file, and its description for the service."""

    file: BinaryIO
    name: str
    purpose: str
    size: int


def _whole(service: Service, sent: _SentFile) -> dict[str, Any]:
    reply = service.http.post(
        FILES,
        files={"file": (sent.name, sent.file, _BINARY)},
        data={"purpose": sent.purpose},
        timeout=_TIMEOUT,
    )
    return json_object(reply)


def _in_parts(service: Service, sent: _SentFile) -> dict[str, Any]:
    """Uploads a file that is too large for one request. A failed upload leaves no part behind."""
    body = {
        "filename": sent.name,
        "purpose": sent.purpose,
        "bytes": sent.size,
        "mime_type": _BINARY,
    }
    begun = parse_reply(_BegunUpload, service.post(UPLOADS, body))
    here = f"{UPLOADS}/{path_of(begun.id)}"
    try:
        parts = list[str]()
        while block := sent.file.read(MAX_PART_BYTES):
            files = {"data": ("part", block, _BINARY)}
            reply = service.http.post(f"{here}/parts", files=files, timeout=_TIMEOUT)
            parts.append(parse_reply(_BegunUpload, json_object(reply)).id)
        done = service.post(f"{here}/complete", {"part_ids": parts}, timeout_s=_JOINED_WITHIN_S)
    except (ServiceError, httpx.HTTPError, OSError):
        with suppress(ServiceError, httpx.HTTPError):
            service.post(f"{here}/cancel")
        raise
    return parse_reply(_JoinedFile, done).file


def _name(path: Path) -> str:
    return path.name.encode("utf-8", "replace").decode("utf-8")
