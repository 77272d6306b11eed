"""Routes of registered tools, graders and environments: the list, one of them, and its test."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal, assert_never

from fastapi import APIRouter, Query, Request, Response

from app.dashboard.refusals import PageRoute
from app.dashboard.registry.endpoint_tests import TestLog, run_test
from app.dashboard.registry.endpoint_uses import addresses, hosts, use_curves, users
from app.dashboard.rendering.chart_tables import COLOURS, Chart, Line
from app.dashboard.rendering.job_labels import job_labels
from app.dashboard.rendering.pages import page
from app.dashboard.visitors import OwnForm, SignedIn, Visitor
from app.domain.jobs.jobs import Job
from app.domain.registry.registered_objects import RegisteredVersion
from app.domain.rollouts.metrics import MetricPoint
from app.web.forms import LONGEST_ROW, LONGEST_TEXT, text_of
from app.web.hang_up import unless_client_hangs_up

router = APIRouter(include_in_schema=False, route_class=PageRoute, prefix="/endpoints")
Kind = Literal["tools", "graders", "environments"]
_KINDS: Final[tuple[Kind, ...]] = ("tools", "graders", "environments")
_TITLES: Final[dict[Kind, str]] = {
    "tools": "Tools",
    "graders": "Graders",
    "environments": "Environments",
}
_LISTED: Final = 50
_JOBS: Final = 50
"""Newest jobs that are searched for calls of an endpoint."""
_After = Annotated[str | None, Query(max_length=128)]


@dataclass(frozen=True, slots=True)
class ListedEndpoint:
    registered: RegisteredVersion
    hosts: Sequence[str]
    newest: Job | None
    """The newest job that calls it."""
    last_values: dict[str, float]
    """Last values of that job's curves, by the id of the chart."""


@router.get("")
async def endpoints_page(
    visitor: SignedIn, kind: Kind | None = None, after: _After = None
) -> Response:
    """Lists objects of each kind, or of one kind behind `after`."""
    jobs = await _newest_jobs(visitor)
    shown = _KINDS if kind is None else (kind,)
    found = {one: await _page(visitor, one, after if kind else None) for one in shown}
    named = [registered for rows, _ in found.values() for registered in rows]
    curves = sorted({curve for one in named for *_, curve in use_curves(one)})
    ends = await visitor.services.curves().ends([job.id for job in jobs], curves)
    return await visitor.on_thread(
        lambda: page(
            "endpoints.html",
            form_token=visitor.form_token,
            only=kind,
            sections=[
                (one, _TITLES[one], [_listed(each, jobs, ends) for each in rows], more)
                for one, (rows, more) in found.items()
            ],
        )
    )


async def _newest_jobs(visitor: Visitor) -> Sequence[Job]:
    jobs, _ = await visitor.services.jobs().page(after=None, limit=_JOBS, status=None)
    return jobs


def _listed(
    registered: RegisteredVersion, jobs: Sequence[Job], ends: dict[str, list[MetricPoint]]
) -> ListedEndpoint:
    called = addresses(registered)
    newest = next(iter(users(registered, jobs, called)), None)
    last = {} if newest is None else {point.name: point for point in ends.get(newest.id, ())}
    last_values = {
        chart: last[curve].value for chart, _, _, curve in use_curves(registered) if curve in last
    }
    return ListedEndpoint(registered, hosts(called), newest, last_values)


async def _page(
    visitor: Visitor, kind: Kind, after: str | None
) -> tuple[list[RegisteredVersion], bool]:
    match kind:
        case "tools":
            return await visitor.services.tools().page(after=after, limit=_LISTED)
        case "graders":
            return await visitor.services.graders().page(after=after, limit=_LISTED)
        case "environments":
            return await visitor.services.environments().page(after=after, limit=_LISTED)
        case _:
            assert_never(kind)


async def _get(visitor: Visitor, kind: Kind, object_id: str) -> RegisteredVersion:
    match kind:
        case "tools":
            return await visitor.services.tools().get(object_id)
        case "graders":
            return await visitor.services.graders().get(object_id)
        case "environments":
            return await visitor.services.environments().get(object_id)
        case _:
            assert_never(kind)


@router.get("/{kind}/{object_id}")
async def endpoint_page(kind: Kind, object_id: str, visitor: SignedIn) -> Response:
    return await _shown(visitor, kind, await _get(visitor, kind, object_id), None)


@router.post("/{kind}/{object_id}/test")
async def run_endpoint_test(
    request: Request, kind: Kind, object_id: str, visitor: SignedIn, form: OwnForm
) -> Response:
    """Runs the test and shows the page with its log. It ends with the browser's connection."""
    registered = await _get(visitor, kind, object_id)
    answer = text_of(form, "answer", longest=LONGEST_TEXT)
    item = text_of(form, "item", longest=LONGEST_ROW)
    log = await unless_client_hangs_up(
        request, run_test(visitor, registered, answer=answer, item=item)
    )
    return await _shown(visitor, kind, registered, log, answer, item)


async def _shown(
    visitor: Visitor,
    kind: Kind,
    registered: RegisteredVersion,
    log: TestLog | None,
    answer: str = "",
    item: str = "",
) -> Response:
    called = addresses(registered)
    jobs = users(registered, await _newest_jobs(visitor), called)[:COLOURS]
    charts = await _charts(visitor, registered, jobs)
    return await visitor.on_thread(
        lambda: page(
            "endpoint.html",
            form_token=visitor.form_token,
            kind=kind,
            title=_TITLES[kind],
            registered=registered,
            addresses=called,
            jobs=list(zip(jobs, job_labels(jobs), strict=True)),
            charts=charts,
            most_jobs=COLOURS,
            searched_jobs=_JOBS,
            log=log,
            answer=answer,
            item=item or "{}",
            longest_answer=LONGEST_TEXT,
            longest_item=LONGEST_ROW,
        )
    )


async def _charts(
    visitor: Visitor, registered: RegisteredVersion, jobs: Sequence[Job]
) -> list[Chart]:
    curves = use_curves(registered)
    wanted = sorted(curve for *_, curve in curves)
    found = [
        (label, await visitor.services.curves().outlined(job.id, wanted))
        for job, label in zip(jobs, job_labels(jobs), strict=True)
    ]
    values = {
        (label, name): (curve, outlined.every.get(name, 1))
        for label, outlined in found
        for (name, split), curve in outlined.read().items()
        if split == "train"
    }
    charts = [
        Chart(
            chart_id,
            title,
            unit,
            [
                Line(label, curve, values[label, curve][0], every=values[label, curve][1])
                for label in job_labels(jobs)
                if (label, curve) in values
            ],
        )
        for chart_id, title, unit, curve in curves
    ]
    return [chart for chart in charts if chart.lines]
