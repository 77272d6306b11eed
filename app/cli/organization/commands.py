"""`agent-rft usage` and `audit`: the commands, whose modules are imported only when one runs."""

from enum import StrEnum
from typing import Annotated

import typer

from app.cli.options import ForceOption, LimitOption, OutOption
from app.cli.service.remote import Remote, remote_command

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
    from app.cli.organization.usage import show_usage  # noqa: PLC0415 - keeps --help fast

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
    from app.cli.organization.audit import EntryFilter, list_entries  # noqa: PLC0415 - keeps --help fast

    list_entries(remote, EntryFilter(event_type, project, actor, resource), limit=limit)


@audit.command("export")
@remote_command
def audit_export(
    remote: Remote,
    *,
    out: OutOption,
    force: ForceOption = False,
    event_type: TypeOption = None,
    project: ProjectOption = None,
    actor: ActorOption = None,
    resource: ResourceOption = None,
) -> None:
    """Write all changes to a file as JSON Lines; print its path.

    Example: agent-rft audit export --out audit.jsonl
    """
    from app.cli.organization.audit import EntryFilter, export_entries  # noqa: PLC0415 - keeps --help fast

    wanted = EntryFilter(event_type, project, actor, resource)
    export_entries(remote, wanted, out, force=force)
