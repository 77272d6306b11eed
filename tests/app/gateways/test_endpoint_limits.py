import asyncio
import itertools
import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from typing_extensions import override

from app.gateways.egress.egress import EgressFailure, EgressReply, FailureKind
from app.gateways.endpoints.limits import Breaker, ConcurrencySlots, Pacer
from app.gateways.endpoints.pool import (
    Answer,
    Endpoint,
    EndpointFault,
    EndpointPool,
    EndpointRequest,
    FaultKind,
)
from app.gateways.endpoints.signing import CallSigner
from tests.support.clock import VirtualClock

URL = "https://tool.example/"
SIGNER = CallSigner("a service secret key of 32 bytes and more", project_id="proj_a")
OK = EgressReply(200, {}, b"ok", 0.0)


@dataclass
class TimedEgress:
    """An endpoint in virtual time: `serve(now, in flight)` returns reply and seconds, or raises."""

    clock: VirtualClock
    serve: Callable[[float, int], tuple[EgressReply, float]]
    in_flight: int = 0
    most: int = 0
    sent_at: list[float] = field(default_factory=list)

    async def check_url(self, url: str) -> None: ...

    async def notify(
        self, url: str, *, headers: Mapping[str, str], body: bytes, timeout_s: float
    ) -> EgressReply:
        return await self.post(url, headers=headers, body=body, timeout_s=timeout_s)

    async def probe(self, url: str, *, headers: Mapping[str, str], timeout_s: float) -> EgressReply:
        return await self.post(url, headers=headers, body=b"", timeout_s=timeout_s)

    async def post(
        self,
        url: str,  # noqa: ARG002 - the protocol's
        *,
        headers: Mapping[str, str],  # noqa: ARG002 - the protocol's
        body: bytes,  # noqa: ARG002 - the protocol's
        timeout_s: float,
    ) -> EgressReply:
        self.sent_at.append(self.clock.now())
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        try:
            reply, seconds = self.serve(self.clock.now(), self.in_flight)
            await self.clock.sleep(min(seconds, timeout_s))
            if seconds > timeout_s:
                raise EgressFailure(FailureKind.TIMEOUT, "no reply")
            return reply
        finally:
            self.in_flight -= 1

    async def aclose(self) -> None: ...


def make(
    clock: VirtualClock,
    serve: Callable[[float, int], tuple[EgressReply, float]],
    *,
    rate_limit: float | None = None,
) -> tuple[Endpoint, TimedEgress]:
    egress = TimedEgress(clock, serve)
    pool = EndpointPool(
        egress, timeout_s=600, max_retries=3, clock=clock, jitter=random.Random(3).random
    )
    return pool.endpoint(URL, rate_limit=rate_limit), egress


async def call(endpoint: Endpoint, number: int = 0) -> Answer[bytes]:
    request = EndpointRequest({}, b"{}", f"call_{number}", "trace_1")
    return await endpoint.call(request, lambda reply: reply.body, signer=SIGNER)


async def call_many(endpoint: Endpoint, total: int) -> list[Any]:
    calls = (call(endpoint, number) for number in range(total))
    return await asyncio.gather(*calls, return_exceptions=True)


def down(*_: Any) -> tuple[EgressReply, float]:
    raise EgressFailure(FailureKind.UNREACHABLE, "connection refused")


def worst_second(times: list[float], width: float = 1.0) -> int:
    times = sorted(times)
    return max(sum(start <= t < start + width for t in times) for start in times)


@pytest.mark.parametrize(("rate", "total"), [(50, 512), (7.5, 60), (1, 10), (0.25, 5)])
async def test_a_declared_rate_is_kept_and_used(rate: float, total: int) -> None:
    async with VirtualClock().running() as clock:
        endpoint, egress = make(clock, lambda *_: (OK, 0.05), rate_limit=rate)
        results = await call_many(endpoint, total)
        assert all(isinstance(result, Answer) for result in results)
        assert worst_second(egress.sent_at, max(1.0, 1 / rate)) <= math.ceil(rate)
        assert clock.now() <= total / rate + 2


@pytest.mark.parametrize("rate", [5e-324, 1e308])
async def test_an_absurd_rate_lets_the_first_call_through(rate: float) -> None:
    async with VirtualClock().running() as clock:
        endpoint, egress = make(clock, lambda *_: (OK, 0.1), rate_limit=rate)
        assert isinstance((await call_many(endpoint, 1))[0], Answer)
        assert len(egress.sent_at) == 1


async def test_a_rate_slower_than_the_deadline_fails_no_call() -> None:
    async with VirtualClock().running() as clock:
        endpoint, egress = make(clock, lambda *_: (OK, 0.1), rate_limit=0.2)
        results = await call_many(endpoint, 200)  # 1,000 s at this rate, with 600 s per call
        assert all(isinstance(result, Answer) for result in results)
        assert len(egress.sent_at) == 200


async def test_the_pace_holds_after_a_stall() -> None:
    async with VirtualClock().running() as clock:
        pacer, times = Pacer(10, clock), []
        for number in range(60):
            if number == 30:
                await clock.sleep(2)
            await pacer.wait()
            times.append(clock.now())
        assert worst_second(times) <= 10


async def test_the_lowest_declared_rate_holds() -> None:
    async with VirtualClock().running() as clock:
        endpoint, egress = make(clock, lambda *_: (OK, 0.0), rate_limit=5)
        endpoint.declare_rate(50)
        await call_many(endpoint, 20)
        assert worst_second(egress.sent_at) <= 5


async def test_a_brown_out_is_found_kept_and_recovered_from() -> None:
    """Capacity 20 for 15 s, then 100: beyond it 429 with Retry-After."""
    served: list[tuple[float, int]] = []

    def serve(now: float, in_flight: int) -> tuple[EgressReply, float]:
        capacity = 20 if now < 15 else 100
        if in_flight > capacity:
            served.append((now, 429))
            return EgressReply(429, {"retry-after": "1"}, b"", 0.0), 0.002
        served.append((now, 200))
        return OK, 0.25

    async with VirtualClock().running() as clock:
        endpoint, _ = make(clock, serve)
        numbers = itertools.count()
        stop = 30.0
        lost = 0

        async def worker() -> None:
            nonlocal lost
            while clock.now() < stop:
                try:
                    await call(endpoint, next(numbers))
                except EndpointFault:
                    lost += 1

        await asyncio.gather(*(worker() for _ in range(256)))

    def goodput(start: float, end: float) -> float:
        return sum(status == 200 and start <= at < end for at, status in served) / (end - start)

    refused = sum(status == 429 for _, status in served)
    assert goodput(5, 15) >= 0.9 * 80
    assert goodput(25, 30) >= 0.9 * 400
    assert refused <= 0.2 * len(served)
    assert lost <= 0.01 * len(served)


async def test_slots_double_until_the_first_refusal_and_then_obey_the_earliest() -> None:
    slots = ConcurrencySlots(start=4)
    for _ in range(4):
        slots.coped()
    assert slots.limit == 8
    for in_flight in (8, 7, 6, 6, 6):  # the sixth of a burst and those behind it
        slots.refused(in_flight)
    assert slots.limit == 5
    for _ in range(5):
        slots.coped()
    assert slots.limit == 6
    for in_flight in range(6, 0, -1):
        slots.refused(in_flight)
    assert slots.limit == 1


async def test_a_slot_is_handed_on_in_order_and_not_lost_by_a_cancel() -> None:
    async with VirtualClock().running() as clock:
        slots, order = ConcurrencySlots(start=1, ceiling=1), []

        async def take(name: str, *, first: bool = False) -> None:
            assert await slots.take(clock, deadline=100, first=first)
            order.append(name)
            await clock.sleep(1)
            slots.leave()

        tasks = [asyncio.create_task(take(name)) for name in "abc"]
        await asyncio.sleep(0)
        tasks.append(asyncio.create_task(take("retry", first=True)))
        await asyncio.sleep(0)
        tasks[1].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert order == ["a", "retry", "c"]
        assert slots.taken == 0
        await slots.take(clock, deadline=clock.now(), first=False)
        assert not await slots.take(clock, deadline=clock.now() + 5, first=False)
        assert clock.now() == 8


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


async def test_dead_for_good_ends_for_all_within_one_deadline() -> None:
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


async def test_an_endpoint_that_comes_back_after_all_is_used_again() -> None:
    async with VirtualClock().running() as clock:
        endpoint, _ = make(clock, lambda now, _: down() if now < 2000 else (OK, 0.1))
        await call_many(endpoint, 50)
        await clock.sleep(2000)
        results = await call_many(endpoint, 50)
        assert sum(isinstance(result, Answer) for result in results) >= 49
        assert not endpoint.breaker.is_open


async def test_a_tool_that_fails_for_a_third_of_calls_does_not_open_the_breaker() -> None:
    chance = random.Random(1)

    def serve(*_: Any) -> tuple[EgressReply, float]:
        status = 500 if chance.random() < 1 / 3 else 200
        return EgressReply(status, {}, b"ok", 0.0), 0.05

    async with VirtualClock().running() as clock:
        endpoint, _ = make(clock, serve)
        opened = 0
        for _ in range(40):
            await call_many(endpoint, 50)
            opened += endpoint.breaker.is_open
        assert opened == 0


class PickyEgress(TimedEgress):
    """Answers 500 to every third call, on each of its attempts."""

    @override
    async def post(
        self, url: str, *, headers: Mapping[str, str], body: bytes, timeout_s: float
    ) -> EgressReply:
        reply = await super().post(url, headers=headers, body=body, timeout_s=timeout_s)
        broken = int(headers["webhook-id"].removeprefix("call_")) % 3 == 0
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


async def test_retry_after_is_honoured_and_capped_by_the_deadline() -> None:
    replies = iter([EgressReply(503, {"retry-after": "120"}, b"", 0.0), OK])
    async with VirtualClock().running() as clock:
        endpoint, egress = make(clock, lambda *_: (next(replies), 0.0))
        assert (await call(endpoint)).attempts == 2
        assert egress.sent_at == [0, 120]
        endpoint, egress = make(
            clock, lambda *_: (EgressReply(503, {"retry-after": "9999"}, b"", 0.0), 0.0)
        )
        with pytest.raises(EndpointFault, match="answered 503"):
            await call(endpoint)
        assert len(egress.sent_at) == 1


async def test_delays_have_full_jitter_and_grow() -> None:
    gaps: list[list[float]] = [[], [], []]
    async with VirtualClock().running() as clock:
        for _ in range(100):
            endpoint, egress = make(clock, lambda *_: (EgressReply(500, {}, b"", 0.0), 0.0))
            endpoint._pool.jitter = random.random
            with pytest.raises(EndpointFault) as caught:
                await call(endpoint)
            assert caught.value.attempts == 4
            for place, (a, b) in enumerate(zip(egress.sent_at, egress.sent_at[1:], strict=False)):
                gaps[place].append(b - a)
    for longest, sample in zip((0.5, 1.0, 2.0), gaps, strict=True):
        assert 0 <= min(sample) < 0.15 * longest
        assert 0.85 * longest < max(sample) <= longest
