"""Tells whether a run waits for customers' endpoints and for nothing else, and which are silent.

Owns no decision about the run. Must not know tools, graders or modes: they register the pools that
they call through, and the work during which a run is not idle.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from app.gateways.endpoints.outages import EndpointState
from app.gateways.endpoints.pool import EndpointPool

OPERATORS: Final = "a model server of this service"
"""Stands for the address of a server of the operator's, which customers do not see."""


@dataclass(slots=True)
class Activity:
    _pools: list[EndpointPool] = field(default_factory=list)
    _operators: list[EndpointPool] = field(default_factory=list)
    _busy: list[Callable[[], bool]] = field(default_factory=list)

    def calls_through(self, pool: EndpointPool) -> None:
        self._pools.append(pool)

    def calls_operators_through(self, pool: EndpointPool) -> None:
        """Registers the pool of the operator's own servers."""
        self._pools.append(pool)
        self._operators.append(pool)

    def works_while(self, is_busy: Callable[[], bool]) -> None:
        """Registers work of the run's own, such as sampling or training."""
        self._busy.append(is_busy)

    def waited_s(self) -> float:
        """Returns for how long every pending call has waited; 0 while no call is pending, or the
        run has something else to do.
        """
        waits = [wait_s for pool in self._pools if (wait_s := pool.waited_s()) is not None]
        if not waits or any(is_busy() for is_busy in self._busy):
            return 0.0
        return min(waits)

    def endpoints(self) -> list[EndpointState]:
        """Returns the endpoints that were called, under names that the job's owner may read. Those
        of one name are one: URLs may differ in a part that is not shown.
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
