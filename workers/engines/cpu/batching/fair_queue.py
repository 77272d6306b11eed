"""The queue for the rows of a version batch, fair over owners.

Owns the order of admission: the owner with the fewest rows is next, then the sequence that came
first. An owner is a cache salt, of which each tenant has one; a crowd of one tenant therefore
delays the first sequence of another by no row. Must not know rows, tensors or versions.
"""

from collections import Counter, deque
from collections.abc import Iterable, Iterator

from workers.engines.cpu.batching.sequence import Sequence


class FairQueue:
    def __init__(self) -> None:
        self._by_owner: dict[str, deque[tuple[int, Sequence]]] = {}
        self._arrived = 0

    def __len__(self) -> int:
        return sum(len(waiting) for waiting in list(self._by_owner.values()))

    def __iter__(self) -> Iterator[Sequence]:
        for waiting in self._by_owner.values():
            for _, sequence in waiting:
                yield sequence

    @property
    def owners(self) -> set[str]:
        return set(self._by_owner)

    def add(self, sequence: Sequence) -> None:
        self._arrived += 1
        waiting = self._by_owner.setdefault(sequence.owner, deque())
        waiting.append((self._arrived, sequence))

    def first(self, rows: Counter[str]) -> Sequence:
        """Returns the next sequence; `rows` counts the rows of each owner."""
        owner = min(self._by_owner, key=lambda o: (rows[o], self._by_owner[o][0][0]))
        return self._by_owner[owner][0][1]

    def take(self, sequence: Sequence) -> tuple[int, Sequence]:
        """Removes the first sequence of its owner. Returns what `give_back` gets."""
        waiting = self._by_owner[sequence.owner]
        taken = waiting.popleft()
        if not waiting:
            del self._by_owner[sequence.owner]
        return taken

    def give_back(self, taken: list[tuple[int, Sequence]]) -> None:
        """Puts sequences that were taken in this order back to their places."""
        for arrived, sequence in reversed(taken):
            self._by_owner.setdefault(sequence.owner, deque()).appendleft((arrived, sequence))

    def keep(self, kept: Iterable[Sequence]) -> None:
        """Removes all sequences but these."""
        remaining = set(kept)
        for owner, waiting in list(self._by_owner.items()):
            left = deque(entry for entry in waiting if entry[1] in remaining)
            if left:
                self._by_owner[owner] = left
            else:
                del self._by_owner[owner]
