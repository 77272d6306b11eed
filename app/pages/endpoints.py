"""Pages of endpoints: registered tools, graders and environments, their tests and their use."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, assert_never
from urllib.parse import urlsplit

from fastapi import APIRouter, Request, Response

from app.graders.definitions import GRADER_MODELS
from app.http.requests import LONGEST_ROW, LONGEST_TEXT, text_of, unless_client_hangs_up
from app.jobs.jobs import Job
from app.kit.errors import InvalidRequest
from app.kit.fields import FieldKind, Models, walk_fields
from app.kit.strict_json import UnusableJson, read_json
from app.pages.charts import COLOURS, Chart, Line
from app.pages.rendering import job_labels
from app.pages.visitors import After, OwnForm, PageRoute, SignedIn, Visitor
from app.rollouts import metrics as names
from app.rollouts.metrics import MetricPoint
from app.tools.contracts import CheckResult
from app.tools.environment_options import HttpEnvironmentSpec
from app.tools.mcp_listings import by_server, is_served
from app.tools.mcp_servers import McpServerSpec
from app.tools.registry import Noun, RegisteredVersion
from app.tools.schemas import (
    ContractCheck,
    EnvironmentExchange,
    EnvironmentTestResult,
    McpServerTest,
    RunEnvironmentTest,
    RunMcpServerTest,
    RunToolTest,
    ToolTest,
)
from app.tools.tools import ToolSpec


@dataclass(frozen=True, slots=True)
class TestLog:
    __test__ = False

    passed: bool
    duration_s: float
    checks: Sequence[CheckResult | ContractCheck]
    calls: Sequence[EnvironmentExchange] = ()
    score: float | None = None


async def run_test(
    visitor: Visitor, registered: RegisteredVersion, *, answer: str, item: str
) -> TestLog:
    """Raises `InvalidRequest` for what cannot be tested, `RateLimited` beside other tests."""
    match registered.noun:
        case Noun.TOOL if is_served(registered.definition):
            return await _test_server(visitor, registered)
        case Noun.TOOL:
            return _log_of(await visitor.services.tools().test(registered.id, RunToolTest()))
        case Noun.ENVIRONMENT:
            plan = RunEnvironmentTest()
            report = await visitor.services.environments().test(registered.id, plan)
            return _log_of(report, report.exchanges)
        case Noun.GRADER:
            return await _test_grader(visitor, registered, answer=answer, item=item)
        case Noun.CURRICULUM | Noun.RECIPE:
            raise InvalidRequest(f"A {registered.noun.value} has no endpoint to test.")
        case _:
            assert_never(registered.noun)


def _log_of(
    report: ToolTest | McpServerTest | EnvironmentTestResult,
    calls: Sequence[EnvironmentExchange] = (),
) -> TestLog:
    return TestLog(report.passed, report.duration_ms / 1000, report.checks, calls)


async def _test_server(visitor: Visitor, registered: RegisteredVersion) -> TestLog:
    """Lists the MCP server of a tool. It calls no tool, since a call may change something."""
    _, (server,) = by_server([await visitor.services.tools().usable(registered)])
    sent = McpServerSpec.model_validate(server)
    return _log_of(await visitor.services.mcp_tests().test(RunMcpServerTest(server=sent)))


async def _test_grader(
    visitor: Visitor, registered: RegisteredVersion, *, answer: str, item: str
) -> TestLog:
    grader = await visitor.services.graders().config(registered.id)
    trial = await visitor.services.trials().run_grader(
        grader, model_sample=answer, sample=None, item=_item(item), trace_id=None
    )
    result = trial.result
    raised = result.errors.raised
    detail = result.errors.details or (", ".join(raised) if raised else "The answer was scored.")
    checks = [CheckResult("score", "failed" if raised else "passed", detail), *_parts(result)]
    score = None if raised else result.score
    return TestLog(not raised, trial.elapsed_s, tuple(checks), score=score)


def _parts(result: Any) -> Iterator[CheckResult]:
    if result.reason is not None:
        yield CheckResult("reason", "passed", result.reason)
    for name, score in result.sub_scores.items():
        child = result.children.get(name)
        reason = "" if child is None or child.reason is None else f": {child.reason}"
        yield CheckResult(name, "passed", f"{score:.6g}{reason}")


def _item(sent: str) -> dict[str, Any]:
    if not sent.strip():
        return {}
    try:
        item = read_json(sent.encode("utf-8", "surrogatepass"))
    except UnusableJson as problem:
        message = f"The row is not JSON that can be read: {problem}."
        raise InvalidRequest(message, param="item") from problem
    if not isinstance(item, dict):
        raise InvalidRequest("The row is JSON, but not an object.", param="item")
    return item


_TOOL_CURVES: Final = (
    ("calls", "Calls", "mean a rollout", "calls_mean"),
    ("errors", "Errors", "calls a step", "errors"),
    ("latency", "Latency", "mean s a call", "latency_s_mean"),
)
UseCurve = tuple[str, str, str, str]
"""Id, title and unit of a chart, and the name of its curve."""
_CURVES: Final[Mapping[Noun, tuple[UseCurve, ...]]] = {
    Noun.GRADER: (("errors", "Errors", "share of answers", names.GRADER_ERROR_SHARE),),
    Noun.ENVIRONMENT: (
        ("calls", "Steps", "mean a rollout", names.ENVIRONMENT_STEPS_MEAN),
        ("errors", "Errors", "calls a step", names.ENVIRONMENT_ERRORS),
        ("latency", "Latency", "mean s a step", names.ENVIRONMENT_LATENCY_MEAN),
    ),
}


def use_curves(registered: RegisteredVersion) -> tuple[UseCurve, ...]:
    """Only curves of a tool have its name in theirs: a job has one grader or environment."""
    if registered.noun is Noun.TOOL:
        return tuple(
            (chart, title, unit, names.tool_metric(registered.name, metric))
            for chart, title, unit, metric in _TOOL_CURVES
        )
    return _CURVES.get(registered.noun, ())


def addresses(registered: RegisteredVersion) -> list[str]:
    return list(dict.fromkeys(_addresses(_MODELS.get(registered.noun, ()), registered.definition)))


def hosts(called: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(urlsplit(one).netloc.rpartition("@")[2] for one in called))


def users(registered: RegisteredVersion, jobs: Sequence[Job], own: Collection[str]) -> list[Job]:
    return [job for job in jobs if _uses(job, registered, own)]


_MODELS: Final[Mapping[Noun, Models]] = {
    Noun.TOOL: ToolSpec,
    Noun.GRADER: GRADER_MODELS,
    Noun.ENVIRONMENT: HttpEnvironmentSpec,
}


def _addresses(models: Models, definition: Any) -> Iterator[str]:
    for field in walk_fields(models, definition):
        if field.kind is FieldKind.ADDRESS and isinstance(field.value, str):
            yield field.value


def _uses(job: Job, registered: RegisteredVersion, own: Collection[str]) -> bool:
    used = list(_definitions(job.method.options, registered))
    if any(one.get("id") == registered.id for one in used):
        return True
    models = _MODELS.get(registered.noun, ())
    # A definition with an id is another registered object, even where both have one address.
    unnamed = (one for one in used if not one.get("id"))
    return any(address in own for one in unnamed for address in _addresses(models, one))


def _definitions(
    options: Mapping[str, Any], registered: RegisteredVersion
) -> Iterator[dict[str, Any]]:
    match registered.noun:
        case Noun.TOOL:
            for tool in options.get("tools") or ():
                if tool.get("name") == registered.name:
                    yield tool
            for server in options.get("mcp_servers") or ():
                if registered.name in (server.get("allowed_tools") or (registered.name,)):
                    yield {"name": registered.name, "server_url": server.get("server_url")}
        case Noun.GRADER | Noun.ENVIRONMENT as noun:
            yield options.get(noun.value) or {}
        case Noun.CURRICULUM | Noun.RECIPE:
            return
        case _:
            assert_never(registered.noun)


router = APIRouter(include_in_schema=False, route_class=PageRoute, prefix="/endpoints")
Kind = Literal["tools", "graders", "environments"]
_KINDS: Final[tuple[Kind, ...]] = ("tools", "graders", "environments")
_JOBS: Final = 50
"""Newest jobs that are searched for calls of an endpoint."""


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
    visitor: SignedIn, kind: Kind | None = None, after: After = None
) -> Response:
    jobs = await _newest_jobs(visitor)
    shown = _KINDS if kind is None else (kind,)
    found = {
        one: await visitor.services.endpoints(one).page(after=after if kind else None, limit=50)
        for one in shown
    }
    named = [registered for rows, _ in found.values() for registered in rows]
    curves = sorted({curve for one in named for *_, curve in use_curves(one)})
    ends = await visitor.services.curves().ends([job.id for job in jobs], curves)
    return await visitor.page(
        "endpoints.html",
        lambda: {
            "sections": [
                (one, one.capitalize(), [_listed(each, jobs, ends) for each in rows], more)
                for one, (rows, more) in found.items()
            ]
        },
        only=kind,
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


@router.get("/{kind}/{object_id}")
async def endpoint_page(kind: Kind, object_id: str, visitor: SignedIn) -> Response:
    return await _shown(visitor, kind, await visitor.services.endpoints(kind).get(object_id), None)


@router.post("/{kind}/{object_id}/test")
async def run_endpoint_test(
    request: Request, kind: Kind, object_id: str, visitor: SignedIn, form: OwnForm
) -> Response:
    """Runs the test and shows the page with its log. It ends with the browser's connection."""
    registered = await visitor.services.endpoints(kind).get(object_id)
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
    return await visitor.page(
        "endpoint.html",
        lambda: {"jobs": list(zip(jobs, job_labels(jobs), strict=True))},
        kind=kind,
        title=kind.capitalize(),
        registered=registered,
        addresses=called,
        charts=charts,
        most_jobs=COLOURS,
        searched_jobs=_JOBS,
        log=log,
        answer=answer,
        item=item or "{}",
        longest_answer=LONGEST_TEXT,
        longest_item=LONGEST_ROW,
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
