"""The bounded staleness queue: which prompts may be dispatched and which groups a step trains.

Pure bookkeeping without tasks or clocks. Promises, for whatever order groups finish in:

- admission is gated at dispatch: with version v served, prompts up to curriculum step v + K + 1 are
  dispatched and no more (the capacity rule: (v + K + 1)·B prompts so far, filtered ones included);
- a step takes as many groups as its curriculum step has prompts, oldest dispatch first, and only
  when the remaining groups can still be taken by later steps within the bound;
- no group older than K versions is taken: a group that became older is requeued;
- a straggler prompt is requeued at most `max_requeues` times; after that the step waits for it;
- every prompt of the curriculum is taken exactly once.

A version here is the number of the step that published it; step s trains on version s - 1.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True, order=True)
class Dispatch:
    """The dispatch of one prompt's group. Dispatches are ordered by age."""

    version: int
    """The version that was served when the prompt was dispatched."""
    step: int
    """The prompt's step of the curriculum."""
    row_index: int
    """The prompt's position in that step."""
    attempt: int = 0
    """Number of times that the prompt was requeued."""


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
        """`size` returns the prompts of curriculum step 1 … `total_steps`. `within_caps` says
        whether a step will begin; it must be true for the next one.
        """
        self._size = size
        self._last_step = total_steps
        self._max_staleness = max_staleness
        self._max_requeues = max_requeues
        self._within_caps = within_caps
        self._in_flight: set[Dispatch] = set()
        self._finished: set[Dispatch] = set()
        self._cursor = (1, 0)

    @property
    def in_flight(self) -> list[Dispatch]:
        """Dispatches that are not finished, oldest first."""
        return sorted(self._in_flight)

    @property
    def depth(self) -> int:
        """Groups that are finished and not taken."""
        return len(self._finished)

    def dispatch_next(self, version: int) -> Dispatch | None:
        """Returns the next prompt's dispatch, or `None` when the capacity rule admits none."""
        step, row_index = self._cursor
        if step > min(self._last_step, self._last_use(version)) or not self._within_caps(step):
            return None
        last_row = row_index + 1 == self._size(step)
        self._cursor = (step + 1, 0) if last_row else (step, row_index + 1)
        dispatch = Dispatch(version, step, row_index)
        self._in_flight.add(dispatch)
        return dispatch

    def finish(self, dispatch: Dispatch, *, version: int) -> None:
        """Records that a group is finished. `version` is the oldest that sampled a token of it;
        after a resume it may be older than the dispatch.
        """
        self._in_flight.remove(dispatch)
        self._finished.add(replace(dispatch, version=min(version, dispatch.version)))

    def expire(self, step: int) -> list[tuple[Dispatch, Dispatch]]:
        """Requeues each group that is too old for `step`. Returns pairs of old and new dispatch."""
        stale = [
            dispatch
            for dispatch in self._finished | self._in_flight
            if step - 1 - dispatch.version > self._max_staleness
        ]
        return [(dispatch, self._requeue(dispatch, step)) for dispatch in sorted(stale)]

    def take(self, step: int) -> list[Dispatch] | None:
        """Returns the groups that `step` trains, oldest first; `None` while it must wait."""
        chosen = sorted(self._finished)[: self._size(step)]
        remaining = (self._finished | self._in_flight).difference(chosen)
        if len(chosen) < self._size(step) or self._must_wait(step, chosen, remaining):
            return None
        self._finished.difference_update(chosen)
        return chosen

    def requeue_stragglers(self, step: int) -> list[tuple[Dispatch, Dispatch]]:
        """Requeues as few of the oldest groups in flight as let `step` proceed.

        Returns pairs of old and new dispatch; none where requeuing would not help, or where the
        groups were requeued often enough.
        """
        chosen = sorted(self._finished)[: self._size(step)]
        if len(chosen) < self._size(step):
            return []
        remaining = (self._finished | self._in_flight).difference(chosen)
        stragglers: list[Dispatch] = []
        for dispatch in self.in_flight:
            if not self._must_wait(step, chosen, remaining):
                break
            if dispatch.attempt < self._max_requeues:
                stragglers.append(dispatch)
                remaining = remaining - {dispatch} | {replace(dispatch, version=step - 1)}
        if self._must_wait(step, chosen, remaining):
            return []
        return [(dispatch, self._requeue(dispatch, step)) for dispatch in stragglers]

    def state(self) -> dict[str, Any]:
        """Returns as JSON the cursor and every dispatch that is not taken."""
        dispatches = sorted(self._finished | self._in_flight)
        return {
            "cursor": list(self._cursor),
            # The name in resume points that earlier versions stored.
            "tickets": [[t.version, t.step, t.row_index, t.attempt] for t in dispatches],
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Puts every dispatch of a saved state in flight again."""
        step, row_index = state["cursor"]
        self._cursor = (int(step), int(row_index))
        self._in_flight = {Dispatch(*map(int, saved)) for saved in state["tickets"]}
        self._finished = set()

    def _requeue(self, dispatch: Dispatch, step: int) -> Dispatch:
        new = replace(dispatch, version=step - 1, attempt=dispatch.attempt + 1)
        self._finished.discard(dispatch)
        self._in_flight.discard(dispatch)
        self._in_flight.add(new)
        return new

    def _must_wait(
        self, step: int, chosen: Iterable[Dispatch], remaining: Iterable[Dispatch]
    ) -> bool:
        """Returns whether taking `chosen` now makes an older remaining group miss its last step.

        For each later step, no more groups may be due by then than the steps up to it take.
        """
        newest = max(map(self._due, chosen))
        due = [self._due(dispatch) for dispatch in remaining]
        capacity = 0
        for later in range(step, newest):
            capacity += self._size(later) if later > step else 0
            if sum(last <= later for last in due) > capacity:
                return True
        return False

    def _due(self, dispatch: Dispatch) -> int:
        """Returns the last step of the run that may take a group."""
        return min(self._last_step, self._last_use(dispatch.version))

    def _last_use(self, version: int) -> int:
        """Returns the last step that may train on rollouts of a version."""
        return version + self._max_staleness + 1
