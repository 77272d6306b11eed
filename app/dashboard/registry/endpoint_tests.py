"""Runs the test of a registered object, and reads its result as the lines of a log."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, assert_never

from app.dashboard.visitors import Visitor
from app.domain.environments.contract import EnvironmentPlan, EpisodeCall
from app.domain.errors import InvalidRequest
from app.domain.registry.registered_objects import Noun, RegisteredVersion
from app.domain.texts.request_bodies import UnusableJson, read_json
from app.domain.tools.contract import CallPlan, CheckReport, CheckResult
from app.domain.tools.mcp_contract import McpCallPlan
from app.domain.tools.mcp_servers import McpServerSpec
from app.domain.tools.served_tools import by_server, is_served

_CALLS: Final = 20
_CALLS_A_SECOND: Final = 10.0
"""The API's own values for a test without options."""


@dataclass(frozen=True, slots=True)
class TestLog:
    """The result of one test, which is shown once and is not stored."""

    __test__ = False

    passed: bool
    duration_s: float
    checks: tuple[CheckResult, ...]
    calls: tuple[EpisodeCall, ...] = ()
    score: float | None = None


async def run_test(
    visitor: Visitor, registered: RegisteredVersion, *, answer: str, item: str
) -> TestLog:
    """Runs the test; a grader's scores `answer` for `item`. Raises `InvalidRequest` for a row or an
    object that cannot be tested, and `RateLimited` while other tests of the project run.
    """
    match registered.noun:
        case Noun.TOOL if is_served(registered.definition):
            return await _test_server(visitor, registered)
        case Noun.TOOL:
            plan = CallPlan(None, {}, _CALLS, _CALLS_A_SECOND)
            return _log_of(await visitor.services.tools().test(registered.id, plan))
        case Noun.ENVIRONMENT:
            report = await visitor.services.environments().test(registered.id, EnvironmentPlan())
            return _log_of(report, report.exchanges)
        case Noun.GRADER:
            return await _test_grader(visitor, registered, answer=answer, item=item)
        case Noun.CURRICULUM | Noun.RECIPE:
            raise InvalidRequest(f"A {registered.noun.value} has no endpoint to test.")
        case _:
            assert_never(registered.noun)


def _log_of(report: CheckReport, calls: tuple[EpisodeCall, ...] = ()) -> TestLog:
    return TestLog(report.passed, report.duration_ms / 1000, report.checks, calls)


async def _test_server(visitor: Visitor, registered: RegisteredVersion) -> TestLog:
    """Lists the MCP server of a tool. It calls no tool, since a call may change something."""
    _, (server,) = by_server([await visitor.services.tools().usable(registered)])
    sent = McpServerSpec.model_validate(server)
    return _log_of(await visitor.services.mcp_tests().test(sent, McpCallPlan()))


async def _test_grader(
    visitor: Visitor, registered: RegisteredVersion, *, answer: str, item: str
) -> TestLog:
    """Scores one answer."""
    grader = await visitor.services.graders().config(registered.id)
    trial = await visitor.services.trials().run_grader(
        grader,
        model_sample=answer,
        sample=None,
        item=_item(item),
        trace_id=None,
    )
    result = trial.result
    raised = result.errors.raised
    detail = result.errors.details or (", ".join(raised) if raised else "The answer was scored.")
    checks = [CheckResult("score", "failed" if raised else "passed", detail), *_parts(result)]
    score = None if raised else result.score
    return TestLog(not raised, trial.elapsed_s, tuple(checks), score=score)


def _parts(result: Any) -> Iterator[CheckResult]:
    """Yields what a grader says about each of its parts, and the reason of the whole."""
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
