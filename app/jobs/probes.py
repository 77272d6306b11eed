"""Asks each address of a create call once, and tries its graders: those with an address on one
answer, python graders on a few rows.

A grader's failure is an error only if no answer could avoid it: code that expects a format which
the tried answers lack gets a warning.
"""

import asyncio
import re
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import islice
from typing import Any, Final

from pydantic import ValidationError

from app.files.datasets import grader_item
from app.graders.definitions import is_used, unused_paths
from app.graders.grader_model import GraderModel, graders_in
from app.graders.kinds.python import RETURNED, PythonGrader, PythonScorer
from app.graders.scorer import (
    BAD_SCORE,
    BEYOND,
    BoundedScorer,
    GradeRequest,
    GradingPorts,
    ScoreFault,
    Scorer,
    text_sample,
)
from app.jobs.call_checks import CalledAddress, called_addresses
from app.jobs.preflight import EndpointCheck, SampleRow
from app.jobs.reinforcement import MAX_TOOLS, ReinforcementMethod
from app.kit.egress import Egress, EgressFailure, EgressRequest, check_headers
from app.kit.endpoint_pool import EndpointPool
from app.kit.endpoints import CallSigner, EndpointFault, FaultKind
from app.kit.errors import ENDPOINT_UNAVAILABLE, EndpointRefused, PreflightIssue, first_fault
from app.kit.fields import parameter, value_of
from app.kit.http import is_client_error
from app.kit.ids import new_id
from app.kit.replies import CREDENTIALS_REFUSED, WRONG_ADDRESS
from app.tools.environment_calls import (
    CallRefused,
    EnvironmentCall,
    close_body,
    may_have_begun,
    read_close,
    read_reset,
    reset_body,
)
from app.tools.environments import PARAM, is_graded_by
from app.tools.mcp_listings import SERVERS, ListingFault, clashes, functions_of
from app.tools.mcp_servers import MAX_MCP_SERVERS, McpServerSpec, McpTool
from app.tools.tool_calls import UNREADABLE_ARGUMENTS, ToolCall, call_tool, unread_status
from app.tools.tools import new_trace_id

NOT_FOUND: Final = "environment_not_found"
REFUSES: Final = "environment_refuses"
_MISSING: Final = frozenset({404, 405, 410})
_TASK: Final = {"messages": [{"role": "user", "content": "This is a test."}]}
_TIMEOUT_S: Final = 10.0
_CLOSE_LIMIT_S: Final = 5.0


def _issue(called: CalledAddress, status: int) -> PreflightIssue | None:
    if status in _MISSING:
        message = (
            f"{called.name}: answers {status} to 'reset', so that every rollout would be lost; "
            "check the path of its address"
        )
        return PreflightIssue("error", NOT_FOUND, message, called.param)
    if not is_client_error(status):
        return None
    message = (
        f"{called.name}: answers {status} to the 'reset' of a test. A job whose rows it refuses "
        "too loses every rollout: check its path and headers, or try one of its tasks with "
        "POST /v1/environments/{id}/test."
    )
    return PreflightIssue("warning", REFUSES, message, called.param)


def _every_call(called: CalledAddress, answered: str) -> PreflightIssue:
    message = (
        f"Every call of `{called.name}` would be {answered}, as the call of a test was. Check its "
        "address and headers; POST /v1/fine_tuning/alpha/tool/run calls it with your arguments."
    )
    return PreflightIssue("error", ENDPOINT_UNAVAILABLE, message, called.param)


_TOOLS: Final = "method.reinforcement.tools["
_PROBES: Final = 8
MAX_ADDRESSES: Final = 128
"""Limit for one call, so that the service cannot be used to scan addresses."""
_SERVER_FAULT: Final = 500
_NOT_IMPLEMENTED: Final = 501
_UNCALLED: Final = "not asked: the formula does not use this part"


LISTING_LIMIT_S: Final = 20.0


@dataclass(frozen=True, slots=True)
class ListedServers:
    endpoints: tuple[EndpointCheck, ...] = ()
    issues: tuple[PreflightIssue, ...] = ()
    functions: tuple[dict[str, Any], ...] = ()


_Probed = tuple[EndpointCheck, list[PreflightIssue]]


class EndpointProbes:
    def __init__(self, egress: Egress, signer: CallSigner) -> None:
        self._egress = egress
        self._signer = signer

    async def ask(self, called: list[CalledAddress]) -> list[_Probed]:
        slots = asyncio.Semaphore(_PROBES)

        async def check(address: CalledAddress) -> _Probed:
            async with slots:
                return await self._probe(address)

        return await asyncio.gather(*(check(address) for address in called))

    async def _probe(self, called: CalledAddress) -> _Probed:
        def missed(code: str, detail: str, *, param: str = called.param) -> _Probed:
            check = EndpointCheck(called.param, called.name, False, None, None, detail)
            message = f"{called.name}: {detail}"
            return check, [PreflightIssue("error", code, message, param)]

        try:
            check_headers(called.headers)
        except EndpointRefused as error:
            headers = f"{called.param.rpartition('.')[0]}.headers"
            return missed("endpoint_not_allowed", str(error), param=headers)
        try:
            await self._egress.check_url(called.url)
            if not called.is_used:
                return EndpointCheck(called.param, called.name, False, None, None, _UNCALLED), []
            reply = await self._egress.send(
                EgressRequest(called.url, called.headers, b"", timeout_s=_TIMEOUT_S, method="HEAD")
            )
        except EndpointRefused as error:
            return missed("endpoint_not_allowed", str(error))
        except EgressFailure as error:
            return missed("endpoint_unreachable", str(error))
        check = EndpointCheck(
            called.param, called.name, True, reply.status, round(1000 * reply.latency_s, 1), None
        )
        # A server that takes only POST answers HEAD with a 4xx or a 501: it is there, which is the
        # question.
        if reply.status < _SERVER_FAULT or reply.status == _NOT_IMPLEMENTED:
            return await self._begun(called, check)
        message = f"{called.name} answers {reply.status} to a HEAD request."
        return check, [PreflightIssue("warning", "endpoint_failing", message, called.param)]

    async def _begun(self, called: CalledAddress, check: EndpointCheck) -> _Probed:
        """Calls an environment and a tool, which tells more than HEAD; no other address."""
        issue: PreflightIssue | None = None
        if called.param == f"{PARAM}.url":
            issue = await self._refused_reset(called)
        elif called.param.startswith(_TOOLS):
            issue = await self._refused_call(called)
        if issue is None:
            return check, []
        if issue.severity == "error":
            check = EndpointCheck(called.param, called.name, False, None, None, issue.message)
        return check, [issue]

    async def _refused_reset(self, called: CalledAddress) -> PreflightIssue | None:
        pool = EndpointPool(self._egress, timeout_s=_TIMEOUT_S, max_retries=0)
        endpoint, rollout_id = pool.endpoint(called.url), new_id("trace_")
        reset = EnvironmentCall(
            reset_body(rollout_id, _TASK, seed=0), new_id("episode_"), rollout_id
        )
        read = partial(read_reset, before=_TASK["messages"])
        episode_id: str | None = None
        try:
            begun = await endpoint.call(reset.request(called.headers), read, signer=self._signer)
            episode_id = begun.value.episode_id
        except CallRefused as refused:
            return _issue(called, refused.status)
        except EndpointFault as fault:  # the path is there
            if not may_have_begun(fault):
                return None
        body = close_body(rollout_id, episode_id, done=False)
        close = EnvironmentCall(body, new_id("episode_"), rollout_id)
        with suppress(EndpointFault, TimeoutError):  # its answer changes nothing
            async with asyncio.timeout(_CLOSE_LIMIT_S):
                await endpoint.call(close.request(called.headers), read_close, signer=self._signer)
        return None

    async def _refused_call(self, called: CalledAddress) -> PreflightIssue | None:
        """A tool can do nothing with arguments that are no JSON, and answers them as it may: only
        what every call would meet is reported.
        """
        pool = EndpointPool(self._egress, timeout_s=_TIMEOUT_S, max_retries=0)
        call = ToolCall(
            called.name, UNREADABLE_ARGUMENTS, new_id("call_"), new_id("fc_"), new_trace_id()
        )
        request = call.request(called.headers)
        try:
            outcome = await call_tool(pool.endpoint(called.url), request, signer=self._signer)
        except EndpointFault as fault:
            if fault.status in CREDENTIALS_REFUSED:
                return _every_call(called, fault.message)
            if fault.kind is FaultKind.ERROR:  # it cannot read the arguments
                return None
            message = f"{called.name}: a call whose arguments are no JSON failed: {fault.message}."
            return PreflightIssue("warning", "endpoint_failing", message, called.param)
        status = unread_status(outcome.output, outcome.error)
        return _every_call(called, f"answered {status}") if status in WRONG_ADDRESS else None

    async def listed(self, method: dict[str, Any]) -> ListedServers:
        inner = method.get("reinforcement")
        sent = inner.get("mcp_servers") if isinstance(inner, dict) else None
        servers = _readable(sent)
        if not servers:
            return ListedServers()
        await asyncio.to_thread(import_module, "app.tools.mcp_discovery")
        from app.tools.mcp_discovery import JobListing, list_job_tools  # noqa: PLC0415 - its library takes a second

        endpoints = EndpointPool(self._egress, timeout_s=LISTING_LIMIT_S, max_retries=0)

        async def timed(index: int, server: McpServerSpec) -> tuple[JobListing, float]:
            started = time.monotonic()
            found = await list_job_tools(
                server, index, endpoints, self._signer, within_s=LISTING_LIMIT_S
            )
            return found, round(1000 * (time.monotonic() - started), 1)

        answers = await asyncio.gather(*(timed(index, server) for index, server in servers))
        listings = [listing for listing, _ in answers]
        faults = [fault for listing in listings for fault in listing.faults]
        chosen: list[tuple[str, tuple[McpTool, ...]]] = [("", ())] * (servers[-1][0] + 1)
        for (index, server), each in zip(servers, listings, strict=True):
            if each.listing is not None:
                chosen[index] = (server.server_label, each.listing.tools)
        together = list(clashes(chosen, _names(inner), most=MAX_TOOLS))
        faults += together
        # Tools that no job can offer are not measured: they may be too large for that.
        offered = [] if together else [each.listing for each in listings]
        issues = (PreflightIssue("error", one.code, one.message, one.param) for one in faults)
        checks = (
            _check(index, server, listing.faults, latency_ms)
            for (index, server), (listing, latency_ms) in zip(servers, answers, strict=True)
        )
        return ListedServers(tuple(checks), tuple(issues), tuple(functions_of(offered)))


def first_addresses(method: dict[str, Any], issues: list[PreflightIssue]) -> list[CalledAddress]:
    addresses = called_addresses(method)
    if len(addresses) > MAX_ADDRESSES:
        message = f"Only the first {MAX_ADDRESSES} addresses were probed."
        issues.append(
            PreflightIssue("warning", "endpoints_not_probed", message, "method.reinforcement")
        )
    return addresses[:MAX_ADDRESSES]


def _readable(sent: Any) -> list[tuple[int, McpServerSpec]]:
    """Ignores a `listing` in the request, which another check refuses."""
    servers = []
    for index, server in enumerate(sent[:MAX_MCP_SERVERS] if isinstance(sent, list) else ()):
        try:
            read = McpServerSpec.model_validate(server)
        except ValidationError:
            continue
        unlisted = read.model_copy(update={"listing": None, "listing_summary": None})
        servers.append((index, unlisted))
    return servers


def _names(inner: Any) -> list[str]:
    tools = inner.get("tools")
    names = [
        tool.get("name") if isinstance(tool, dict) else None
        for tool in (tools if isinstance(tools, list) else ())
    ]
    return [name for name in names if isinstance(name, str)]


def _check(
    index: int, server: McpServerSpec, faults: Sequence[ListingFault], latency_ms: float
) -> EndpointCheck:
    param = f"{SERVERS}[{index}].server_url"
    down = next((fault for fault in faults if fault.param == param), None)
    if down is None:
        return EndpointCheck(param, server.server_label, True, None, latency_ms, None)
    return EndpointCheck(param, server.server_label, False, None, None, down.message)


ROWS: Final = 5
MAX_GRADERS: Final = 4
_AT_ONCE: Final = 2
_LIMIT_S: Final = 30.0
_ANSWER_LIMIT_S: Final = 10.0
_MAX_TEXT: Final = 2000
_OWN_TEXTS: Final = 2
_SHOWN_LINES: Final = 5
_ANSWERS: Final = ("The answer is 42.", "42", '{"answer": "42"}', '["42"]', "")
_OF_THE_CODE: Final = ("ImportError", "ModuleNotFoundError", "NameError", "SyntaxError")
"""Exceptions that are faults of the code if every answer raises the same one."""
_NO_SCORE: Final = (RETURNED, BEYOND)
_KEY_ERROR: Final = re.compile(r"KeyError: '([^'\\]+)'")
_TRY: Final = "try it on an answer with POST /v1/fine_tuning/alpha/graders/run"
_ROOT: Final = "method.reinforcement"


@dataclass(frozen=True, slots=True)
class _Failure:
    row: SampleRow
    texts: tuple[str, ...]
    is_certain: bool


class GraderTries:
    def __init__(self, grading: GradingPorts) -> None:
        self._grading = grading

    async def issues(
        self,
        method: ReinforcementMethod,
        rows: Sequence[SampleRow],
        *,
        reported: Collection[str | None],
    ) -> list[PreflightIssue]:
        """Leaves out graders of which a part is `reported`."""
        if not rows:
            return []
        unused = await asyncio.to_thread(unused_paths, method)
        used = [
            (parameter(_ROOT, path), grader)
            for path, grader in graders_in(method)
            if is_used(path, unused)
        ]
        own = method.environment is None or not is_graded_by(method.environment, method.grader)
        asked = [
            (param, grader)
            for param, grader in used
            if own
            and (value_of(grader, "url") or value_of(grader, "base_url"))
            and not grader.compares_rollouts
            and not any(fault and f"{fault}.".startswith(f"{param}.") for fault in reported)
        ]
        answered = await asyncio.gather(
            *(self._asked(param, grader, rows[0]) for param, grader in asked[:MAX_GRADERS])
        )
        programs = await self._programs(used, rows, reported)
        return [issue for issue in (*answered, *programs) if issue is not None]

    async def _asked(
        self, param: str, grader: GraderModel, row: SampleRow
    ) -> PreflightIssue | None:
        item = grader_item(row.item)
        answer = next(_own_texts(row.item), _ANSWERS[0])
        request = GradeRequest(
            sample=text_sample(answer), item=item, trace_id=new_trace_id(), call_id=new_id("grade_")
        )
        try:
            async with asyncio.timeout(_ANSWER_LIMIT_S):
                scorer = await asyncio.to_thread(grader.scorer, self._grading, source=param)
                await BoundedScorer(scorer, source=param).score(request)
        except (ScoreFault, TimeoutError) as fault:
            late = f"no answer in {_ANSWER_LIMIT_S:g} s"
            said = fault.message if isinstance(fault, ScoreFault) else late
            if _status_of(fault) in WRONG_ADDRESS | CREDENTIALS_REFUSED:
                message = (
                    f"No call of '{param}' would be graded, as one answer to the first row was "
                    f"not: {said}. Check its address and headers."
                )
                return PreflightIssue("error", ENDPOINT_UNAVAILABLE, message, param, row.line)
            message = (
                f"'{param}' gave no score for one answer to the first row: {said}. A rollout that "
                "it fails on is lost, not graded 0: check its address, its headers and what it "
                "returns"
            )
            return PreflightIssue("warning", "grader_fails", message, param, row.line)
        return None

    async def _programs(
        self,
        used: Sequence[tuple[str, GraderModel]],
        rows: Sequence[SampleRow],
        reported: Collection[str | None],
    ) -> list[PreflightIssue | None]:
        programs = ((at, one) for at, one in used if isinstance(one, PythonGrader))
        sources = ((f"{param}.source", grader) for param, grader in islice(programs, MAX_GRADERS))
        tried = [found for found in sources if found[0] not in reported]
        try:
            async with asyncio.timeout(_LIMIT_S):
                return [await self._issue(param, grader, rows) for param, grader in tried]
        except TimeoutError:
            message = (
                f"The python graders had no score for all {len(rows)} rows that were tried within "
                f"{_LIMIT_S:g} s; {_TRY}."
            )
            return [PreflightIssue("warning", "grader_not_tried", message, tried[0][0])]

    async def _issue(
        self, param: str, grader: PythonGrader, rows: Sequence[SampleRow]
    ) -> PreflightIssue | None:
        slots = asyncio.Semaphore(_AT_ONCE)
        scorer = BoundedScorer(
            PythonScorer(grader, self._grading.sandbox, source=grader.name), source=grader.name
        )

        async def attempt(row: SampleRow) -> _Failure | None:
            async with slots:
                return await _failure(scorer, row)

        try:
            with first_fault():
                async with asyncio.TaskGroup() as tasks:
                    attempts = [tasks.create_task(attempt(row)) for row in rows]
        except _SandboxFailed as fault:
            message = f"The python grader '{grader.name}' was not tried: {fault}."
            return PreflightIssue("warning", "grader_not_tried", message, param)
        failures = [failure for task in attempts if (failure := task.result()) is not None]
        return _failures_issue(param, grader, failures, tried=len(rows)) if failures else None


def _status_of(error: BaseException | None) -> int | None:
    while error is not None and not isinstance(error, EndpointFault):
        error = error.__cause__
    return None if error is None else error.status


class _SandboxFailed(Exception):
    """The sandbox failed, not the grader."""


async def _failure(scorer: Scorer, row: SampleRow) -> _Failure | None:
    texts, item = [], grader_item(row.item)
    for answer in (*_ANSWERS, *islice(_own_texts(row.item), _OWN_TEXTS)):
        text = await _reason(scorer, answer, item)
        if text is None:
            return None
        texts.append(text)
    is_alike = len(set(texts)) == 1
    certain = all(text.startswith(_NO_SCORE) for text in texts) or (
        is_alike
        and (texts[0].startswith(_OF_THE_CODE) or await _lacks_field(scorer, item, texts[0]))
    )
    return _Failure(row, tuple(texts), certain)


async def _lacks_field(scorer: Scorer, item: dict[str, Any], text: str) -> bool:
    """Returns whether a KeyError is about a field of the item, which no answer can add. A key that
    is looked up in the answer's content is also missing in every generated answer.
    """
    key = _KEY_ERROR.match(text)
    if key is None or key[1] in item:
        return False
    return await _reason(scorer, _ANSWERS[0], {**item, key[1]: _ANSWERS[0]}) != text


async def _reason(scorer: Scorer, answer: str, item: dict[str, Any]) -> str | None:
    request = GradeRequest(
        sample=text_sample(answer), item=item, trace_id=new_trace_id(), call_id=new_id("grade_")
    )
    try:
        await scorer.score(request)
    except ScoreFault as fault:
        if fault.kind == BAD_SCORE:
            return fault.message
        if not fault.errors.python_grader_runtime_error:
            raise _SandboxFailed(str(fault)) from fault
        return fault.errors.python_grader_runtime_error_details or str(fault)
    return None


def _own_texts(item: dict[str, Any]) -> Iterator[str]:
    """Yields texts of the row besides its messages: one of them may be the right answer."""
    for name, value in item.items():
        if name not in ("messages", "tools") and isinstance(value, str) and len(value) < _MAX_TEXT:
            yield value


def _failures_issue(
    param: str, grader: PythonGrader, failures: Sequence[_Failure], *, tried: int
) -> PreflightIssue:
    first = failures[0]
    locations = ", ".join(f"{one.row.param} line {one.row.line}" for one in failures[:_SHOWN_LINES])
    more = ", …" if len(failures) > _SHOWN_LINES else ""
    if len(failures) == tried and all(one.is_certain for one in failures):
        message = (
            f"The python grader '{grader.name}' fails on each of the {tried} rows that were tried "
            f"({locations}{more}), whatever the answer: {first.texts[0]}. Each rollout would be "
            f"lost. Correct the source, and {_TRY}."
        )
        return PreflightIssue("error", "grader_always_fails", message, param, first.row.line)
    message = (
        f"The python grader '{grader.name}' has no score for {len(failures)} of the {tried} rows "
        f"that were tried ({locations}{more}), with none of {len(first.texts)} answers such as "
        f"{_ANSWERS[0]!r} and {_ANSWERS[2]!r}: {first.texts[-1]}. A rollout that it fails on is "
        f"lost, not graded 0. If the model may write such answers, return a score for them; {_TRY}."
    )
    return PreflightIssue("warning", "grader_fails", message, param, first.row.line)
