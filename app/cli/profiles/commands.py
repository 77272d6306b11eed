"""`agent-rft profiles`: the commands, whose modules are imported only when one runs."""

from typing import Annotated

import typer

from app.cli.options import JsonOption

profiles = typer.Typer(help="Named services with their keys.", no_args_is_help=True)
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Name of the profile.")]


@profiles.command("add")
def profiles_add(
    *,
    name: NameArgument,
    base_url: Annotated[str, typer.Option(help="Address of the service, with its /v1.")],
    force: Annotated[bool, typer.Option("--force", help="Replace a profile.")] = False,
) -> None:
    """Add a profile. The key is prompted for, or read from standard input; no option takes it,
    because other users see a process's arguments. The profile `default` needs no --profile.

    Example: agent-rft profiles add default --base-url http://127.0.0.1:8000/v1 < key.txt
    """
    from app.cli.profiles.editing import add  # noqa: PLC0415 - keeps `agent-rft --help` fast

    add(name, base_url, force=force)


@profiles.command("list")
def profiles_list(*, as_json: JsonOption = False) -> None:
    """List profiles with their addresses. Keys are never printed.

    Example: agent-rft profiles list --json
    """
    from app.cli.profiles.editing import show  # noqa: PLC0415 - keeps `agent-rft --help` fast

    show(as_json=as_json)


@profiles.command("remove")
def profiles_remove(*, name: NameArgument) -> None:
    """Remove a profile with its key.

    Example: agent-rft profiles remove staging
    """
    from app.cli.profiles.editing import remove  # noqa: PLC0415 - keeps `agent-rft --help` fast

    remove(name)
