"""Histograms of the rewards of some steps, over one range of rewards. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

BINS: Final = 10


@dataclass(frozen=True, slots=True)
class RewardHistogram:
    """Numbers of graded rollouts by step, in bins of equal width from the lowest reward to the
    highest one.
    """

    low: float
    high: float
    counts: Mapping[int, Sequence[int]]
    """Counts of each bin by step, lowest bin first."""

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """The lowest and the highest reward of each bin; the upper end belongs to the next one."""
        ends = [
            self.low * (1 - part / BINS) + self.high * (part / BINS) for part in range(BINS + 1)
        ]
        return list(pairwise(ends))
