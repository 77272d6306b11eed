"""`agent-rft keys`: the commands, whose modules are imported only when one runs."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from app.cli.options import (
    DEFAULT_DATA_DIR,
    DataDirOption,
    JsonOption,
    LimitOption,
    OutOption,
    finite,
)
from app.cli.options import ForceOption as ForceOptionCommands
from app.cli.remote import Remote, remote_command

keys = typer.Typer(help="API keys.", no_args_is_help=True)


@keys.command("bootstrap")
def keys_bootstrap() -> None:
    """Create the development organization, project and keys; print both keys as JSON.

    Example: agent-rft keys bootstrap
    """
    from app.cli.keys import bootstrap  # noqa: PLC0415 - keeps `agent-rft --help` fast

    bootstrap()


@keys.command("sign-in-link")
def keys_sign_in_link() -> None:
    """Print the secret of a link to the dashboard that signs in once, within an hour.

    The API key comes from standard input; the page is /sign-in#link=SECRET of the service.

    Example: agent-rft keys sign-in-link < key.txt
    """
    from app.cli.keys import sign_in_link  # noqa: PLC0415 - keeps `agent-rft --help` fast

    sign_in_link()


@keys.command("rewrap")
def keys_rewrap(*, data_dir: DataDirOption = DEFAULT_DATA_DIR) -> None:
    """Wrap every sealed secret under the newest secret key; print counts as JSON. Safe to repeat.

    The service may run meanwhile. AGENT_RFT_SECRET_KEY is the newest key and
    AGENT_RFT_OLDER_SECRET_KEYS a JSON list of those that it replaces.

    Example: agent-rft keys rewrap
    """
    from app.cli.keys import rewrap  # noqa: PLC0415 - keeps `agent-rft --help` fast

    raise typer.Exit(rewrap(data_dir))


NameArgument = Annotated[str, typer.Argument(help="Tuned model or checkpoint, as chat takes it.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace an earlier download in DIR.")]

models = typer.Typer(help="Models of a running service.", no_args_is_help=True)


@models.command("list")
@remote_command
def models_list(remote: Remote) -> None:
    """Print the models that a project may call, with time of creation and owner.

    Example: agent-rft models list --json
    """
    from app.cli.models import print_models  # noqa: PLC0415 - keeps `agent-rft --help` fast

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
    from app.cli.models import ChatOptions, chat  # noqa: PLC0415 - keeps --help fast

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
    from app.cli.models import download  # noqa: PLC0415 - keeps `agent-rft --help` fast

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
    from app.cli.models import export  # noqa: PLC0415 - keeps `agent-rft --help` fast

    export(remote, name, out, force=force)


audit = typer.Typer(help="Audit log of an organization, by an admin key.", no_args_is_help=True)
TypeOption = Annotated[
    list[str] | None, typer.Option("--type", help="Only these changes, such as project.created.")
]
ProjectOption = Annotated[
    list[str] | None, typer.Option("--project", help="Only projects with these ids.")
]
ActorOption = Annotated[
    list[str] | None,
    typer.Option("--actor", help="Only changes by keys or accounts with these ids."),
]
ResourceOption = Annotated[
    list[str] | None, typer.Option("--resource", help="Only changes of objects with these ids.")
]


class Grouping(StrEnum):
    """Columns that a day's usage can be split by."""

    MODEL = "model"
    PROJECT = "project"
    KEY = "key"
    JOB = "job"


@remote_command
def usage(
    remote: Remote,
    *,
    by: Annotated[
        list[Grouping] | None, typer.Option(help="Split each day by this; repeat it for more.")
    ] = None,
    days: Annotated[int, typer.Option(min=1, max=180, help="Days to show, today included.")] = 7,
    project: ProjectOption = None,
) -> None:
    """Show what an organization used by day, and what it cost. Takes an admin key.

    Example: agent-rft usage --by model --by project --days 30
    """
    from app.cli.organization import show_usage  # noqa: PLC0415 - keeps --help fast

    show_usage(remote, by=[one.value for one in by or ()], days=days, projects=project or [])


@audit.command("list")
@remote_command
def audit_list(
    remote: Remote,
    *,
    event_type: TypeOption = None,
    project: ProjectOption = None,
    actor: ActorOption = None,
    resource: ResourceOption = None,
    limit: LimitOption = 20,
) -> None:
    """List changes, newest first: when, what, by whom, from which address.

    Example: agent-rft audit list --type project.created --type project.archived
    """
    from app.cli.organization import EntryFilter, list_entries  # noqa: PLC0415 - keeps --help fast

    list_entries(remote, EntryFilter(event_type, project, actor, resource), limit=limit)


@audit.command("export")
@remote_command
def audit_export(
    remote: Remote,
    *,
    out: OutOption,
    force: ForceOptionCommands = False,
    event_type: TypeOption = None,
    project: ProjectOption = None,
    actor: ActorOption = None,
    resource: ResourceOption = None,
) -> None:
    """Write all changes to a file as JSON Lines; print its path.

    Example: agent-rft audit export --out audit.jsonl
    """
    from app.cli.organization import EntryFilter, export_entries  # noqa: PLC0415 - keeps --help fast

    wanted = EntryFilter(event_type, project, actor, resource)
    export_entries(remote, wanted, out, force=force)


profiles = typer.Typer(help="Named services with their keys.", no_args_is_help=True)
ProfileNameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Name of the profile.")]


@profiles.command("add")
def profiles_add(
    *,
    name: ProfileNameArgument,
    base_url: Annotated[str, typer.Option(help="Address of the service, with its /v1.")],
    force: Annotated[bool, typer.Option("--force", help="Replace a profile.")] = False,
) -> None:
    """Add a profile. The key is prompted for, or read from standard input; no option takes it,
    because other users see a process's arguments. The profile `default` needs no --profile.

    Example: agent-rft profiles add default --base-url http://127.0.0.1:8000/v1 < key.txt
    """
    from app.cli.profile_editing import add  # noqa: PLC0415 - keeps `agent-rft --help` fast

    add(name, base_url, force=force)


@profiles.command("list")
def profiles_list(*, as_json: JsonOption = False) -> None:
    """List profiles with their addresses. Keys are never printed.

    Example: agent-rft profiles list --json
    """
    from app.cli.profile_editing import show  # noqa: PLC0415 - keeps `agent-rft --help` fast

    show(as_json=as_json)


@profiles.command("remove")
def profiles_remove(*, name: ProfileNameArgument) -> None:
    """Remove a profile with its key.

    Example: agent-rft profiles remove staging
    """
    from app.cli.profile_editing import remove  # noqa: PLC0415 - keeps `agent-rft --help` fast

    remove(name)
