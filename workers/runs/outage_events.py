"""Writes events about endpoints that do not answer a run: one when calls begin to wait, one when
the endpoint answers again, and one for a requested pause that waits for them.

Owns their messages and data, and the list of announced outages, which a later claim reads from the
job's events. Must not know the rule by which an endpoint counts as silent.
"""

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from app.domain.errors import ENDPOINT_UNAVAILABLE
from app.domain.jobs.jobs import EventLevel
from app.gateways.endpoints.outages import EndpointState, Outage
from workers.processes.retry import retry_while_unavailable
from workers.runs.context import RunContext

PAUSE_WAITS: Final = "pause_waits_for_endpoint"
SILENT: Final = "endpoint_silent"
ANSWERS: Final = "endpoint_answers"
"""Values of `reason` in the data of these events."""
QUIET_S: Final = 60.0
"""Seconds after an outage. A new outage within them is reported only once it has lasted as long, so
that a flaky endpoint does not fill the list of events.
"""
_RECENT: Final = 100
"""Number of recent events that are searched for outages of earlier claims."""


class OutageEvents:
    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._ended_at: dict[str, float] = {}
        """The monotonic time at which each known outage ended."""
        self._announced: dict[str, int] | None = None
        """The number of answers of each endpoint when its outage was announced."""
        self._has_told_of_pause = False

    async def announce(self, *, pause_requested: bool = False) -> None:
        """Appends an event for each endpoint that has fallen silent or answers again, and one for a
        requested pause that has to wait for silent ones.
        """
        if self._announced is None:
            self._announced = await retry_while_unavailable(self._open_outages)
        for state in self._context.activity.endpoints():
            answers = self._announced.get(state.endpoint)
            if answers is not None and state.answers > answers and state.outage is None:
                await self._append(*_answers(state), level="info")
                del self._announced[state.endpoint]
                self._ended_at[state.endpoint] = time.monotonic()
            elif answers is None and state.outage is not None and self._is_news(state):
                limit = self._context.settings.runs.infrastructure_limit
                await self._append(*_silent(state.endpoint, state.outage, limit), level="warn")
                self._announced[state.endpoint] = state.answers

        await self._tell_of_pause(pause_requested=pause_requested)

    async def _tell_of_pause(self, *, pause_requested: bool) -> None:
        if not pause_requested:
            self._has_told_of_pause = False
            return
        waiting = {
            state.endpoint: state.outage.gives_up_in_s
            for state in self._context.activity.endpoints()
            if state.outage is not None and state.outage.rollouts
        }
        if waiting and not self._has_told_of_pause:
            await self._append(*_pause_waits(waiting), level="info")
            self._has_told_of_pause = True

    def _is_news(self, state: EndpointState) -> bool:
        ended_at = self._ended_at.get(state.endpoint)
        lasted_s = 0.0 if state.outage is None else state.outage.silent_s
        return ended_at is None or lasted_s >= QUIET_S or time.monotonic() - ended_at >= QUIET_S

    async def _open_outages(self) -> dict[str, int]:
        """Returns the outages that earlier claims announced and that no event has ended."""
        async with self._context.unit() as unit:
            events, _ = await unit.events.page(self._context.job.id, after=None, limit=_RECENT)
        state: dict[str, str] = {}
        for event in events:  # newest first
            data = event.data or {}
            if data.get("reason") in (SILENT, ANSWERS):
                state.setdefault(data["endpoint"], data["reason"])
        return {endpoint: 0 for endpoint, reason in state.items() if reason == SILENT}

    async def _append(self, message: str, data: dict[str, Any], *, level: EventLevel) -> None:
        async def write() -> None:
            async with self._context.unit() as unit:
                await unit.events.append(
                    self._context.job.id, level=level, type="message", message=message, data=data
                )

        await retry_while_unavailable(write)


def _silent(endpoint: str, outage: Outage, limit: float) -> tuple[str, dict[str, Any]]:
    now = time.time()
    since, until = now - outage.silent_s, now + outage.gives_up_in_s
    why = "" if outage.last_fault is None else f" (last: {outage.last_fault})"
    wait = "1 rollout waits" if outage.rollouts == 1 else f"{outage.rollouts} rollouts wait"
    message = (
        f"Waiting on endpoint: {endpoint} has not answered since {_clock(since)}{why}. {wait} for "
        f"it, at most until {_clock(until)}. Those without an answer are lost then, and a step "
        f"that loses {limit:.0%} of its rollouts ends the job with the code {ENDPOINT_UNAVAILABLE}."
        " If the endpoint answers before, the job continues and nothing is lost."
    )
    data = {
        "reason": SILENT,
        "endpoint": endpoint,
        "since": int(since),
        "rollouts": outage.rollouts,
        "gives_up_at": int(until),
    }
    return message, data


def _pause_waits(waiting: Mapping[str, float]) -> tuple[str, dict[str, Any]]:
    """`waiting` has the seconds until the calls of each silent endpoint give up."""
    until = time.time() + max(waiting.values())
    message = (
        f"A pause is requested: the job pauses after the running step, which waits for "
        f"{', '.join(sorted(waiting))}, at most until {_clock(until)}. A cancel ends it at once."
    )
    data = {"reason": PAUSE_WAITS, "endpoints": sorted(waiting), "gives_up_at": int(until)}
    return message, data


def _answers(state: EndpointState) -> tuple[str, dict[str, Any]]:
    message = f"The endpoint answers again: {state.endpoint}. The job continues."
    return message, {"reason": ANSWERS, "endpoint": state.endpoint}


def _clock(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S} UTC"
