"""A run's few calls wait for an endpoint that is down, as many calls do."""

import asyncio

import pytest
from typing_extensions import override

from app.kit.egress import EgressReply, EgressRequest
from app.kit.endpoint_limits import (
    MARGIN_S,
    NO_SERVER_PATIENCE_S,
    UNKNOWN_PATIENCE_S,
    OutagePatience,
)
from app.kit.endpoint_pool import EndpointPool
from app.kit.endpoints import EndpointAnswer, EndpointFault, FaultKind
from tests.support.cases import cases
from tests.support.egress.clock import VirtualClock
from tests.support.egress.timed_egress import OK, URL, TimedEgress, call, call_many, down, make

KNOWN, UNKNOWN = OutagePatience(is_known=True), OutagePatience(is_known=False)


def answered(status: int, **headers: str) -> tuple[EgressReply, float]:
    return EgressReply(status, headers, b"", 0.0), 0.05


@cases(
    ("calls", "status", "lasts_s"),
    [(1, None, 300), (15, None, 300), (8, 503, 40)],
)
async def test_an_outage_within_the_patience_loses_none_of_few_calls(
    calls: int, status: int | None, lasts_s: float
) -> None:
    def serve(now: float, _: int) -> tuple[EgressReply, float]:
        if not 5 <= now < 5 + lasts_s:
            return OK, 0.5
        return down() if status is None else answered(status)

    async with VirtualClock().running() as clock:
        endpoint, egress = make(clock, serve, outages=UNKNOWN)
        await call(endpoint, 99)
        await clock.sleep(10)
        results = await call_many(endpoint, calls)
        assert all(isinstance(result, EndpointAnswer) for result in results)
        assert 5 + lasts_s <= clock.now() < 40 + lasts_s
        assert len(egress.sent_at) < 2 * calls + 20, "one of them probes at a time"


@cases(("outages", "ends"), [(KNOWN, 600), (UNKNOWN, UNKNOWN_PATIENCE_S)], ids=["known", "unknown"])
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


async def test_one_caller_looks_once_more_when_the_patience_ends() -> None:
    async with VirtualClock().running() as clock:
        back_at = UNKNOWN_PATIENCE_S - 1  # no probe would be due before the end
        endpoint, _ = make(
            clock, lambda now, _: down() if now < back_at else (OK, 0.5), outages=UNKNOWN
        )
        results = await call_many(endpoint, 8)
        assert all(isinstance(result, EndpointAnswer) for result in results)
        assert not endpoint.state().never_came_up


@cases(("outages", "due"), [(KNOWN, 120), (UNKNOWN, UNKNOWN_PATIENCE_S - MARGIN_S)])
async def test_the_wait_for_a_dead_endpoint_is_that_of_the_oldest_call(
    outages: OutagePatience, due: float
) -> None:
    async with VirtualClock().running() as clock:
        pool = EndpointPool(
            TimedEgress(clock, down), timeout_s=600, max_retries=3, outages=outages, clock=clock
        )
        calls = asyncio.create_task(call_many(pool.endpoint(URL), 3))
        await clock.sleep(5)
        late = asyncio.create_task(call(pool.endpoint(URL), 9))
        await clock.sleep(due - 5 - 1)
        assert pool.overdue_s(120) is None
        await clock.sleep(2)
        assert pool.overdue_s(120) == pytest.approx(due + 1, abs=1)
        await asyncio.gather(calls, late, return_exceptions=True)
        (state,) = pool.states()
        assert state.never_came_up is (outages is UNKNOWN)


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
    async def send(self, request: EgressRequest) -> EgressReply:
        reply = await super().send(request)
        number = int(request.headers["webhook-id"].removeprefix("call_"))
        return EgressReply(502, {}, b"", 0.0) if number % 8 < self.poison else reply


@cases("poison", [1, 2])
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


@cases("retries", [0, 10])
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


@cases(
    "reply",
    [answered(500), answered(503, **{"retry-after": "1"}), answered(504)],
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


class Late(Poisoned):
    """Its faults come after the answers to the other calls."""

    poison = 2

    @override
    async def send(self, request: EgressRequest) -> EgressReply:
        number = int(request.headers["webhook-id"].removeprefix("call_"))
        if number < self.poison:
            await self.clock.sleep(1)
            return EgressReply(502, {}, b"", 0.0)
        return await TimedEgress.send(self, request)


@cases("gap_s", [0, 600])
@cases("latency_s", [0.2, 30])
async def test_late_faults_of_two_requests_cost_the_next_step_nothing(
    gap_s: float, latency_s: float
) -> None:
    async with VirtualClock().running() as clock:
        slow = False
        egress = Late(clock, lambda *_: (OK, latency_s if slow else 0.2))
        pool = EndpointPool(egress, timeout_s=600, max_retries=3, outages=KNOWN, clock=clock)
        endpoint = pool.endpoint(URL)
        results = await call_many(endpoint, 8)
        assert sum(isinstance(result, EndpointFault) for result in results) == 2
        assert clock.now() < NO_SERVER_PATIENCE_S + 60
        await clock.sleep(gap_s)
        slow = True
        after = await asyncio.gather(*(call(endpoint, number) for number in range(8, 16)))
        assert len(after) == 8


async def test_one_call_after_another_is_no_outage_of_a_server() -> None:
    async with VirtualClock().running() as clock:
        endpoint, _ = make(clock, lambda *_: answered(502), outages=KNOWN)
        for number in range(2):
            with pytest.raises(EndpointFault):
                await call(endpoint, number)
        assert clock.now() < 30


async def test_calls_that_wait_for_a_slot_are_no_evidence_that_is_missing() -> None:
    async with VirtualClock().running() as clock:
        endpoint, _ = make(
            clock, lambda now, _: answered(502) if now < 40 else (OK, 0.2), outages=KNOWN
        )
        endpoint.slots.refused(2)
        results = await call_many(endpoint, 8)
        assert all(isinstance(result, EndpointAnswer) for result in results)
