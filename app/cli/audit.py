"""`agent-rft audit` and `usage`: what happened in an organization, by an admin key."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from app.cli.files import download
from app.cli.output import columns, console, note
from app.cli.remote import ForceOption, LimitOption, OutOption, Remote, remote_command
from app.cli.replies import NOTHING, Reply, unreadable_reply
from app.cli.terminal import duration, moment

if TYPE_CHECKING:
    from app.cli.client import Service


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
    if (key := actor.child("api_key")) is not None:
        account = (key.child("service_account") or NOTHING).find("id", str)
        who = key.text("id") if account is None else f"{key.text('id')} ({account})"
        return who, key.find("ip_address", str)
    if (session := actor.child("session")) is not None:
        user = (session.child("user") or NOTHING).find("id", str)
        return f"session of {user}", session.find("ip_address", str)
    return actor.text("type"), None


_DAY_S: Final = 86_400
_GROUPS: Final = {"model": "model", "project": "project_id", "key": "api_key_id", "job": "job_id"}
_SHOWN_AS: Final = {"job_id": "fine_tuning_job_id"}
_OF: Final = {
    "usage/completions": ("model", "project_id", "api_key_id"),
    "usage/fine_tuning": ("model", "project_id", "api_key_id", "job_id"),
    "costs": ("project_id", "api_key_id"),
}
_KINDS: Final = {"usage/completions": "chats", "usage/fine_tuning": "training"}
_COUNTS: Final = (
    *("num_model_requests", "num_rollouts", "input_tokens", "output_tokens"),
    *("trained_tokens", "num_tool_calls", "num_grader_calls"),
)
_HEADER: Final = ("REQUESTS", "ROLLOUTS", "READ", "SAMPLED", "TRAINED", "TOOL CALLS")


def show_usage(remote: Remote, *, by: Sequence[str], days: int, projects: Sequence[str]) -> None:
    groups = {name.upper(): _GROUPS[name] for name in dict.fromkeys(by)}
    start = (int(time.time()) // _DAY_S - days + 1) * _DAY_S
    found, unpriced = dict[str, list[Reply]](), None
    used, costs = list[tuple[object, ...]](), list[tuple[object, ...]]()
    priced = {title: name for title, name in groups.items() if name in _OF["costs"]}
    with remote.service() as service:
        for what, known in _OF.items():
            split = [name for name in groups.values() if name in known]
            if what == "costs":
                split.append("line_item")
            path = f"organization/{what}"
            buckets, unpriced = _buckets(service, path, start, list(projects), split)
            found[what.removeprefix("usage/")] = buckets
            if what == "costs":
                costs = _costs(buckets, priced)
            else:
                used += _rows(buckets, _KINDS[what], groups)
    results = any(bucket.children("results") for each in found.values() for bucket in each)

    def show() -> None:
        header = ("DAY", "FOR", *groups, *_HEADER, "GRADER CALLS", "JUDGED", "TIME", "GPU")
        console().print(columns(header, sorted(used, key=lambda row: str(row[0]))))
        if costs:
            console().print()
            console().print(columns(("DAY", "FOR", *priced, "COST"), costs))
        if unpriced is not None:
            note(unpriced)
        if projects and not results:
            note("No project with such an id used anything then: --project takes ids, not names.")

    data = {what: [bucket.data for bucket in buckets] for what, buckets in found.items()}
    remote.out.result({**data, "unpriced": unpriced}, show)


def _buckets(
    service: "Service", path: str, start: int, projects: list[str], split: list[str]
) -> tuple[list[Reply], str | None]:
    """Follows the pages. Returns the buckets, and what has no price."""
    found, token, seen = list[Reply](), None, set[str]()
    asked = {"limit": 31, "start_time": start, "project_ids": projects, "group_by": split}
    while True:
        page = service.get(path, page=token, **asked)
        buckets = page.children("data")
        found += buckets
        token = page.find("next_page", str)
        if token is None:
            return found, page.find("unpriced", str)
        if not token or token in seen or not buckets:
            raise unreadable_reply(path)
        seen.add(token)


def _rows(buckets: list[Reply], kind: str, groups: dict[str, str]) -> list[tuple[object, ...]]:
    return [
        (_day(bucket), kind, *_split(one, groups), *_amounts(one))
        for bucket in buckets
        for one in bucket.children("results")
    ]


def _costs(buckets: list[Reply], groups: dict[str, str]) -> list[tuple[object, ...]]:
    return [
        (
            *(_day(bucket), one.find("line_item", str), *_split(one, groups)),
            f"{amount.get('value', float):,.4f} {amount.text('currency').upper()}",
        )
        for bucket in buckets
        for one in bucket.children("results")
        if (amount := one.child("amount")) is not None
    ]


def _amounts(one: Reply) -> tuple[object, ...]:
    read, sampled = (one.find(f"judge_{way}_tokens", int) for way in ("input", "output"))
    times = (one.find(name, float) for name in ("training_seconds", "gpu_seconds"))
    return (
        *(one.find(name, int) for name in _COUNTS),
        None if read is None or sampled is None else read + sampled,
        *(None if time_s is None else duration(time_s) for time_s in times),
    )


def _split(one: Reply, groups: dict[str, str]) -> list[str | None]:
    return [one.find(_SHOWN_AS.get(name, name), str) for name in groups.values()]


def _day(bucket: Reply) -> str:
    return moment(bucket.get("start_time", float)).partition(" ")[0]
