"""Distinguishes an engine that computes for long from one that is stuck.

Owns the timeout of requests that wait for tokens. While any waits, the engine's own counters are
read; as long as they change, or an engine without counters answers its probe, a request may take
any time. Promises that a request whose engine has computed nothing for `still_s` ends with
`TimeoutError`. Must not know the content of requests.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final

_GAUGE: Final = re.compile(r"# TYPE \S+ gauge")
_NAME_END: Final = re.compile(r"[{ ]")
_READS: Final = 12
"""Number of reads of the counters within `still_s`."""
Read = Callable[[], Awaitable[str | None]]
"""Returns a text that changes whenever the engine computes; `None` while it reports no work."""


class EngineWatch:
    def __init__(self, read: Read, *, still_s: float, on_progress: Callable[[], None]) -> None:
        self._read = read
        self._still_s = still_s
        self._on_progress = on_progress
        self._waiting: set[asyncio.Timeout] = set()
        self._reading: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def waiting(self) -> AsyncGenerator[None]:
        """Ends the block with `TimeoutError` when the engine has computed nothing for too long."""
        async with asyncio.timeout(self._still_s) as deadline:
            self._waiting.add(deadline)
            if self._reading is None or self._reading.done():
                self._reading = asyncio.create_task(self._follow())
            try:
                yield
            finally:
                self._waiting.discard(deadline)

    async def aclose(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            with suppress(asyncio.CancelledError):
                await self._reading

    async def _follow(self) -> None:
        """Reads the counters until no request waits."""
        before: str | None = None
        while self._waiting:
            await asyncio.sleep(self._still_s / _READS)
            now = await self._read()
            if now is not None and now != before:
                before = now
                self._on_progress()
                later = asyncio.get_running_loop().time() + self._still_s
                for deadline in list(self._waiting):
                    if not deadline.expired():
                        deadline.reschedule(later)


def counters(metrics: str) -> str:
    """Returns the lines of a Prometheus text that count an engine's work, in vLLM's names.

    Gauges are left out: requests that arrive or give up change them, also in a stuck engine.
    """
    lines = metrics.splitlines()
    gauges = {line.split()[2] for line in lines if _GAUGE.fullmatch(line)}
    return "\n".join(
        line
        for line in lines
        if line.startswith("vllm:")
        and "_created" not in line
        and _NAME_END.split(line, maxsplit=1)[0] not in gauges
    )
