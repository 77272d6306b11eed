"""Progress of this process's one claim; its supervisor tells a long run from a hung one."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class ProgressMark:
    number: int
    what: str


class Progress:
    def __init__(self) -> None:
        self.latest = ProgressMark(0, "start")

    def mark(self, what: str) -> None:
        """`what`: a few words for the job's owner. Two threads may make the same number."""
        self.latest = ProgressMark(self.latest.number + 1, what)


PROGRESS: Final = Progress()
