"""`agent-rft models`: the commands, whose modules are imported only when one runs."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.options import finite
from app.cli.service.remote import Remote, remote_command

NameArgument = Annotated[str, typer.Argument(help="Tuned model or checkpoint, as chat takes it.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace an earlier download in DIR.")]

models = typer.Typer(help="Models of a running service.", no_args_is_help=True)


@models.command("list")
@remote_command
def models_list(remote: Remote) -> None:
    """Print the models that a project may call, with time of creation and owner.

    Example: agent-rft models list --json
    """
    from app.cli.models.models import print_models  # noqa: PLC0415 - keeps `agent-rft --help` fast

    print_models(remote)


@models.command("chat")
@remote_command
def models_chat(
    remote: Remote,
    *,
    name: NameArgument,
    message: Annotated[
        str | None, typer.Option("--message", "-m", help="One message; its answer is printed.")
    ] = None,
    system: Annotated[str | None, typer.Option(help="System message.")] = None,
    temperature: Annotated[
        float | None, typer.Option(min=0, callback=finite, help="Temperature.")
    ] = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Longest answer.")] = None,
) -> None:
    """Chat with a model. Without --message, each typed line is a message; piped input is one
    message.

    Example: agent-rft models chat ft:… -m 'Who wrote it?'
    """
    from app.cli.models.chat import ChatOptions, chat  # noqa: PLC0415 - keeps --help fast

    options = ChatOptions(name, system, temperature, max_tokens)
    chat(remote, options, message)


@models.command("download")
@remote_command
def models_download(
    remote: Remote,
    *,
    name: NameArgument,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="New directory for the adapter; by default the name."),
    ] = None,
    force: ForceOption = False,
) -> None:
    """Download the adapter of a model as a PEFT directory; print the directory.

    Every file is checked by its SHA-256, and DIR appears whole or not at all. An interrupted
    download continues when the same command runs again.

    Example: agent-rft models download ft:… --out adapter
    """
    from app.cli.models.models import download  # noqa: PLC0415 - keeps `agent-rft --help` fast

    download(remote, name, out, force=force)


@models.command("export")
@remote_command
def models_export(
    remote: Remote,
    *,
    name: NameArgument,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="New directory; by default the name and `-merged`."),
    ] = None,
    force: ForceOption = False,
) -> None:
    """Have a model merged with its base, and download the weights; print the directory.

    Uses an export that the service still has, or waits for a new one. An interrupted download
    continues when the same command runs again.

    Example: agent-rft models export ft:… --out merged
    """
    from app.cli.models.models import export  # noqa: PLC0415 - keeps `agent-rft --help` fast

    export(remote, name, out, force=force)
