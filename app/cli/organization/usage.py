"""`agent-rft usage`: tables of what an organization used by day, and of its costs."""

import time
from collections.abc import Sequence
from typing import Any, Final

from pydantic import BaseModel

from app.cli.output import columns, console, note
from app.cli.remote import Remote
from app.cli.service_client import Service, shaped, strange
from app.cli.times import duration, moment

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


class _Bucket(BaseModel):
    start_time: float
    results: list[dict[str, Any]]


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
    data = {what: [bucket.model_dump() for bucket in found[what]] for what in found}

    def show() -> None:
        _print_usage(found["completions"], found["fine_tuning"], groups)
        _print_costs(found["costs"], [name for name in groups if name in _OF["costs"]])
        if unpriced is not None:
            note(unpriced)

    remote.out.result({**data, "unpriced": unpriced}, show)


def _buckets(service: Service, path: str, **params: Any) -> tuple[list[_Bucket], str | None]:
    """Follows the pages. Returns the buckets, and what has no price."""
    found: list[_Bucket] = []
    token: str | None = None
    while True:
        page = shaped(_Page, service.get(path, limit=_PAGE, page=token, **params))
        found += page.data
        if page.next_page is None:
            return found, page.unpriced
        if page.next_page == token or not page.data:
            raise strange(path)
        token = page.next_page


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
        (_day(bucket), one.get("line_item"), *_groups(one, groups), _price(one["amount"]))
        for bucket in costs
        for one in bucket.results
        if one.get("amount")
    ]
    if priced:
        console().print()
        console().print(columns(("DAY", "FOR", *_titles(groups), "COST"), priced))


def _amounts(one: dict[str, Any]) -> tuple[object, ...]:
    judged = [one.get(name) for name in ("judge_input_tokens", "judge_output_tokens")]
    seconds = (one.get("training_seconds"), one.get("gpu_seconds"))
    return (
        *(one.get("num_model_requests"), one.get("num_rollouts"), one.get("input_tokens")),
        *(one.get("output_tokens"), one.get("trained_tokens"), one.get("num_tool_calls")),
        one.get("num_grader_calls"),
        None if None in judged else sum(map(int, filter(None, judged))),
        *(duration(value) if isinstance(value, int | float) else None for value in seconds),
    )


def _groups(one: dict[str, Any], groups: Sequence[str]) -> list[object]:
    return [one.get(_SHOWN_AS.get(name, name)) for name in groups]


def _titles(groups: Sequence[str]) -> list[str]:
    titles = {name: title.upper() for title, name in _GROUPS.items()}
    return [titles[name] for name in groups]


def _day(bucket: _Bucket) -> str:
    return moment(bucket.start_time).partition(" ")[0]


def _price(amount: dict[str, Any]) -> str:
    value = amount.get("value")
    shown = f"{value:,.4f}" if isinstance(value, int | float) else "-"
    return f"{shown} {str(amount.get('currency')).upper()}"
