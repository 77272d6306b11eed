"""Endpoints that are down: how long calls wait, and when the circuit breaker opens and closes."""

import asyncio

from typing_extensions import override

from app.kit.egress import EgressReply, EgressRequest
from app.kit.endpoint_limits import Breaker
from app.kit.endpoint_pool import EndpointPool, EndpointState, Outage
from app.kit.endpoints import EndpointAnswer, EndpointFault, FaultKind
from tests.support.egress.clock import VirtualClock
from tests.support.egress.timed_egress import OK, URL, TimedEgress, call, call_many, down, make


async def test_a_minute_of_outage_is_waited_out_and_loses_no_call() -> None:
    def serve(now: float, _: int) -> tuple[EgressReply, float]:
        return down() if 5 <= now < 65 else (OK, 0.5)

    async with VirtualClock().running() as clock:
        endpoint, egress = make(clock, serve)
        numbers = iter(range(100_000))
        faults: list[EndpointFault] = []

        async def rollout() -> None:
            for _ in range(10):
                try:
                    await call(endpoint, next(numbers))
                except EndpointFault as fault:
                    faults.append(fault)
                await clock.sleep(1)

        await asyncio.gather(*(rollout() for _ in range(100)))
        assert faults == []
        during = [at for at in egress.sent_at if 10 <= at < 65]
        assert len(during) < 150  # without the breaker: thousands
        assert clock.now() < 150


async def test_a_lasting_outage_ends_for_all_within_one_deadline() -> None:
    async with VirtualClock().running() as clock:
        endpoint, egress = make(clock, down)
        results = await call_many(endpoint, 512)
        assert {result.kind for result in results} == {FaultKind.UNREACHABLE}
        assert clock.now() <= 660
        started = clock.now()
        results = await call_many(endpoint, 512)
        assert {result.kind for result in results} == {FaultKind.UNREACHABLE}
        assert clock.now() - started < 60
        assert len(egress.sent_at) < 512
        assert (endpoint.slots.taken, endpoint.breaker.is_open) == (0, True)


async def test_a_black_hole_ends_as_timeout() -> None:
    async with VirtualClock().running() as clock:
        endpoint, _ = make(clock, lambda *_: (OK, 1e9))
        results = await call_many(endpoint, 200)
        assert {result.kind for result in results} == {FaultKind.TIMEOUT}
        assert clock.now() <= 1300


async def test_an_endpoint_that_returns_after_all_is_used_again() -> None:
    async with VirtualClock().running() as clock:
        endpoint, _ = make(clock, lambda now, _: down() if now < 2000 else (OK, 0.1))
        await call_many(endpoint, 50)
        await clock.sleep(2000)
        results = await call_many(endpoint, 50)
        assert sum(isinstance(result, EndpointAnswer) for result in results) >= 49
        assert not endpoint.breaker.is_open


class PickyEgress(TimedEgress):
    """Answers 500 to every third call, on each of its attempts."""

    @override
    async def send(self, request: EgressRequest) -> EgressReply:
        reply = await super().send(request)
        broken = int(request.headers["webhook-id"].removeprefix("call_")) % 3 == 0
        return EgressReply(500, {}, b"", 0.0) if broken else reply


async def test_a_tool_that_fails_for_some_calls_for_ever_does_not_stall_a_step() -> None:
    async with VirtualClock().running() as clock:
        egress = PickyEgress(clock, lambda *_: (OK, 0.05))
        pool = EndpointPool(egress, timeout_s=600, max_retries=3, clock=clock)
        endpoint = pool.endpoint(URL)
        for _ in range(10):
            results = await call_many(endpoint, 120)
            assert sum(isinstance(result, EndpointFault) for result in results) == 40
            assert not endpoint.breaker.is_open
        assert clock.now() < 60


async def test_the_breaker_lets_one_probe_and_replaces_a_probe_that_gave_up() -> None:
    async with VirtualClock().running() as clock:
        breaker = Breaker(clock, patience_s=600)
        for number in range(16):
            breaker.failed(f"late_{number}", counts=False)
            assert not breaker.is_open
            breaker.failed(f"call_{number}", counts=True)
        assert breaker.is_open
        assert await breaker.wait_to_send("first", deadline=600)
        assert clock.now() == 1
        waiting = asyncio.create_task(breaker.wait_to_send("second", deadline=600))
        await asyncio.sleep(0)
        breaker.abandoned("first")
        assert await waiting
        breaker.failed("second", counts=True)
        assert await breaker.wait_to_send("third", deadline=600)
        assert clock.now() == 3
        assert not await breaker.wait_to_send("fourth", deadline=10)
        assert breaker.answered()
        assert await breaker.wait_to_send("fifth", deadline=600)


async def test_an_endpoint_that_hangs_is_silent_after_a_minute() -> None:
    async with VirtualClock().running() as clock:
        endpoint, _ = make(clock, lambda now, _: (OK, 1e9 if now < 300 else 1.0))
        calls = asyncio.create_task(call_many(endpoint, 3))
        await clock.sleep(59)
        assert endpoint.state() == EndpointState("tool.example/", 0, None)
        await clock.sleep(2)
        outage = endpoint.state().outage
        assert outage == Outage(61, rollouts=1, gives_up_in_s=539, last_fault=None)
        calls.cancel()
        await clock.sleep(300)
        assert endpoint.state().outage is None  # nothing waits any more


async def test_an_open_breaker_is_an_outage_until_all_calls_give_up() -> None:
    async with VirtualClock().running() as clock:
        endpoint, _ = make(clock, down)
        calls = asyncio.create_task(call_many(endpoint, 20))
        await clock.sleep(10)
        outage = endpoint.state().outage
        assert outage is not None
        assert (outage.rollouts, outage.last_fault) == (1, "connection refused")
        assert (outage.silent_s, outage.gives_up_in_s) == (10, 590)
        await calls
        assert endpoint.state().outage is None


async def test_calls_in_the_queue_of_a_declared_rate_are_no_outage() -> None:
    async with VirtualClock().running() as clock:
        endpoint, _ = make(clock, lambda *_: (OK, 0.1), rate_limit=0.01)
        calls = asyncio.create_task(call_many(endpoint, 4))
        await clock.sleep(95)
        assert endpoint.state().outage is None
        calls.cancel()
