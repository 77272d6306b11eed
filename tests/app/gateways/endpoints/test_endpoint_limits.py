import asyncio
import itertools
import math
import random

import pytest

from app.kit.egress import EgressReply
from app.kit.endpoint_limits import ConcurrencySlots, Pacer
from app.kit.endpoints import EndpointAnswer, EndpointFault, retry_after
from tests.support.cases import cases
from tests.support.egress.clock import VirtualClock
from tests.support.egress.timed_egress import OK, call, call_many, make


def worst_second(times: list[float], width: float = 1.0) -> int:
    times = sorted(times)
    return max(sum(start <= t < start + width for t in times) for start in times)


@cases(("rate", "total"), [(50, 512), (7.5, 60), (0.25, 5)])
async def test_a_declared_rate_is_kept_and_used(rate: float, total: int) -> None:
    async with VirtualClock().running() as clock:
        endpoint, egress = make(clock, lambda *_: (OK, 0.05), rate_limit=rate)
        results = await call_many(endpoint, total)
        assert all(isinstance(result, EndpointAnswer) for result in results)
        assert worst_second(egress.sent_at, max(1.0, 1 / rate)) <= math.ceil(rate)
        assert clock.now() <= total / rate + 2


@cases("rate", [5e-324, 1e308])
async def test_an_absurd_rate_lets_the_first_call_through(rate: float) -> None:
    async with VirtualClock().running() as clock:
        endpoint, egress = make(clock, lambda *_: (OK, 0.1), rate_limit=rate)
        assert isinstance((await call_many(endpoint, 1))[0], EndpointAnswer)
        assert len(egress.sent_at) == 1


async def test_a_rate_slower_than_the_deadline_fails_no_call() -> None:
    async with VirtualClock().running() as clock:
        endpoint, egress = make(clock, lambda *_: (OK, 0.1), rate_limit=0.2)
        results = await call_many(endpoint, 200)  # 1,000 s at this rate, with 600 s per call
        assert all(isinstance(result, EndpointAnswer) for result in results)
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


@cases(
    "value",
    [
        "Mon, 01 Jan 2020 00:00:00 +99999999999999999999999",
        "Mon, 01 Jan 0001 00:00:00 +2359",
        "tomorrow",
    ],
)
async def test_a_date_that_no_calendar_has_requests_no_delay(value: str) -> None:
    assert retry_after(value) == 0.0


async def test_delays_have_full_jitter_and_grow() -> None:
    gaps: list[list[float]] = [[], [], []]
    async with VirtualClock().running() as clock:
        for _ in range(100):
            endpoint, egress = make(clock, lambda *_: (EgressReply(500, {}, b"", 0.0), 0.0))
            endpoint._pool.jitter = random.random
            with pytest.raises(EndpointFault) as caught:
                await call(endpoint)
            assert caught.value.attempts == 4
            for index, (a, b) in enumerate(zip(egress.sent_at, egress.sent_at[1:], strict=False)):
                gaps[index].append(b - a)
    for longest, sample in zip((0.5, 1.0, 2.0), gaps, strict=True):
        assert 0 <= min(sample) < 0.15 * longest
        assert 0.85 * longest < max(sample) <= longest
