"""The trackers that are open between their writes. Pure.

Owns their limits, in all and for one project, and which of them is closed when there are more: of
the project with the most open ones that which was used longest ago. It is opened anew when there is
something to write.
"""

from collections import Counter
from collections.abc import Collection, Iterator, KeysView
from dataclasses import dataclass

from workers.trackers.tracked_integrations import Key, TrackedIntegration
from workers.trackers.tracker import Tracker


@dataclass(frozen=True, slots=True)
class _PooledTracker:
    project_id: str
    tracker: Tracker


class TrackerPool:
    def __init__(self, most: int, *, for_one: int) -> None:
        self._most = most
        self._for_one = for_one
        self._open = dict[Key, _PooledTracker]()

    def __iter__(self) -> Iterator[Tracker]:
        return (one.tracker for one in self._open.values())

    def keys(self) -> KeysView[Key]:
        return self._open.keys()

    def add(self, tracked: TrackedIntegration, tracker: Tracker) -> None:
        self._open[tracked.key] = _PooledTracker(tracked.job.project_id, tracker)

    def use(self, key: Key) -> Tracker | None:
        """Returns an open tracker, which counts as the last one used."""
        found = self._open.pop(key, None)
        if found is None:
            return None
        self._open[key] = found
        return found.tracker

    def remove(self, key: Key) -> Tracker | None:
        found = self._open.pop(key, None)
        return None if found is None else found.tracker

    def surplus(self, *, busy: Collection[Key]) -> list[Key]:
        """Returns those above the limits that are not written now, the first to be closed first."""
        counts = Counter(one.project_id for one in self._open.values())
        idle = [(key, one.project_id) for key, one in self._open.items() if key not in busy]
        found = list[Key]()
        while idle:
            key, project_id = first = max(idle, key=lambda one: counts[one[1]])
            if counts.total() <= self._most and counts[project_id] <= self._for_one:
                break
            idle.remove(first)
            counts[project_id] -= 1
            found.append(key)
        return found
