"""The order in which batches compute: chats before background work, which never stands still.

Owns that order and the size of background steps. It counts steps and reads no clock, so that equal
submissions have equal orders. Promises: a chat of a version without others waits for at most the
running step and one background step; background work gets one step for every `CHAT_STEPS` of
chats. Must not know sequences or tensors.
"""

from collections.abc import Collection
from typing import Final, NamedTuple

from workers.engines.cpu.batching.parts import WHOLE, StepLimit

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


class BatchOrder:
    def __init__(self) -> None:
        self._chat_steps = 0
        """Steps of chats since the last background step."""
        self._near = 0
        """Background steps that are still small."""
        self._steps = 0
        self._last: dict[BatchKind, int] = {}
        """The number of the last step of each batch that has had work since."""

    def next(self, working: Collection[BatchKind]) -> tuple[BatchKind, StepLimit]:
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
            return self._longest_ago(chats), WHOLE
        self._chat_steps = 0
        if not self._near:
            return self._longest_ago(others), WHOLE
        self._near -= 1
        return self._longest_ago(others), SMALL

    def _longest_ago(self, kinds: list[BatchKind]) -> BatchKind:
        """Returns the batch whose last step is the longest ago, and counts its next one. One that
        had no work goes first.
        """
        kind = min(kinds, key=lambda each: self._last.get(each, 0))
        self._steps += 1
        self._last[kind] = self._steps
        return kind
