"""Requests counted together are still counted one by one."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from app.http.rate_limits import Quota, RedisRateLimits
from tests.support.stack import Database
from tests.support.web.one_window import hold_window

LIMIT = 40


@pytest.fixture
async def processes(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[list[RedisRateLimits]]:
    """Two processes' counters in one window."""
    hold_window(monkeypatch)
    url = database.settings.redis_url
    made = [RedisRateLimits(url, requests_per_minute=LIMIT) for _ in range(2)]
    yield made
    for limit in made:
        await limit.aclose()


def request_numbers(quotas: list[Quota | None]) -> list[int]:
    return sorted(quota.used for quota in quotas if quota is not None)


async def test_a_burst_over_two_processes_is_counted_exactly(
    processes: list[RedisRateLimits],
) -> None:
    burst = [processes[number % 2].take("proj_a") for number in range(101)]
    quotas = await asyncio.gather(*burst, processes[0].take("proj_b"))
    other = quotas.pop()
    assert request_numbers(quotas) == list(range(1, 102))
    assert sum(quota is not None and quota.allowed for quota in quotas) == LIMIT
    assert other is not None
    assert other.used == 1
    assert request_numbers([await processes[1].take("proj_a")]) == [102]


async def test_an_abandoned_request_delays_no_other(processes: list[RedisRateLimits]) -> None:
    limits = processes[0]
    asked = [asyncio.create_task(limits.take("proj_a")) for _ in range(5)]
    await asyncio.sleep(0)
    asked[0].cancel()
    asked[3].cancel()
    found = await asyncio.gather(*asked, return_exceptions=True)
    assert request_numbers([quota for quota in found if not isinstance(quota, BaseException)]) == [
        2,
        3,
        5,
    ]
    assert request_numbers([await limits.take("proj_a")]) == [6]


async def test_nothing_is_counted_while_the_server_is_unavailable() -> None:
    limits = RedisRateLimits("redis://127.0.0.1:1/0", requests_per_minute=LIMIT)
    assert await asyncio.gather(*(limits.take("proj_a") for _ in range(7))) == [None] * 7
    await limits.aclose()
