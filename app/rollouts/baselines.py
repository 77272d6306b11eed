"""Histograms of the rewards of some steps, over one range of rewards. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import comb
from statistics import fmean, pstdev
from typing import Final, Literal

from app.rollouts.metrics import TIE
from app.rollouts.rollouts import PassCount, PassKind, RowMean, pass_kind

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


BaselineVerdict = Literal["nothing", "little", "something", "unclear"]
_LITTLE: Final = 0.1
"""Share of rows with different rewards below which a job trains on little."""


@dataclass(frozen=True, slots=True)
class BaselineRow:
    """The graded samples of one row; at least one."""

    row: int
    graded: int
    passed: int
    lost: int
    mean: float
    deviation: float
    """Standard deviation of the rewards around their mean."""
    lowest: float
    highest: float

    @classmethod
    def of(cls, row: int, rewards: Sequence[float], *, passed: int, lost: int) -> "BaselineRow":
        """Returns the row of at least one graded sample."""
        return cls(
            row=row,
            graded=len(rewards),
            passed=passed,
            lost=lost,
            mean=fmean(rewards),
            deviation=pstdev(rewards),
            lowest=min(rewards),
            highest=max(rewards),
        )

    @property
    def kind(self) -> PassKind:
        return pass_kind(self.passed, self.graded)

    @property
    def teaches(self) -> bool:
        """True if two samples have different rewards."""
        return self.highest - self.lowest > TIE

    def pass_at(self, samples: int) -> float | None:
        """Returns the probability that one of so many samples passes, estimated without bias from
        the graded ones; `None` for more samples than were graded.
        """
        if samples > self.graded:
            return None
        return 1 - comb(self.graded - self.passed, samples) / comb(self.graded, samples)


@dataclass(frozen=True, slots=True)
class Baseline:
    rows: Sequence[BaselineRow]
    """The row with the largest deviation first."""
    all_lost: int = 0
    """Further rows, of which no sample was graded."""

    @classmethod
    def of(cls, rows: Sequence[BaselineRow], *, all_lost: int = 0) -> "Baseline":
        return cls(sorted(rows, key=lambda one: (-one.deviation, one.row)), all_lost)

    @classmethod
    def of_means(cls, means: Sequence[RowMean], counts: Sequence[PassCount]) -> "Baseline":
        """Returns the baseline of one validation. Between the two reads a rollout may be
        deleted.
        """
        passed = {one.prompt_index: min(one.passed, one.graded) for one in counts}
        rows = [
            BaselineRow(
                row=mean.prompt_index,
                graded=mean.graded,
                passed=min(passed.get(mean.prompt_index, 0), mean.graded),
                lost=mean.rollouts - mean.graded,
                mean=mean.reward,
                deviation=mean.deviation or 0.0,
                lowest=mean.lowest or 0.0,
                highest=mean.highest or 0.0,
            )
            for mean in means
            if mean.reward is not None
        ]
        return cls.of(rows, all_lost=sum(not mean.graded for mean in means))

    @property
    def samples(self) -> int:
        """Largest number of graded samples of a row."""
        return max((one.graded for one in self.rows), default=0)

    @property
    def teaching(self) -> list[BaselineRow]:
        return [one for one in self.rows if one.teaches]

    def of_kind(self, kind: PassKind) -> list[BaselineRow]:
        return [one for one in self.rows if one.kind == kind]

    def pass_at(self, samples: int) -> float | None:
        """Returns the mean of pass@k over the rows with so many graded samples."""
        found = [value for one in self.rows if (value := one.pass_at(samples)) is not None]
        return fmean(found) if found else None

    @property
    def passes(self) -> list[tuple[int, float]]:
        """pass@k for k = 1, 2, 4 … and for the largest number of samples."""
        counts = {2**power for power in range(self.samples.bit_length()) if self.samples}
        values = [(k, self.pass_at(k)) for k in sorted(counts | {self.samples} - {0})]
        return [(k, value) for k, value in values if value is not None]

    @property
    def verdict(self) -> BaselineVerdict:
        if not self.rows or (self.samples == 1 and not self._is_solved):
            return "unclear"
        teaching = len(self.teaching)
        if not teaching:
            return "nothing"
        return "little" if teaching < _LITTLE * len(self.rows) else "something"

    @property
    def reason(self) -> str:
        """The verdict in a sentence."""
        if not self.rows:
            return "No rollout was graded."
        if self._is_solved:
            return (
                "Every sample of every row already passes: take harder rows, or a stricter grader."
            )
        if self.samples == 1:
            return (
                "There is one graded sample of each row, which shows no spread: sample each row "
                "several times."
            )
        rows = len(self.rows)
        if teaching := len(self.teaching):
            rest = "" if teaching == rows else " A job learns nothing from the others as they are."
            return f"{teaching} of {rows} rows have samples with different rewards.{rest}"
        if len(self.of_kind("never")) == rows:
            return (
                "No sample of any row passes, and all samples of a row have the same reward: take "
                "easier rows, a grader with scores for parts of the task, or another model."
            )
        return (
            "All samples of a row have the same reward, so there is nothing to prefer: sample more "
            "of each row, or take a grader with finer scores."
        )

    @property
    def _is_solved(self) -> bool:
        return len(self.of_kind("always")) == len(self.rows) and not self.teaching
