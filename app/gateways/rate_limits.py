"""Rate limits of projects, counted over all API processes together.

Fixed windows of one minute in the broker's Redis, exact over processes; a burst across a window's
edge may reach twice the limit. While Redis is unavailable nothing is counted and every request
passes: a limit protects the service and must not stop it. Must not know HTTP.
"""

import time
from dataclasses import dataclass
from typing import Final, Protocol

import structlog
from redis.asyncio import BlockingConnectionPool, Redis
from redis.exceptions import RedisError

log = structlog.get_logger()

WINDOW_S: Final = 60
_TIMEOUT_S: Final = 0.25
_CONNECTIONS: Final = 8
_PAUSE_S: Final = 5.0
"""Seconds after a failure in which Redis gets no request: each would wait for the timeout."""


_COUNT: Final = """
    local used = redis.call('INCR', KEYS[1])
    if used == 1 then redis.call('EXPIRE', KEYS[1], ARGV[1]) end
    return used
"""


@dataclass(frozen=True, slots=True)
class Quota:
    """Remaining requests of a window, which ends in `reset_s` seconds."""

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
    async def take(self, owner: str, *, limit: int | None = None) -> Quota | None:
        """Counts one request of a project, an organization or another owner with a `limit` of its
        own. `None`: nothing is limited now.
        """
        ...

    async def aclose(self) -> None: ...


class RedisRateLimits:
    def __init__(self, redis_url: str, *, requests_per_minute: int) -> None:
        """A limit of 0 means no limit."""
        self._limit = requests_per_minute
        # A burst waits for a connection here: connections of its own would time out, and a failure
        # lets every request pass.
        pool = BlockingConnectionPool.from_url(
            redis_url,
            max_connections=_CONNECTIONS,
            timeout=None,
            socket_timeout=_TIMEOUT_S,
            socket_connect_timeout=_TIMEOUT_S,
        )
        self._redis: Redis = Redis.from_pool(pool)
        self._count = self._redis.register_script(_COUNT)
        self._retry_at = 0.0

    async def take(self, owner: str, *, limit: int | None = None) -> Quota | None:
        if not self._limit or time.monotonic() < self._retry_at:
            return None
        now = time.time()
        window = int(now // WINDOW_S)
        try:
            used = int(await self._count(keys=[f"rate:{owner}:{window}"], args=[2 * WINDOW_S]))
        except (RedisError, OSError, TimeoutError) as error:
            self._retry_at = time.monotonic() + _PAUSE_S
            log.warning("rate limits are not counted", error=type(error).__name__)
            return None
        return Quota(limit or self._limit, used, (window + 1) * WINDOW_S - now)

    async def aclose(self) -> None:
        await self._redis.aclose()


class InMemoryRateLimits:
    """In-memory twin for one process, with a clock that does not move."""

    def __init__(self, requests_per_minute: int, *, reset_s: float = 30.0) -> None:
        self._limit = requests_per_minute
        self._reset_s = reset_s
        self.used: dict[str, int] = {}

    async def take(self, owner: str, *, limit: int | None = None) -> Quota | None:
        self.used[owner] = self.used.get(owner, 0) + 1
        if not self._limit:
            return None
        return Quota(limit or self._limit, self.used[owner], self._reset_s)

    async def aclose(self) -> None:
        return None
