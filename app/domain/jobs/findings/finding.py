"""A finding: one sentence about the state of a job, and its severity."""

from dataclasses import dataclass
from typing import Final, Literal

FindingSeverity = Literal["good", "unclear", "warn"]
GRAVEST_FIRST: Final[tuple[FindingSeverity, ...]] = ("warn", "unclear", "good")


@dataclass(frozen=True, slots=True)
class Finding:
    severity: FindingSeverity
    text: str
    curve: str
    """Name of the curve that shows it; empty if there is none."""
