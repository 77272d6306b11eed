"""Records the tool calls of each rollout id and forgets them after a while.

Owns the state that the tool handler writes and the grader reads. Promises that one call id is
recorded once however often it is retried, and that a rollout vanishes `ttl_s` seconds after its
last use. Kept in memory by one process; a service with several would put this into Redis.
Must not know HTTP.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from examples.records_agent.grading import RecordedCall

TTL_S: Final = 1800.0


class CallIdReusedError(Exception):
    """A call id came back with another tool or other arguments."""


@dataclass(slots=True)
class _Rollout:
    expires_at: float
    calls: dict[str, RecordedCall] = field(default_factory=dict)


class CallLedger:
    """Rollouts in order of last use, so that the expired ones are always in front."""

    def __init__(
        self, *, ttl_s: float = TTL_S, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._ttl_s = ttl_s
        self._clock = clock
        self._rollouts: OrderedDict[str, _Rollout] = OrderedDict()

    def __len__(self) -> int:
        self._forget()
        return len(self._rollouts)

    def replay(self, trace_id: str, call_id: str, name: str, arguments: str) -> RecordedCall | None:
        """The call as recorded before, or None. Raises CallIdReusedError if it was another one."""
        self._forget()
        rollout = self._rollouts.get(trace_id)
        call = rollout.calls.get(call_id) if rollout else None
        if call is not None and (call.name, call.arguments) != (name, arguments):
            raise CallIdReusedError(call_id)
        return call

    def record(self, trace_id: str, call_id: str, call: RecordedCall) -> None:
        self._touch(trace_id).calls.setdefault(call_id, call)

    def calls(self, trace_id: str) -> list[RecordedCall]:
        """Returns calls in order of arrival; empty for a rollout without tool calls, or an expired
        one.
        """
        self._forget()
        if trace_id not in self._rollouts:
            return []
        return list(self._touch(trace_id).calls.values())

    def _touch(self, trace_id: str) -> _Rollout:
        self._forget()
        rollout = self._rollouts.setdefault(trace_id, _Rollout(0.0))
        rollout.expires_at = self._clock() + self._ttl_s
        self._rollouts.move_to_end(trace_id)
        return rollout

    def _forget(self) -> None:
        now = self._clock()
        while self._rollouts:
            trace_id, oldest = next(iter(self._rollouts.items()))
            if oldest.expires_at > now:
                return
            del self._rollouts[trace_id]
