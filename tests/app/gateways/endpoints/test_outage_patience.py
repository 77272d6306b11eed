"""A run's few calls wait for an endpoint that is down, as many calls do."""

import asyncio
from collections.abc import Mapping

import pytest
from typing_extensions import override

from app.gateways.egress.egress import EgressReply
from app.gateways.endpoints.calls import EndpointAnswer, EndpointFault, FaultKind
from app.gateways.endpoints.limits import UNKNOWN_PATIENCE_S, OutagePatience
from app.gateways.endpoints.pool import EndpointPool
from tests.support.egress.clock import VirtualClock
from tests.support.egress.timed_egress import OK, URL, TimedEgress, call, call_many, down, make

KNOWN, UNKNOWN = OutagePatience(is_known=True), OutagePatience(is_known=False)


def answered(status: int, **headers: str) -> tuple[EgressReply, float]:
    return EgressReply(status, headers, b"", 0.0), 0.05


@pytest.mark.parametrize(
    ("calls", "status"), [(1, None), (8, None), (15, None), (2, 502), (8, 503), (15, 502)]
)
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


class Poisoned(TimedEgress):
    """Answers one kind of call by a fault of a server that it makes fail, and others at once."""

    poison = 1

    @override
    async def post(
        self, url: str, *, headers: Mapping[str, str], body: bytes, timeout_s: float
    ) -> EgressReply:
        reply = await super().post(url, headers=headers, body=body, timeout_s=timeout_s)
        number = int(headers["webhook-id"].removeprefix("call_"))
        return EgressReply(502, {}, b"", 0.0) if number % 8 < self.poison else reply


@pytest.mark.parametrize("poison", [1, 2])
async def test_requests_that_make_their_server_fail_stall_no_step(poison: int) -> None:
    async with VirtualClock().running() as clock:
        egress = Poisoned(clock, lambda *_: (OK, 0.2))
        egress.poison = poison
        pool = EndpointPool(egress, timeout_s=600, max_retries=3, outages=KNOWN, clock=clock)
        endpoint = pool.endpoint(URL)
        for step in range(8):
            numbers = range(8 * step, 8 * step + 8)
            results = await asyncio.gather(
                *(call(endpoint, number) for number in numbers), return_exceptions=True
            )
            assert sum(isinstance(result, EndpointFault) for result in results) == poison
        assert clock.now() < 60


async def test_an_error_of_a_server_that_is_back_uses_up_the_attempts() -> None:
    async with VirtualClock().running() as clock:
        endpoint, _ = make(
            clock, lambda now, _: down() if now < 30 else answered(500), outages=KNOWN
        )
        results = await call_many(endpoint, 8)
        assert {result.kind for result in results} == {FaultKind.ERROR}
        assert clock.now() < 300


@pytest.mark.parametrize("retries", [0, 10])
async def test_probes_use_up_no_attempts_however_many_there_are(retries: int) -> None:
    async with VirtualClock().running() as clock:
        egress = TimedEgress(clock, lambda now, _: down() if now < 60 else (OK, 0.2))
        pool = EndpointPool(
            egress, timeout_s=600, max_retries=retries, outages=UNKNOWN, clock=clock
        )
        results = await call_many(pool.endpoint(URL), 8)
        assert all(isinstance(result, EndpointAnswer) for result in results)
        lasting = TimedEgress(clock, down)
        pool = EndpointPool(
            lasting, timeout_s=600, max_retries=retries, outages=UNKNOWN, clock=clock
        )
        started = clock.now()
        await call_many(pool.endpoint(URL), 8)
        assert clock.now() - started < UNKNOWN_PATIENCE_S + 15


@pytest.mark.parametrize(
    "reply",
    [
        answered(500),
        answered(503, **{"retry-after": "1"}),
        answered(504),
    ],
    ids=["error", "overloaded", "slow"],
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
