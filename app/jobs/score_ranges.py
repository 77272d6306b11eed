"""The range of scores: that of the grader's definition, or that in which scores were seen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from app.graders.grader_model import GraderModel
from app.rollouts.metrics import TIE

_FEWEST_REACHING: Final = 3


_SHARE_REACHING: Final = 0.05


@dataclass(frozen=True, slots=True)
class Scale:
    """A range of scores: that of the grader, or that in which scores were seen."""

    floor: float
    ceiling: float

    @property
    def is_flat(self) -> bool:
        return self.ceiling - self.floor <= TIE

    def shortfall(self, reward: float) -> float:
        """Returns the share of the range that a reward lacks to the ceiling: 0 to 1."""
        if self.is_flat:
            return 0.0
        lacking = (self.ceiling - reward) / (self.ceiling - self.floor)
        return min(1.0, max(0.0, lacking))


@dataclass(frozen=True, slots=True)
class ScoreRanges:
    """The ranges that a grader's definition gives its scores."""

    reward: Scale | None = None
    """`None` where the definition does not limit them."""
    components: Mapping[str, Scale] = field(default_factory=dict)


def seen_scale(values: Mapping[int, Sequence[float]]) -> Scale:
    """Returns the range in which the scores of rows were seen: from 0, or below it the lowest, to
    the highest, each that which at least 3 rows and 5 % of the rows reach. A single score is no
    end: the highest of many is high by chance, or by a fault of the grader.
    """
    count = min(len(values), max(_FEWEST_REACHING, round(_SHARE_REACHING * len(values))))
    if not count:
        return Scale(0.0, 0.0)
    lowest = sorted(min(of_row) for of_row in values.values())[count - 1]
    highest = sorted((max(of_row) for of_row in values.values()), reverse=True)[count - 1]
    return Scale(min(0.0, lowest), highest)


def ranges_of(grader: GraderModel) -> ScoreRanges:
    """Returns the ranges of a grader and of its parts, where their definitions limit them."""
    parts = {name: _range(part) for name, part in grader.parts.items()}
    return ScoreRanges(
        _range(grader), {name: scale for name, scale in parts.items() if scale is not None}
    )


def _range(grader: GraderModel) -> Scale | None:
    if grader.lowest is None or grader.highest is None:
        return None
    return Scale(grader.lowest, grader.highest)
