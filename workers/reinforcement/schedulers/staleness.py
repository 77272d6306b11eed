"""Which prompts may be dispatched, and which groups a step trains: the bounded staleness queue.

Pure bookkeeping, no tasks and no clock. Promises, for whatever order groups finish in:

- admission is gated at dispatch: with version v served, prompts up to curriculum step v + K + 1 are
  let in and no more (the capacity rule: (v + K + 1)·B prompts so far, filtered ones included);
- a step takes as many groups as its curriculum step has prompts, oldest dispatch first, and only
  when those that stay can still be taken by later steps within the bound;
- nothing older than K versions is taken: what nevertheless became older is started over;
- a prompt is started over for being slow at most `max_requeues` times; then it is waited for;
- every prompt of the curriculum is taken exactly once.

A version here is the number of the step that published it; step s trains on version s - 1.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True, order=True)
class Ticket:
    """One prompt under way. Ordered by age."""

    version: int
    """Served when it was dispatched."""
    step: int
    """Its step of the curriculum."""
    place: int
    """Its position in that step."""
    attempt: int = 0
    """How often it was started over."""


class StalenessQueue:
    def __init__(
        self,
        size: Callable[[int], int],
        *,
        total_steps: int,
        max_staleness: int,
        max_requeues: int,
        within_caps: Callable[[int], bool] = lambda _step: True,
    ) -> None:
        """`size`: prompts of curriculum step 1 … `total_steps`. `within_caps`: whether a step
        will begin; it must be true of the next one.
        """
        self._size = size
        self._last = total_steps
        self._bound = max_staleness
        self._max_requeues = max_requeues
        self._begins = within_caps
        self._under_way: set[Ticket] = set()
        self._finished: set[Ticket] = set()
        self._cursor = (1, 0)

    @property
    def in_flight(self) -> list[Ticket]:
        """Dispatched and not finished, oldest first."""
        return sorted(self._under_way)

    @property
    def depth(self) -> int:
        """Groups that are finished and not taken."""
        return len(self._finished)

    def admit(self, version: int) -> Ticket | None:
        """The next prompt, if capacity lets it in."""
        step, place = self._cursor
        if step > min(self._last, version + self._bound + 1) or not self._begins(step):
            return None
        self._cursor = (step, place + 1) if place + 1 < self._size(step) else (step + 1, 0)
        ticket = Ticket(version, step, place)
        self._under_way.add(ticket)
        return ticket

    def finish(self, ticket: Ticket, *, version: int) -> None:
        """Its group is there. `version`: the oldest that wrote a token of it, which after a resume
        may be older than the dispatch.
        """
        self._under_way.remove(ticket)
        self._finished.add(replace(ticket, version=min(version, ticket.version)))

    def expire(self, step: int) -> list[tuple[Ticket, Ticket]]:
        """Before a step takes: start over what is too old for it. Pairs of old and new ticket."""
        old = [t for t in self._finished | self._under_way if step - 1 - t.version > self._bound]
        return [(ticket, self._again(ticket, step)) for ticket in sorted(old)]

    def take(self, step: int) -> list[Ticket] | None:
        """The groups that `step` trains, oldest first; `None` while it has to wait."""
        chosen = sorted(self._finished)[: self._size(step)]
        staying = (self._finished | self._under_way).difference(chosen)
        if len(chosen) < self._size(step) or self._waits(step, chosen, staying):
            return None
        self._finished.difference_update(chosen)
        return chosen

    def requeue_stragglers(self, step: int) -> list[tuple[Ticket, Ticket]]:
        """Start over the fewest of the oldest groups under way whose lateness keeps `step`
        waiting; none where that would not help, or where they were started over often enough.
        """
        chosen = sorted(self._finished)[: self._size(step)]
        if len(chosen) < self._size(step):
            return []
        staying = (self._finished | self._under_way).difference(chosen)
        late: list[Ticket] = []
        for ticket in self.in_flight:
            if not self._waits(step, chosen, staying):
                break
            if ticket.attempt < self._max_requeues:
                late.append(ticket)
                staying = staying - {ticket} | {replace(ticket, version=step - 1)}
        if self._waits(step, chosen, staying):
            return []
        return [(ticket, self._again(ticket, step)) for ticket in late]

    def state(self) -> dict[str, Any]:
        """JSON: what is dispatched and not taken, finished or not, and the cursor."""
        tickets = sorted(self._finished | self._under_way)
        return {
            "cursor": list(self._cursor),
            "tickets": [[t.version, t.step, t.place, t.attempt] for t in tickets],
        }

    def restore(self, state: dict[str, Any]) -> None:
        """All that was dispatched is under way again."""
        step, place = state["cursor"]
        self._cursor = (int(step), int(place))
        self._under_way = {Ticket(*map(int, ticket)) for ticket in state["tickets"]}
        self._finished = set()

    def _again(self, ticket: Ticket, step: int) -> Ticket:
        fresh = replace(ticket, version=step - 1, attempt=ticket.attempt + 1)
        self._finished.discard(ticket)
        self._under_way.discard(ticket)
        self._under_way.add(fresh)
        return fresh

    def _waits(self, step: int, chosen: Iterable[Ticket], staying: Iterable[Ticket]) -> bool:
        """Whether a newer one of `chosen` stands in the place of an older group under way that the
        steps after this one could not all take in time: by each of them, no more may be due than
        the steps up to it take.
        """
        newest = max(map(self._due, chosen))
        due = [self._due(ticket) for ticket in staying]
        capacity = 0
        for later in range(step, newest):
            capacity += self._size(later) if later > step else 0
            if sum(one <= later for one in due) > capacity:
                return True
        return False

    def _due(self, ticket: Ticket) -> int:
        """The last step that may take it."""
        return min(self._last, ticket.version + self._bound + 1)
