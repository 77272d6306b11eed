"""Measures whether a run waits only for customers' endpoints, and which of them are silent.

Owns no decision about the run. Must not know tools, graders or modes: they register the pools
through which they call, and the work during which a run is not idle.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from app.gateways.endpoints.outages import EndpointState
from app.gateways.endpoints.pool import EndpointPool

OPERATORS: Final = "a model server of this service"
"""Replaces the address of an operator's server, which customers must not see."""


@dataclass(slots=True)
class Activity:
    _pools: list[EndpointPool] = field(default_factory=list)
    _operators: list[EndpointPool] = field(default_factory=list)
    _busy: list[Callable[[], bool]] = field(default_factory=list)

    def calls_through(self, pool: EndpointPool) -> None:
        self._pools.append(pool)

    def calls_operators_through(self, pool: EndpointPool) -> None:
        """Registers the pool for the operator's servers."""
        self._pools.append(pool)
        self._operators.append(pool)

    def works_while(self, is_busy: Callable[[], bool]) -> None:
        """Registers the run's own work, such as sampling or training."""
        self._busy.append(is_busy)

    def waited_s(self) -> float:
        """Returns the seconds for which every pending call has waited; 0 while no call is pending
        or the run has other work.
        """
        waits = [wait_s for pool in self._pools if (wait_s := pool.waited_s()) is not None]
        if not waits or any(is_busy() for is_busy in self._busy):
            return 0.0
        return min(waits)

    def waits_for_what_is_down(self) -> bool:
        """Returns whether each endpoint with a pending call is down, so that none of them is merely
        slow.
        """
        down = [is_down for pool in self._pools for is_down in pool.down_of_awaited()]
        return bool(down) and all(down)

    def endpoints(self) -> list[EndpointState]:
        """Returns the called endpoints, by names that the job's owner may read. Endpoints with the
        same name count as one: their URLs may differ in a redacted part.
        """
        found: dict[str, EndpointState] = {}
        for pool in self._pools:
            for state in pool.states():
                name = OPERATORS if pool in self._operators else state.endpoint
                found[name] = _joined(found.get(name), replace(state, endpoint=name))
        return list(found.values())


def _joined(one: EndpointState | None, other: EndpointState) -> EndpointState:
    if one is None:
        return other
    outages = [outage for outage in (one.outage, other.outage) if outage is not None]
    return EndpointState(
        one.endpoint,
        one.answers + other.answers,
        max(outages, key=lambda outage: outage.silent_s, default=None),
    )
