"""Counts the progress of this process, by which its supervisor tells a long run from a hung one.

A process works on one claim, so one count serves the whole process. Any thread may mark. Must not
know what a run does, nor who reads the count.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Mark:
    """One achievement: a sampled turn, a computed micro-batch, a stored directory, a commit."""

    number: int
    what: str


class Progress:
    def __init__(self) -> None:
        self.latest = Mark(0, "start")

    def mark(self, what: str) -> None:
        """Notes an achievement, in a few words for the job's owner, such as `rollout ended`.

        Two threads at once may give the same number. A reader asks only whether it has changed.
        """
        self.latest = Mark(self.latest.number + 1, what)


PROGRESS: Final = Progress()
