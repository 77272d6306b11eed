"""The contract test of a tool endpoint: its checks, each within the remaining time."""

import asyncio
import json
import math
import time
from collections.abc import Awaitable, Callable
from collections.abc import Set as AbstractSet
from functools import partial
from typing import Any, Final

from app.kit.egress import Egress, EgressReply, FailureKind
from app.kit.endpoint_pool import MAX_REQUEST_BYTES, Endpoint, EndpointPool
from app.kit.endpoints import CallSigner, EndpointFault, FaultKind
from app.kit.ids import new_id, random_text
from app.kit.redaction import Echoes
from app.tools.contracts import (
    MAX_PACED_S,
    TIME_OVER,
    CheckResult,
    Deadline,
    recording_egress,
    report_text,
    signature_check,
)
from app.tools.schemas import RunToolTest
from app.tools.tool_calls import UNREADABLE_ARGUMENTS, ToolCall, call_tool
from app.tools.tools import ToolOutcome, ToolSpec, declared_rate, sample_arguments

_GONE: Final = frozenset({FaultKind.UNREACHABLE, FaultKind.TIMEOUT, FaultKind.REFUSED})


class ContractTest:
    def __init__(
        self,
        egress: Egress,
        tool: ToolSpec,
        plan: RunToolTest,
        *,
        secret_keys: tuple[str, ...],
        project_id: str,
        call_timeout_s: float,
    ) -> None:
        self.call_timeout_s = call_timeout_s
        self.egress = recording_egress(egress, secret_keys[0], project_id)
        self.plan = plan
        self.tool = tool
        self._signer = CallSigner(*secret_keys, project_id=project_id)
        self._deadline = Deadline()
        self._echoes = Echoes(tool.headers or {}, tool.server_url)
        sent = plan.arguments
        if sent is None:
            sent = sample_arguments((tool.model_extra or {}).get("parameters"))
        self._arguments = json.dumps(sent)

    async def _seen(self, outcome: ToolOutcome) -> dict[str, Any]:
        return {"model_sees": await self._shown(outcome.output), "error": outcome.error}

    async def _shown(self, output: str) -> str:
        return report_text(await asyncio.to_thread(self._echoes.hidden_in, output))

    @property
    def remaining_s(self) -> float:
        return self._deadline.remaining_s

    def endpoint(self) -> Endpoint:
        """Returns the endpoint with a new breaker, so that no check affects the next one."""
        pool = EndpointPool(
            self.egress,
            timeout_s=max(0.001, min(self.call_timeout_s, self.remaining_s)),
            max_retries=0,
        )
        return pool.endpoint(self.tool.server_url)

    def call(self, *, name: str | None = None, arguments: str | None = None) -> ToolCall:
        return ToolCall(
            name=self.tool.name if name is None else name,
            arguments=self._arguments if arguments is None else arguments,
            call_id=new_id("call_"),
            function_call_id=new_id("fc_"),
            trace_id=new_id("trace_"),
            item=self.plan.item or {},
        )

    async def send(
        self, endpoint: Endpoint, call: ToolCall, *, is_shown: bool = True
    ) -> ToolOutcome | EndpointFault:
        """`is_shown` hides credentials in the output of an error, which takes time."""
        request = call.request(self.tool.headers)
        hidden = self._echoes.hidden_in if is_shown else str
        try:
            return await call_tool(endpoint, request, signer=self._signer, hidden=hidden)
        except EndpointFault as fault:
            return fault

    async def shape(self) -> tuple[CheckResult, bool]:
        call = self.call()
        result = await self.send(self.endpoint(), call)
        if isinstance(result, EndpointFault):
            return _failed("shape", result), result.kind not in _GONE
        return await self._shape_of(call, result), True

    async def _shape_of(self, call: ToolCall, result: ToolOutcome) -> CheckResult:
        data = await self._seen(result)
        if result.error is not None and result.error.startswith("http_"):
            text = "The reply must be 200 with JSON that has a string `output`."
            return CheckResult("shape", "failed", text, data)
        if result.error == "too_large":
            return CheckResult("shape", "warned", "The reply is larger than 1 MB.", data)
        if result.error is not None:
            text = "The tool reported an error for these arguments; send some that it accepts."
            return CheckResult("shape", "warned", text, data)
        wrong = _wrong_echo(self.egress.last_reply, call)
        if wrong is not None:
            text = f"The reply's `{wrong}` is not the call's: parallel answers would be mixed up."
            return CheckResult("shape", "failed", text, data)
        return CheckResult("shape", "passed", "JSON with a string `output`.", data)

    async def mistake(
        self, check: str, *, name: str | None = None, arguments: str | None = None
    ) -> CheckResult:
        result = await self.send(self.endpoint(), self.call(name=name, arguments=arguments))
        if isinstance(result, EndpointFault):
            return _failed(check, result)
        return _mistake_check(check, result.error, await self._seen(result))

    async def idempotency(self) -> CheckResult:
        endpoint, call = self.endpoint(), self.call()
        outputs: list[str] = []
        for _ in range(2):
            result = await self.send(endpoint, call)
            if isinstance(result, EndpointFault):
                return _failed("idempotency", result)
            outputs.append(result.output)
        data = {"outputs": [await self._shown(output) for output in outputs]}
        if outputs[0] != outputs[1]:
            text = (
                "The same call_id and Idempotency-Key got two different outputs: a retry would be "
                "run again."
            )
            return CheckResult("idempotency", "warned", text, data)
        text = "The same call_id and Idempotency-Key got the same output."
        return CheckResult("idempotency", "passed", text, data)

    async def large_request(self) -> CheckResult:
        sent = len(self.egress.exchanges)
        arguments = json.dumps({"text": "x" * MAX_REQUEST_BYTES})
        result = await self.send(self.endpoint(), self.call(arguments=arguments))
        sent_again = len(self.egress.exchanges) > sent
        if isinstance(result, EndpointFault) or result.error != "too_large" or sent_again:
            return CheckResult("request_over_1mb", "failed", "A request over 1 MB was sent.")
        text = "A request over 1 MB is answered by the service and never sent."
        return CheckResult("request_over_1mb", "passed", text, await self._seen(result))

    def large_reply(self) -> CheckResult:
        sizes = [e.reply_bytes for e in self.egress.exchanges if e.reply_bytes is not None]
        cut = sum(e.failure is FailureKind.TOO_LARGE for e in self.egress.exchanges)
        if not sizes and not cut:
            return CheckResult("reply_over_1mb", "skipped", "There was no reply to measure.")
        largest = max(sizes, default=None)
        data: dict[str, Any] = {"largest_reply_bytes": largest, "replies_over_1mb": cut}
        if cut:
            text = f"{cut} replies were larger than 1 MB: the model reads a 413 text instead."
            return CheckResult("reply_over_1mb", "warned", text, data)
        return CheckResult("reply_over_1mb", "passed", "No reply was larger than 1 MB.", data)


def _mistake_check(check: str, error: str | None, seen: dict[str, Any]) -> CheckResult:
    if error == "too_large":
        text = "The model reads that the reply is too large, not what its mistake was."
        return CheckResult(check, "warned", text, seen)
    if error is None:
        text = "Answered as if nothing were wrong: the model cannot learn from its mistake."
        return CheckResult(check, "warned", text, seen)
    return CheckResult(check, "passed", "The model reads its mistake.", seen)


def _failed(check: str, fault: EndpointFault) -> CheckResult:
    return CheckResult(
        check,
        "failed",
        f"The endpoint {fault.message}."
        if fault.message.startswith("answered")
        else f"No usable answer: {fault.message}.",
        {"kind": fault.kind.value, "status": fault.status, "model_sees": None},
    )


def _wrong_echo(reply: EgressReply | None, call: ToolCall) -> str | None:
    content = {} if reply is None else json.loads(reply.body)
    ours = {"call_id": call.call_id, "id": call.function_call_id}
    return next((key for key, value in ours.items() if content.get(key, value) != value), None)


async def run_checks(test: ContractTest) -> list[CheckResult]:
    shape, alive = await test.shape()
    checks = [shape]
    checks_by_name: dict[str, Callable[[], Awaitable[CheckResult]]] = {
        "malformed_arguments": partial(
            test.mistake, "malformed_arguments", arguments=UNREADABLE_ARGUMENTS
        ),
        "unknown_tool": partial(
            test.mistake, "unknown_tool", name=f"no_such_tool_{random_text(6)}"
        ),
        "idempotency": test.idempotency,
        "latency": partial(latency, test),
    }
    for name, check in checks_by_name.items():
        if not alive:
            checks.append(CheckResult(name, "skipped", "The first call had no answer."))
        elif test.remaining_s < 1:
            checks.append(CheckResult(name, "skipped", TIME_OVER))
        else:
            checks.append(await check())
    checks.append(await test.large_request())
    return [*checks, test.large_reply(), signature_check(test.egress.exchanges)]


_MARGIN_S: Final = 0.5


async def latency(test: ContractTest) -> CheckResult:
    """Returns the check, which passes when every call was answered; latency has no limit."""
    rate = min(test.plan.rate, declared_rate(test.tool) or math.inf)
    sendable = min(test.plan.requests, 1 + math.floor(MAX_PACED_S * rate))
    endpoint, started, late = test.endpoint(), time.monotonic(), 0.0
    tasks: list[asyncio.Task[None]] = []
    answered, faults = list[float](), set[str]()

    async def call() -> None:
        result = await test.send(endpoint, test.call(), is_shown=False)
        if isinstance(result, EndpointFault):
            faults.add(result.message)
        else:
            answered.append(1000 * result.latency_s)

    try:
        async with asyncio.timeout(max(0.0, test.remaining_s - _MARGIN_S)):
            for number in range(sendable):
                due = started + number / rate - time.monotonic()
                await asyncio.sleep(max(0.0, due))
                late = max(late, -due)
                tasks.append(asyncio.ensure_future(call()))
            await asyncio.wait(tasks, timeout=test.call_timeout_s + _MARGIN_S)
    except TimeoutError:
        pass
    finally:
        for task in tasks:
            task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return _check_of(test, sorted(answered), faults, sent=len(tasks), rate=rate, late=late)


def _check_of(
    test: ContractTest,
    answered: list[float],
    faults: AbstractSet[str],
    *,
    sent: int,
    rate: float,
    late: float,
) -> CheckResult:
    data = {
        "requests": test.plan.requests,
        "sent": sent,
        "answered": len(answered),
        "rate": rate,
        "latest_start_ms": round(1000 * late, 1),
        "p50_ms": percentile(answered, 0.50),
        "p95_ms": percentile(answered, 0.95),
        "p99_ms": percentile(answered, 0.99),
        "max_ms": percentile(answered, 1.0),
        "faults": sorted(faults),
    }
    lost = sent - len(answered)
    if lost:
        text = f"{lost} of {sent} calls at {rate:g} per second had no usable answer."
        return CheckResult("latency", "failed", text, data)
    if sent < test.plan.requests:
        text = f"Only {sent} of {test.plan.requests} calls could be sent in time."
        return CheckResult("latency", "warned", text, data)
    return CheckResult(
        "latency", "passed", f"Every call at {rate:g} per second was answered.", data
    )


def percentile(ordered: list[float], share: float) -> float | None:
    """Returns the smallest value that at least `share` of all do not exceed (nearest rank)."""
    if not ordered:
        return None
    return round(ordered[max(0, math.ceil(share * len(ordered)) - 1)], 2)
