"""A run's few calls wait for an endpoint that is down, as many calls do."""

import asyncio

import pytest

from app.gateways.egress.egress import EgressReply
from app.gateways.endpoints.calls import EndpointAnswer, EndpointFault, FaultKind
from app.gateways.endpoints.limits import UNKNOWN_PATIENCE_S, OutagePatience
from tests.support.egress.clock import VirtualClock
from tests.support.egress.timed_egress import OK, call, call_many, down, make

KNOWN, UNKNOWN = OutagePatience(is_known=True), OutagePatience(is_known=False)


def answered(status: int, **headers: str) -> tuple[EgressReply, float]:
    return EgressReply(status, headers, b"", 0.0), 0.05


@pytest.mark.parametrize("calls", [1, 2, 8, 15])
@pytest.mark.parametrize("status", [None, 502, 503, 504])
async def test_an_outage_of_minutes_loses_none_of_few_calls(calls: int, status: int | None) -> None:
    def serve(now: float, _: int) -> tuple[EgressReply, float]:
        if not 5 <= now < 305:
            return OK, 0.5
        return down() if status is None else answered(status)

    async with VirtualClock().running() as clock:
        endpoint, egress = make(clock, serve, outages=UNKNOWN)
        await call(endpoint, 99)
        await clock.sleep(10)
        results = await call_many(endpoint, calls)
        assert all(isinstance(result, EndpointAnswer) for result in results)
        assert 305 <= clock.now() < 340
        assert len(egress.sent_at) < 2 * calls + 20, "one of them probes at a time"


async def test_few_calls_are_lost_without_patience() -> None:
    async with VirtualClock().running() as clock:
        endpoint, _ = make(clock, lambda now, _: down() if now < 60 else (OK, 0.5))
        results = await call_many(endpoint, 8)
        assert {result.kind for result in results} == {FaultKind.UNREACHABLE}
        assert clock.now() < 60


@pytest.mark.parametrize(
    ("outages", "ends"), [(KNOWN, 600), (UNKNOWN, UNKNOWN_PATIENCE_S)], ids=["known", "unknown"]
)
async def test_an_outage_without_end_is_waited_for_within_the_patience(
    outages: OutagePatience, ends: float
) -> None:
    async with VirtualClock().running() as clock:
        endpoint, _ = make(clock, down, outages=outages)
        calls = asyncio.create_task(call_many(endpoint, 3))
        await clock.sleep(20)
        outage = endpoint.state().outage
        assert outage is not None
        assert outage.silent_s + outage.gives_up_in_s == pytest.approx(ends, abs=2)
        results = await calls
        assert {result.kind for result in results} == {FaultKind.UNREACHABLE}
        assert ends - 1 <= clock.now() <= ends + 15


async def test_an_endpoint_that_answered_has_the_whole_patience() -> None:
    async with VirtualClock().running() as clock:
        endpoint, _ = make(clock, lambda now, _: (OK, 0.5) if now < 5 else down(), outages=UNKNOWN)
        await call(endpoint)
        await clock.sleep(10)
        with pytest.raises(EndpointFault):
            await call(endpoint)
        assert clock.now() > 600


@pytest.mark.parametrize(
    "reply", [answered(500), answered(503, **{"retry-after": "1"})], ids=["error", "overloaded"]
)
async def test_an_endpoint_that_is_up_uses_up_the_attempts(
    reply: tuple[EgressReply, float],
) -> None:
    async with VirtualClock().running() as clock:
        endpoint, egress = make(clock, lambda *_: reply, outages=KNOWN)
        results = await call_many(endpoint, 8)
        assert {result.attempts for result in results} == {4}
        assert (len(egress.sent_at), endpoint.breaker.is_open) == (32, False)
        assert clock.now() < 60
