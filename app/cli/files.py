"""`agent-rft files`, and the local files that replies are written to, whole or not at all."""

import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, Final

import typer

from app.cli.output import note
from app.cli.remote import ForceOption, LimitOption, OutOption, Remote, remote_command
from app.cli.replies import Reply, path_of
from app.cli.terminal import ServiceError, WrongOption, local_faults, whole_file
from app.files.files import MAX_FILE_BYTES, MAX_PART_BYTES

if TYPE_CHECKING:
    from app.cli.client import Service


FILES: Final = "files"
_UPLOADS: Final = "uploads"
_BINARY: Final = "application/octet-stream"
_TIMEOUT_S: Final = 300.0
"""Timeout of an upload: the service reads the whole file before it replies."""
_JOINED_WITHIN_S: Final = 900.0
"""Timeout of the call that joins the parts: the service reads all of them."""
FileArgument = Annotated[str, typer.Argument(metavar="FILE_ID", help="Id of the file.")]

files = typer.Typer()


@remote_command(files, "upload")
def upload_file(
    remote: Remote,
    *,
    path: Annotated[
        Path, typer.Argument(metavar="PATH", exists=True, dir_okay=False, help="Local file.")
    ],
    purpose: Annotated[str, typer.Option(help="Purpose of the file.")] = "fine-tune",
) -> None:
    """Upload a file; print its id.

    Example: agent-rft files upload train.jsonl
    """
    with remote.service() as service:
        file = upload(service, path, purpose=purpose)
    remote.out.line(file.data, file.id())


@remote_command(files, "list")
def list_files(
    remote: Remote,
    *,
    purpose: Annotated[str | None, typer.Option(help="Only files of this purpose.")] = None,
    limit: LimitOption = 20,
) -> None:
    """List files, newest first.

    Example: agent-rft files list --purpose fine-tune-results
    """
    remote.print_list(
        FILES,
        ("ID", "BYTES", "CREATED", "PURPOSE", "NAME"),
        lambda file: (
            *(file.id(), file.get("bytes", int), file.moment("created_at")),
            *(file.text("purpose"), file.text("filename")),
        ),
        limit=limit,
        purpose=purpose,
    )


@remote_command(files, "show")
def show(remote: Remote, *, file: FileArgument) -> None:
    """Show a file without its bytes.

    Example: agent-rft files show file-…
    """
    found = remote.get(f"{FILES}/{path_of(file)}")
    remote.out.fields(
        found,
        [
            *(("id", found.id()), ("name", found.text("filename"))),
            *(("bytes", found.get("bytes", int)), ("purpose", found.text("purpose"))),
            *(("status", found.find("status", str)), ("created", found.moment("created_at"))),
            ("expires", found.moment("expires_at")),
        ],
    )


@remote_command(files, "download")
def download_file(
    remote: Remote, *, file: FileArgument, out: OutOption, force: ForceOption = False
) -> None:
    """Download a file; print its path. It appears whole or not at all.

    Example: agent-rft files download file-… --out metrics.csv
    """
    download(remote, f"{FILES}/{path_of(file)}/content", out, force=force, about={"id": file})


@remote_command(files, "delete")
def delete(remote: Remote, *, file: FileArgument) -> None:
    """Delete a file.

    Example: agent-rft files delete file-…
    """
    with remote.service() as service:
        reply = service.delete(f"{FILES}/{path_of(file)}")
    remote.out.result(reply.data, lambda: note(f"{file} is deleted"))


def upload(service: "Service", path: Path, *, purpose: str) -> Reply:
    """Returns the service's reply, which has the shape of `File`."""
    with local_faults(path):
        # Before it is opened, because a pipe without a writer waits for one.
        if not stat.S_ISREG(path.stat().st_mode):
            raise WrongOption(
                f"{path} is not a regular file, and an upload must name its size: write it to "
                "a file first"
            )
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            send = _whole if size <= MAX_FILE_BYTES else _in_parts
            name = path.name.encode("utf-8", "replace").decode("utf-8")
            return send(service, _SentFile(file, name, purpose, size))


@dataclass(frozen=True, slots=True)
class _SentFile:
    file: BinaryIO
    name: str
    purpose: str
    size: int


def _whole(service: "Service", sent: _SentFile) -> Reply:
    return service.send(
        "POST",
        FILES,
        files={"file": (sent.name, sent.file, _BINARY)},
        data={"purpose": sent.purpose},
        timeout_s=_TIMEOUT_S,
    )


def _in_parts(service: "Service", sent: _SentFile) -> Reply:
    """Uploads a file that is too large for one request. A failed upload leaves no part behind."""
    body = {
        "filename": sent.name,
        "purpose": sent.purpose,
        "bytes": sent.size,
        "mime_type": _BINARY,
    }
    here = f"{_UPLOADS}/{path_of(service.post(_UPLOADS, body).id())}"
    try:
        parts = list[str]()
        while block := sent.file.read(MAX_PART_BYTES):
            part = {"data": ("part", block, _BINARY)}
            reply = service.send("POST", f"{here}/parts", files=part, timeout_s=_TIMEOUT_S)
            parts.append(reply.id())
        done = service.post(f"{here}/complete", {"part_ids": parts}, timeout_s=_JOINED_WITHIN_S)
    except (ServiceError, OSError):
        with suppress(ServiceError):
            service.post(f"{here}/cancel")
        raise
    return Reply(done.get("file", dict))


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
    """Writes a reply and prints its path. Raises `ServiceError`, also for an existing file."""
    target = out.expanduser().absolute()
    _check(target, force=force)
    with local_faults(target), whole_file(target) as file, remote.service() as service:
        with service.stream("GET", path, params=params) as reply:
            file.writelines(reply.chunks)
        size = file.tell()
    remote.out.line({**about, "path": str(target), "bytes": size}, str(target))


def _check(target: Path, *, force: bool) -> None:
    try:
        mode = target.lstat().st_mode
    except OSError:
        return  # nothing stands there, or the directory cannot be read: writing says which
    if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
        raise WrongOption(f"{target} is not a file: choose another --out")
    if not force:
        raise WrongOption(f"{target} exists: pass --force to replace it, or another --out")
