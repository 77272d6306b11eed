"""The order in which batches compute: chats before background work, which never stands still.

Owns that order and the size of background steps. It counts steps and reads no clock, so that equal
submissions have equal orders. Promises: a chat of a version without others waits for at most the
running step and one background step; background work gets one step for every `CHAT_STEPS` of
chats. The order is fair over owners, whatever number of versions they have. Must not know
sequences or tensors.
"""

from collections.abc import Callable, Collection
from typing import Final, NamedTuple

from workers.engines.cpu.batching.packed_batch import WHOLE, StepLimit

CHAT_STEPS: Final = 4
"""Steps of chats for one of background work, while both have work."""
NEAR_STEPS: Final = 64
"""Background steps after a chat's that stay small, because its client may well send the next."""
SMALL: Final = StepLimit(prompt_tokens=128, rows=32)
"""A background step while a chat is near. Measured on the shipped model, one thread: 32 rows take
three times as long as one row, 128 rows eight times, 512 tokens of prompts thirteen times.
"""


class BatchKind(NamedTuple):
    """A batch: the sequences of a model version that are chats, or those that are not."""

    version: int
    background: bool


Owners = Callable[[BatchKind], Collection[str]]
"""Returns the owners of the sequences of a batch with work."""


class BatchOrder:
    def __init__(self) -> None:
        self._chat_steps = 0
        """Steps of chats since the last background step."""
        self._near = 0
        """Background steps that are still small."""
        self._steps = 0
        self._last: dict[BatchKind, int] = {}
        """The number of the last step of each batch that has had work since."""
        self._served: dict[tuple[bool, str], int] = {}
        """The number of the last step of each owner's chats, and of its background work."""

    def next(
        self, working: Collection[BatchKind], owners: Owners = lambda _: ()
    ) -> tuple[BatchKind, StepLimit]:
        """Returns the batch that computes next, and the most work of its step. `working`: batches
        with work.
        """
        self._last = {kind: step for kind, step in self._last.items() if kind in working}
        chats = [kind for kind in working if not kind.background]
        others = [kind for kind in working if kind.background]
        if chats:
            self._near = NEAR_STEPS
        if chats and (not others or self._chat_steps < CHAT_STEPS):
            self._chat_steps += 1
            return self._longest_ago(chats, owners), WHOLE
        self._chat_steps = 0
        if not self._near:
            return self._longest_ago(others, owners), WHOLE
        self._near -= 1
        return self._longest_ago(others, owners), SMALL

    def _longest_ago(self, kinds: list[BatchKind], owners: Owners) -> BatchKind:
        """Returns the batch of the owner whose last step is the longest ago, and counts its next
        one: an owner with twenty versions has no more steps than one with a single version. Among
        batches of one owner, one that had no work goes first.
        """
        self._steps += 1
        if len(kinds) == 1:
            [kind] = kinds
        else:
            kind = self._served_longest_ago(kinds, owners)
        self._last[kind] = self._steps
        return kind

    def _served_longest_ago(self, kinds: list[BatchKind], owners: Owners) -> BatchKind:
        background = kinds[0].background
        owned = {kind: {(background, owner) for owner in owners(kind)} for kind in kinds}
        present = set[tuple[bool, str]]().union(*owned.values())
        self._served = {
            owner: step
            for owner, step in self._served.items()
            if owner in present or owner[0] != background
        }
        # An owner that comes waits like the one that waits longest, and no longer: chats that come
        # and go would otherwise always be first.
        known = [step for owner, step in self._served.items() if owner in present]
        self._served = dict.fromkeys(present, min(known, default=0)) | self._served

        def rank(kind: BatchKind) -> tuple[int, int]:
            longest_ago = min((self._served[owner] for owner in owned[kind]), default=0)
            return longest_ago, self._last.get(kind, 0)

        chosen = min(kinds, key=rank)
        self._served.update(dict.fromkeys(owned[chosen], self._steps))
        return chosen
