"""`agent-rft files`: the commands, whose modules are imported only when one runs."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.options import ForceOption, LimitOption, OutOption
from app.cli.service.remote import Remote, remote_command

files = typer.Typer(help="Files of a running service.", no_args_is_help=True)
FileArgument = Annotated[str, typer.Argument(metavar="FILE_ID", help="Id of the file.")]


@files.command("upload")
@remote_command
def files_upload(
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
    from app.cli.files.files import upload_file  # noqa: PLC0415 - keeps `agent-rft --help` fast

    upload_file(remote, path, purpose=purpose)


@files.command("list")
@remote_command
def files_list(
    remote: Remote,
    *,
    purpose: Annotated[str | None, typer.Option(help="Only files of this purpose.")] = None,
    limit: LimitOption = 20,
) -> None:
    """List files, newest first.

    Example: agent-rft files list --purpose fine-tune-results
    """
    from app.cli.files.files import list_files  # noqa: PLC0415 - keeps `agent-rft --help` fast

    list_files(remote, purpose=purpose, limit=limit)


@files.command("show")
@remote_command
def files_show(remote: Remote, *, file: FileArgument) -> None:
    """Show a file without its bytes.

    Example: agent-rft files show file-…
    """
    from app.cli.files.files import show_file  # noqa: PLC0415 - keeps `agent-rft --help` fast

    show_file(remote, file)


@files.command("download")
@remote_command
def files_download(
    remote: Remote,
    *,
    file: FileArgument,
    out: OutOption,
    force: ForceOption = False,
) -> None:
    """Download a file; print its path. It appears whole or not at all.

    Example: agent-rft files download file-… --out metrics.csv
    """
    from app.cli.files.files import download_file  # noqa: PLC0415 - keeps `agent-rft --help` fast

    download_file(remote, file, out, force=force)


@files.command("delete")
@remote_command
def files_delete(remote: Remote, *, file: FileArgument) -> None:
    """Delete a file.

    Example: agent-rft files delete file-…
    """
    from app.cli.files.files import delete_file  # noqa: PLC0415 - keeps `agent-rft --help` fast

    delete_file(remote, file)
