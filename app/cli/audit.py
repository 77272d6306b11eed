"""`agent-rft audit`: changes of an organization, by an admin key."""

from typing import Annotated, Any, Final

import typer

from app.cli.exports import download
from app.cli.options import ForceOption, LimitOption, OutOption
from app.cli.printable import moment
from app.cli.remote import Remote, remote_command
from app.cli.replies import NOTHING, Reply

_AUDIT_LOGS: Final = "organization/audit_logs"
_FILTERS: Final = {
    "event_type": Annotated[
        list[str] | None,
        typer.Option("--type", help="Only these changes, such as project.created."),
    ],
    "project": Annotated[list[str] | None, typer.Option(help="Only projects with these ids.")],
    "actor": Annotated[
        list[str] | None, typer.Option(help="Only changes by keys or accounts with these ids.")
    ],
    "resource": Annotated[
        list[str] | None, typer.Option(help="Only changes of objects with these ids.")
    ],
}

audit = typer.Typer()


@remote_command(audit, "list", filters=_FILTERS)
def list_entries(remote: Remote, *, limit: LimitOption = 20, **conditions: Any) -> None:
    """List changes, newest first: when, what, by whom, from which address.

    Example: agent-rft audit list --type project.created --type project.archived
    """
    header = ("TIME", "CHANGE", "OBJECT", "BY", "FROM", "PROJECT")
    remote.print_list(_AUDIT_LOGS, header, _cells, limit=limit, **_sent(conditions))


@remote_command(audit, "export", filters=_FILTERS)
def export(
    remote: Remote, *, out: OutOption, force: ForceOption = False, **conditions: Any
) -> None:
    """Write all changes to a file as JSON Lines; print its path.

    Example: agent-rft audit export --out audit.jsonl
    """
    path = f"{_AUDIT_LOGS}/export"
    download(remote, path, out, force=force, about={}, **_sent(conditions))


def _sent(conditions: dict[str, list[str] | None]) -> dict[str, list[str]]:
    names = {"event_type": "event_types[]"}
    return {
        names.get(name, f"{name}_ids[]"): values for name, values in conditions.items() if values
    }


def _cells(entry: Reply) -> tuple[object, ...]:
    change = entry.text("type")
    # The changed object has the name of the change as its key.
    changed = entry.child(change) or NOTHING
    who, address = _actor(entry.child("actor") or NOTHING)
    project = entry.child("project") or NOTHING
    return (
        *(moment(entry.get("effective_at", float)), change, changed.find("id", str)),
        *(who, address, project.find("name", str)),
    )


def _actor(actor: Reply) -> tuple[str, str | None]:
    """Returns who made a change, and from which address."""
    if (key := actor.child("api_key")) is not None:
        account = (key.child("service_account") or NOTHING).find("id", str)
        who = key.text("id") if account is None else f"{key.text('id')} ({account})"
        return who, key.find("ip_address", str)
    if (session := actor.child("session")) is not None:
        user = (session.child("user") or NOTHING).find("id", str)
        return f"session of {user}", session.find("ip_address", str)
    return actor.text("type"), None
