"""`agent-rft files upload`, `list`, `show`, `download` and `delete`."""

from pathlib import Path

from app.cli.files.uploading import FILES, FileReply, upload
from app.cli.service.client import parse_reply, path_of
from app.cli.service.downloads import download
from app.cli.service.remote import Remote
from app.cli.terminal.output import columns, console, fields, note
from app.cli.terminal.printable import printable
from app.cli.terminal.times import moment


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
