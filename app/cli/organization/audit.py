"""`agent-rft audit list` and `export`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel

from app.cli.service.client import parse_reply
from app.cli.service.downloads import download
from app.cli.service.remote import Remote
from app.cli.terminal.output import columns, console
from app.cli.terminal.printable import printable
from app.cli.terminal.times import moment

AUDIT_LOGS: Final = "organization/audit_logs"


@dataclass(frozen=True, slots=True)
class EntryFilter:
    """Conditions on entries; without values one is none."""

    types: list[str] | None
    projects: list[str] | None
    actors: list[str] | None
    resources: list[str] | None

    def params(self) -> dict[str, Any]:
        sent = {
            "event_types[]": self.types,
            "project_ids[]": self.projects,
            "actor_ids[]": self.actors,
            "resource_ids[]": self.resources,
        }
        return {name: values for name, values in sent.items() if values}


class _NamedObject(BaseModel):
    id: str | None = None
    name: str | None = None


class _Key(BaseModel):
    id: str
    ip_address: str | None = None
    service_account: _NamedObject | None = None


class _Session(BaseModel):
    user: _NamedObject = _NamedObject()
    ip_address: str | None = None


class _Actor(BaseModel):
    type: str
    api_key: _Key | None = None
    session: _Session | None = None

    @property
    def who(self) -> str:
        if self.api_key is not None:
            account = self.api_key.service_account
            if account is not None and account.id is not None:
                return f"{self.api_key.id} ({account.id})"
            return self.api_key.id
        if self.session is not None:
            return f"session of {self.session.user.id}"
        return self.type

    @property
    def address(self) -> str | None:
        sender = self.api_key or self.session
        return None if sender is None else sender.ip_address


class EntryReply(BaseModel):
    id: str
    type: str
    effective_at: float
    actor: _Actor
    project: _NamedObject | None = None


class _Resource(BaseModel):
    resource: _NamedObject


def _with_resource(row: dict[str, Any]) -> tuple[EntryReply, _NamedObject]:
    """Returns the entry, and the changed object, which has the name of the change as its key."""
    entry = parse_reply(EntryReply, row)
    return entry, parse_reply(_Resource, {"resource": row.get(entry.type) or {}}).resource


def list_entries(remote: Remote, wanted: EntryFilter, *, limit: int) -> None:
    with remote.service() as service:
        rows = service.rows(AUDIT_LOGS, limit=limit, **wanted.params())
    entries = [_with_resource(row) for row in rows.data]

    def show() -> None:
        header = ("TIME", "CHANGE", "OBJECT", "BY", "FROM", "PROJECT")
        cells = [
            (
                moment(entry.effective_at),
                entry.type,
                resource.id,
                entry.actor.who,
                entry.actor.address,
                None if entry.project is None else entry.project.name,
            )
            for entry, resource in entries
        ]
        console().print(columns(header, cells))

    remote.out.result(rows.data, show, has_more=rows.has_more)


def export_entries(remote: Remote, wanted: EntryFilter, out: Path, *, force: bool) -> None:
    """Writes the entries and prints the path of the file."""
    file = download(remote, f"{AUDIT_LOGS}/export", out, force=force, **wanted.params())
    remote.out.result(
        {"path": str(file.path), "bytes": file.size}, lambda: print(printable(str(file.path)))
    )
