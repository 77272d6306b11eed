"""Measures the latency of a tool at a given rate: calls start on time, even if earlier ones are
still running.

Owns the pacing and the percentiles. Must not know the content of replies.
"""

import asyncio
import math
import time
from collections.abc import Set as AbstractSet
from typing import Final, assert_never

from app.domain.tools.contract import MAX_PACED_S, CheckResult
from app.domain.tools.outcome import ToolOutcome
from app.domain.tools.rates import declared_rate
from app.gateways.endpoints.calls import EndpointFault
from app.services.registry.contracts.tool_contract import ContractTest

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
        match result:
            case ToolOutcome() as outcome:
                answered.append(1000 * outcome.latency_s)
            case EndpointFault() as fault:
                faults.add(fault.message)
            case _:
                assert_never(result)

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
    """Returns the smallest value such that at least `share` of all values are not greater (nearest
    rank).
    """
    if not ordered:
        return None
    return round(ordered[max(0, math.ceil(share * len(ordered)) - 1)], 2)
