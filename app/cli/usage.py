"""`agent-rft usage`: what an organization used by day, and what it cost."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from app.cli.output import columns, console, note
from app.cli.printable import duration, moment
from app.cli.remote import Remote
from app.cli.replies import Reply, unreadable_reply

if TYPE_CHECKING:
    from app.cli.client import Service

_DAY_S: Final = 86_400
_PAGE: Final = 31
_GROUPS: Final = {"model": "model", "project": "project_id", "key": "api_key_id", "job": "job_id"}
_SHOWN_AS: Final = {"job_id": "fine_tuning_job_id"}
_OF: Final = {
    "usage/completions": ("model", "project_id", "api_key_id"),
    "usage/fine_tuning": ("model", "project_id", "api_key_id", "job_id"),
    "costs": ("project_id", "api_key_id"),
}
"""The groups that each answer can be split by."""
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
    asked = {"limit": _PAGE, "start_time": start, "project_ids": projects, "group_by": split}
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
