"""The table of a chart: its lines, and the steps that are its rows. Pure.

A chart is a table first, and the script draws it from that table. A reader without a script, or
with a screen reader, has every value, and both show the same. Lines of a long job are outlines:
at a step where one of them is lowest or highest the others may have no value in the table.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from app.domain.jobs.curves.curves import Curve
from app.domain.jobs.curves.thinning import extremes, thin

COLOURS: Final = 8
"""Largest number of lines with a colour of their own; `charts.js` has as many."""
ChartMark = Literal["line", "points", "rule", "edge"]
"""`edge`: one of two lines between which a band is drawn."""
SHOWN_STEPS: Final = 150
"""Evenly spaced steps of a chart, and validations beside them. More would not show on a screen, and
would make the page large.
"""
_SPIKES: Final = 150
"""Further steps, shared by the lines of a chart: those with the lowest and highest values, so that
an outlier between two shown steps is visible.
"""
_FEWEST_SHARED: Final = 16
"""Shared steps below which an outline is thinned by its own points: it has points at few steps."""
_ENDS_AND_EXTREMES: Final = 4
"""A line's two ends, its lowest and its highest value."""


@dataclass(frozen=True, slots=True)
class Line:
    label: str
    curve: str
    values: Curve
    mark: ChartMark = "line"
    every: int = 1
    """Number of steps of a block, if `values` is an outline."""

    @property
    def shared_steps(self) -> list[int]:
        """The steps that outlines of the same blocks share: the last of each block."""
        shared = [step for step in self.values if (step + 1) % self.every == 0]
        return shared if len(shared) >= _FEWEST_SHARED else list(self.values)


@dataclass(frozen=True, slots=True)
class Chart:
    id: str
    title: str
    unit: str
    lines: Sequence[Line]

    @property
    def steps(self) -> list[int]:
        """The steps of the table's rows: evenly spaced ones, as many of the validations, and those
        at which a line is lowest or highest.
        """
        points = {step for line in self.lines if line.mark == "points" for step in line.values}
        steps = {step for line in self.lines for step in line.values}
        shown = set(thin(sorted(points), SHOWN_STEPS))
        for every in {line.every for line in self.lines}:
            alike = [line for line in self.lines if line.every == every]
            shared = {step for line in alike for step in line.shared_steps}
            shown.update(thin(sorted(shared), SHOWN_STEPS))
        if len(shown) < len(steps):
            for line in self.lines:
                shown |= _spikes(line.values, _SPIKES // len(self.lines))
        return sorted(shown)

    @property
    def summary(self) -> str:
        """The chart in a sentence, for readers who cannot see it."""
        steps = {step for line in self.lines for step in line.values}
        lines = "; ".join(map(_in_words, self.lines))
        return f"{lines}; steps {min(steps)} to {max(steps)}."


def _spikes(curve: Curve, count: int) -> set[int]:
    """Returns the steps of the lowest and highest values of a line, of each stretch of it if there
    may be many.
    """
    steps = sorted(curve)
    values = [curve[step] for step in steps]
    return {steps[index] for index in extremes(values, max(count, _ENDS_AND_EXTREMES))}


def _in_words(line: Line) -> str:
    first, last = (line.values[end(line.values)] for end in (min, max))
    if line.mark == "rule" or len(line.values) == 1:
        return f"{line.label} {last:.4g}"
    return f"{line.label} from {first:.4g} to {last:.4g}"
