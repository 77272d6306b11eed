"""Rate limits of projects, counted over all API processes together.

Windows of a minute in the broker's Redis; a burst across an edge may reach twice the limit. What
arrives during a count is counted together by the next one. While Redis is unavailable every request
passes: a limit protects the service and must not stop it.
"""

import asyncio
import time
from dataclasses import dataclass
from typing import Final, Protocol

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

log = structlog.get_logger()

WINDOW_S: Final = 60
_TIMEOUT_S: Final = 0.25
_PAUSE_S: Final = 5.0
"""Seconds after a failure in which Redis gets no request: each would wait for the timeout."""
_COUNT: Final = """
    local used = redis.call('INCRBY', KEYS[1], ARGV[2])
    if used == tonumber(ARGV[2]) then redis.call('EXPIRE', KEYS[1], ARGV[1]) end
    return used
"""


@dataclass(frozen=True, slots=True)
class Quota:
    limit: int
    used: int
    reset_s: float

    @property
    def allowed(self) -> bool:
        return self.used <= self.limit

    @property
    def remaining(self) -> int:
        return max(0, self.limit - self.used)


class RateLimits(Protocol):
    async def take(self, owner: str, *, limit: int | None = None) -> Quota | None: ...

    async def aclose(self) -> None: ...


class RedisRateLimits:
    def __init__(self, redis_url: str, *, requests_per_minute: int) -> None:
        """A limit of 0 means no limit."""
        self._limit = requests_per_minute
        self._redis: Redis = Redis.from_url(
            redis_url, socket_timeout=_TIMEOUT_S, socket_connect_timeout=_TIMEOUT_S
        )
        self._count = self._redis.register_script(_COUNT)
        self._retry_at = 0.0
        self._waiting: dict[str, list[asyncio.Future[int | None]]] = {}
        self._counting: set[asyncio.Task[None]] = set()

    async def take(self, owner: str, *, limit: int | None = None) -> Quota | None:
        if not self._limit or time.monotonic() < self._retry_at:
            return None
        now = time.time()
        window = int(now // WINDOW_S)
        used = await self._number(f"rate:{owner}:{window}")
        if used is None:
            return None
        return Quota(limit or self._limit, used, (window + 1) * WINDOW_S - now)

    def _number(self, key: str) -> "asyncio.Future[int | None]":
        waiter: asyncio.Future[int | None] = asyncio.get_running_loop().create_future()
        if key in self._waiting:
            self._waiting[key].append(waiter)
        else:
            self._waiting[key] = [waiter]
            task = asyncio.create_task(self._counted(key))
            self._counting.add(task)
            task.add_done_callback(self._counting.discard)
        return waiter

    async def _counted(self, key: str) -> None:
        waiting: list[asyncio.Future[int | None]] = []
        try:
            while waiting := self._waiting[key]:
                self._waiting[key] = []
                used = await self._add(key, len(waiting))
                for number, waiter in enumerate(waiting, start=1 - len(waiting)):
                    if not waiter.done():  # its request was cancelled
                        waiter.set_result(None if used is None else used + number)
        finally:
            for waiter in (*waiting, *self._waiting.pop(key)):
                if not waiter.done():
                    waiter.set_result(None)

    async def _add(self, key: str, count: int) -> int | None:
        try:
            return int(await self._count(keys=[key], args=[2 * WINDOW_S, count]))
        except (RedisError, OSError, TimeoutError) as error:
            self._retry_at = time.monotonic() + _PAUSE_S
            log.warning("rate limits are not counted", error=type(error).__name__)
            return None

    async def aclose(self) -> None:
        await self._redis.aclose()
