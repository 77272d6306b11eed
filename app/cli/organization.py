"""`agent-rft audit list` and `export`."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, FiniteFloat

from app.cli.client import Service, download, parse_reply, unreadable_reply
from app.cli.output import columns, console, note
from app.cli.printable import duration, moment, printable
from app.cli.remote import Remote

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


_DAY_S: Final = 86_400
_PAGE: Final = 31
_GROUPS: Final = {"model": "model", "project": "project_id", "key": "api_key_id", "job": "job_id"}
_SHOWN_AS: Final = {"job_id": "fine_tuning_job_id"}
_OF: Final = {
    "completions": ("model", "project_id", "api_key_id"),
    "fine_tuning": ("model", "project_id", "api_key_id", "job_id"),
    "costs": ("project_id", "api_key_id"),
}
"""The groups that each answer can be split by."""


class _Amount(BaseModel):
    model_config = ConfigDict(extra="allow")
    value: FiniteFloat
    currency: str


class _Result(BaseModel):
    """A result of any of the three answers; `--json` shows what it has beyond these."""

    model_config = ConfigDict(extra="allow", protected_namespaces=())
    model: str | None = None
    project_id: str | None = None
    api_key_id: str | None = None
    fine_tuning_job_id: str | None = None
    line_item: str | None = None
    num_model_requests: int | None = None
    num_rollouts: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    trained_tokens: int | None = None
    num_tool_calls: int | None = None
    num_grader_calls: int | None = None
    judge_input_tokens: int | None = None
    judge_output_tokens: int | None = None
    training_seconds: FiniteFloat | None = None
    gpu_seconds: FiniteFloat | None = None
    amount: _Amount | None = None


class _Bucket(BaseModel):
    model_config = ConfigDict(extra="allow")
    start_time: FiniteFloat
    results: list[_Result]


class _Page(BaseModel):
    data: list[_Bucket]
    next_page: str | None = None
    unpriced: str | None = None


def show_usage(remote: Remote, *, by: Sequence[str], days: int, projects: Sequence[str]) -> None:
    groups = [_GROUPS[name] for name in dict.fromkeys(by)]
    start = (int(time.time()) // _DAY_S - days + 1) * _DAY_S
    with remote.service() as service:
        found, unpriced = {}, None
        for what, known in _OF.items():
            split = [name for name in groups if name in known]
            if what == "costs":
                split.append("line_item")
            path = "organization/costs" if what == "costs" else f"organization/usage/{what}"
            found[what], unpriced = _buckets(
                service, path, start_time=start, project_ids=list(projects), group_by=split
            )
    data = {
        what: [bucket.model_dump(exclude_unset=True) for bucket in found[what]] for what in found
    }

    def show() -> None:
        _print_usage(found["completions"], found["fine_tuning"], groups)
        _print_costs(found["costs"], [name for name in groups if name in _OF["costs"]])
        if unpriced is not None:
            note(unpriced)
        if projects and not any(one.results for one in chain(*found.values())):
            note("No project with such an id used anything then: --project takes ids, not names.")

    remote.out.result({**data, "unpriced": unpriced}, show)


def _buckets(service: Service, path: str, **params: Any) -> tuple[list[_Bucket], str | None]:
    """Follows the pages. Returns the buckets, and what has no price."""
    found: list[_Bucket] = []
    token: str | None = None
    seen: set[str] = set()
    while True:
        page = parse_reply(_Page, service.get(path, limit=_PAGE, page=token, **params))
        found += page.data
        if page.next_page is None:
            return found, page.unpriced
        if not page.next_page or page.next_page in seen or not page.data:
            raise unreadable_reply(path)
        token = page.next_page
        seen.add(token)


def _print_usage(
    completions: Sequence[_Bucket], fine_tuning: Sequence[_Bucket], groups: Sequence[str]
) -> None:
    header = ("DAY", "FOR", *_titles(groups), "REQUESTS", "ROLLOUTS", "READ", "SAMPLED")
    header += ("TRAINED", "TOOL CALLS", "GRADER CALLS", "JUDGED", "TIME", "GPU")
    cells: list[tuple[object, ...]] = []
    for kind, buckets in (("chats", completions), ("training", fine_tuning)):
        for bucket in buckets:
            cells += [
                (_day(bucket), kind, *_groups(one, groups), *_amounts(one))
                for one in bucket.results
            ]
    console().print(columns(header, sorted(cells, key=lambda row: str(row[0]))))


def _print_costs(costs: Sequence[_Bucket], groups: Sequence[str]) -> None:
    priced = [
        (_day(bucket), one.line_item, *_groups(one, groups), _price(one.amount))
        for bucket in costs
        for one in bucket.results
        if one.amount is not None
    ]
    if priced:
        console().print()
        console().print(columns(("DAY", "FOR", *_titles(groups), "COST"), priced))


def _amounts(one: _Result) -> tuple[object, ...]:
    read, sampled = one.judge_input_tokens, one.judge_output_tokens
    return (
        *(one.num_model_requests, one.num_rollouts, one.input_tokens, one.output_tokens),
        *(one.trained_tokens, one.num_tool_calls, one.num_grader_calls),
        None if read is None or sampled is None else read + sampled,
        *(
            None if time_s is None else duration(time_s)
            for time_s in (one.training_seconds, one.gpu_seconds)
        ),
    )


def _groups(one: _Result, groups: Sequence[str]) -> list[object]:
    return [getattr(one, _SHOWN_AS.get(name, name)) for name in groups]


def _titles(groups: Sequence[str]) -> list[str]:
    titles = {name: title.upper() for title, name in _GROUPS.items()}
    return [titles[name] for name in groups]


def _day(bucket: _Bucket) -> str:
    return moment(bucket.start_time).partition(" ")[0]


def _price(amount: _Amount) -> str:
    return f"{amount.value:,.4f} {amount.currency.upper()}"
