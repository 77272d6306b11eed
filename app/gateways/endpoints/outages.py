"""Measures for how long an endpoint has given no usable answer, and how many rollouts wait for it.

Owns the rule that distinguishes a slow endpoint from one that is down. Works in a single event
loop. Must not know its readers or the content of calls.
"""

from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

SILENT_S: Final = 60.0
"""Seconds without an answer from which an endpoint is silent, unless its answers are slow."""
_SLOWER: Final = 2.0
"""Multiple of its slowest answer for which an endpoint may be silent."""
_MAX_SHOWN: Final = 200


@dataclass(frozen=True, slots=True)
class Outage:
    """A period in which an endpoint answers none of the waiting calls."""

    silent_s: float
    """Seconds since the first call that got no answer."""
    rollouts: int
    """Rollouts that wait for an answer now."""
    gives_up_in_s: float
    """Seconds until the last of the waiting calls gives up."""
    last_fault: str | None
    """The fault of the last attempt that ended; `None` if all are still under way."""


@dataclass(frozen=True, slots=True)
class EndpointState:
    endpoint: str
    """Host and path."""
    answers: int
    """Number of usable answers so far; one more after an outage means that it is over."""
    outage: Outage | None


@dataclass(slots=True)
class _PendingCall:
    trace_id: str
    deadline: float
    sent_at: float | None = None


@dataclass(slots=True)
class WaitingCalls:
    """The calls that wait for one endpoint. Times are those of the pool's clock."""

    answers: int = 0
    _answered_at: float = float("-inf")
    _failing_since: float | None = None
    _last_fault: str | None = None
    _slowest_s: float = 0.0
    _pending: dict[str, _PendingCall] = field(default_factory=dict)

    def begun(self, call_id: str, trace_id: str, *, deadline: float) -> None:
        self._pending[call_id] = _PendingCall(trace_id, deadline)

    def sent(self, call_id: str, now: float) -> None:
        """Records the first attempt of a call, which until then waits for a slot of the service."""
        call = self._pending.get(call_id)
        if call is not None and call.sent_at is None:
            call.sent_at = now

    def answered(self, now: float, *, latency_s: float) -> None:
        self.answers += 1
        self._answered_at, self._last_fault, self._failing_since = now, None, None
        self._slowest_s = max(self._slowest_s, latency_s)

    def failed(self, now: float, fault: str) -> None:
        self._last_fault = fault
        if self._failing_since is None:
            self._failing_since = now

    def ended(self, call_id: str) -> None:
        self._pending.pop(call_id, None)

    @property
    def is_waited_for(self) -> bool:
        return bool(self._pending)

    @property
    def sent_calls(self) -> int:
        """Number of calls under way that were sent, and do not only wait for a slot."""
        return sum(call.sent_at is not None for call in self._pending.values())

    def outage(self, now: float, *, patience_ends: float | None) -> Outage | None:
        """Returns the outage while calls wait: from the moment that the breaker opens, or once no
        call has been answered for long. `patience_ends` is when all calls of an open breaker give
        up; `None` while it is closed.
        """
        since = self._since()
        if since is None:
            return None
        bound_s = max(SILENT_S, _SLOWER * self._slowest_s)
        if patience_ends is None and now - since < bound_s:
            return None
        last = max(call.deadline for call in self._pending.values())
        gives_up = last if patience_ends is None else min(last, patience_ends)
        return Outage(
            silent_s=now - since,
            rollouts=len({call.trace_id for call in self._pending.values()}),
            gives_up_in_s=max(0.0, gives_up - now),
            last_fault=self._last_fault,
        )

    def _since(self) -> float | None:
        """Returns when the first call was sent or failed that got no answer; `None` if none waits
        for one.
        """
        sent = [call.sent_at for call in self._pending.values() if call.sent_at is not None]
        if self._pending and self._failing_since is not None:
            sent.append(self._failing_since)
        return max(self._answered_at, min(sent)) if sent else None


def shown_endpoint(url: str) -> str:
    """Returns host and path of an URL: user information and query may be secrets."""
    parts = urlsplit(url)
    return (parts.netloc.rpartition("@")[2] + parts.path)[:_MAX_SHOWN]
