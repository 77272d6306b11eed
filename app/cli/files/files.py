"""`agent-rft files upload`, `list`, `show`, `download` and `delete`."""

import os
import tempfile
from pathlib import Path
from typing import Final

from app.cli.files.uploading import FILES, FileReply, upload
from app.cli.output import columns, console, fields, note
from app.cli.printable import printable
from app.cli.remote import Remote
from app.cli.service_client import check, path_of, shaped
from app.cli.service_errors import ServiceError
from app.cli.times import moment
from app.domain.exit_codes import WRONG_OPTIONS

_CHUNK_BYTES: Final = 1 << 20


def upload_file(remote: Remote, path: Path, *, purpose: str) -> None:
    with remote.service() as service:
        reply = upload(service, path, purpose=purpose)
    remote.out.result(reply, lambda: print(printable(str(reply["id"]))))


def list_files(remote: Remote, *, purpose: str | None, limit: int) -> None:
    with remote.service() as service:
        rows = service.rows(FILES, limit=limit, purpose=purpose)
    files = [shaped(FileReply, row) for row in rows.data]

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
    file = shaped(FileReply, reply)

    def show() -> None:
        pairs = [
            *(("id", file.id), ("name", file.filename), ("bytes", file.bytes)),
            *(("purpose", file.purpose), ("status", file.status)),
            *(("created", moment(file.created_at)), ("expires", moment(file.expires_at))),
        ]
        console().print(fields(pairs))

    remote.out.result(reply, show)


def download_file(remote: Remote, file_id: str, out: Path, *, force: bool) -> None:
    """Writes the file whole or not at all, and prints its path."""
    target = out.expanduser().absolute()
    if target.exists() and not force:
        raise ServiceError(
            f"{target} exists: pass --force to replace it, or another --out",
            exit_code=WRONG_OPTIONS,
        )
    try:
        size = _download(remote, file_id, target)
    except OSError as error:
        raise ServiceError(
            f"{error.filename or target}: {error.strerror}", exit_code=WRONG_OPTIONS
        ) from error
    remote.out.result(
        {"id": file_id, "path": str(target), "bytes": size},
        lambda: print(printable(str(target))),
    )


def _download(remote: Remote, file_id: str, target: Path) -> int:
    descriptor, made = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}-")
    try:
        with os.fdopen(descriptor, "wb") as file, remote.service() as service:
            path = f"{FILES}/{path_of(file_id)}/content"
            with service.http.stream("GET", path) as reply:
                check(reply)
                for chunk in reply.iter_raw(_CHUNK_BYTES):
                    file.write(chunk)
            size = file.tell()
        Path(made).replace(target)
    except BaseException:
        Path(made).unlink(missing_ok=True)
        raise
    return size


def delete_file(remote: Remote, file_id: str) -> None:
    with remote.service() as service:
        reply = service.delete(f"{FILES}/{path_of(file_id)}")
    remote.out.result(reply, lambda: note(f"{printable(file_id)} is deleted"))
