"""Draws histograms side by side, one column for each step, as SVG without a script. Pure.

The darker a cell, the larger its share of the step's rollouts. The table has the counts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from app.domain.rollouts.histograms import BINS, RewardHistogram

COLUMNS: Final = 24
"""Steps that are shown."""
_LEFT: Final = 44.0
_RIGHT: Final = 350.0
_TOP: Final = 8.0
_BOTTOM: Final = 158.0
_FAINTEST: Final = 0.12
"""Opacity of the cell of a single rollout among many."""


@dataclass(frozen=True, slots=True)
class Cell:
    x: float
    y: float
    width: float
    height: float
    opacity: float
    title: str


@dataclass(frozen=True, slots=True)
class HistogramStrip:
    histogram: RewardHistogram

    @property
    def steps(self) -> list[int]:
        return sorted(self.histogram.counts)

    @property
    def cells(self) -> list[Cell]:
        steps = self.steps
        width = (_RIGHT - _LEFT) / len(steps)
        height = (_BOTTOM - _TOP) / BINS
        return [
            Cell(
                x=round(_LEFT + column * width, 1),
                y=round(_BOTTOM - (row + 1) * height, 1),
                width=round(width * 0.94, 1),
                height=round(height * 0.94, 1),
                opacity=round(_FAINTEST + (1 - _FAINTEST) * count / sum(counts), 2),
                title=f"Step {step}: {count} of {sum(counts)} rollouts",
            )
            for column, step in enumerate(steps)
            for counts in (self.histogram.counts[step],)
            for row, count in enumerate(counts)
            if count
        ]

    @property
    def summary(self) -> str:
        """The chart in a sentence, for readers who cannot see it."""
        first, last = (self._upper_half(step) for step in (self.steps[0], self.steps[-1]))
        middle = (self.histogram.low + self.histogram.high) / 2
        return (
            f"rewards from {self.histogram.low:.4g} to {self.histogram.high:.4g}; "
            f"{first:.0%} of the rollouts of step {self.steps[0]} earned {middle:.4g} or more, "
            f"{last:.0%} of step {self.steps[-1]}."
        )

    def _upper_half(self, step: int) -> float:
        counts: Sequence[int] = self.histogram.counts[step]
        return sum(counts[BINS // 2 :]) / sum(counts)
