"""The rows of a step under each ordering: a pure function of the seed, the step, and what committed
steps have measured.

Promises: a step has as many rows as under `uniform`, each of them once; the rows of a step are
known as soon as the step `lag` + 1 before it is committed, and are then the same after any kill.
Must not know rows or databases.
"""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, assert_never

from app.domain.methods.mode import (
    AnyOrdering,
    EasyToHardOrdering,
    FocusOrdering,
    UniformOrdering,
)
from app.domain.rollouts.metrics import TIE
from workers.runs.steps.row_order import rows_of_step

_UNKNOWN: Final = 0.5
"""Pass rate of a row that nothing is known of."""


@dataclass(frozen=True, slots=True)
class LastRate:
    """The last measurement of a row."""

    step: int
    """The step that last trained its rollouts; 0 for a difficulty that its file names."""
    pass_rate: float | None
    """`None` while all of its rollouts were lost to failures."""


Known = Mapping[int, LastRate]
"""The last pass rates, by number of the row."""


class PassRates(Protocol):
    def as_of(self, step: int) -> Known:
        """Returns what is known after a committed step; 0 is before the first one."""
        ...


@dataclass(frozen=True, slots=True)
class StepSizes:
    """The numbers of rows of the steps, which no ordering changes."""

    row_count: int
    batch_size: int

    @property
    def steps_per_epoch(self) -> int:
        return -(-self.row_count // self.batch_size)

    def size(self, step: int) -> int:
        """Returns the number of rows of a step."""
        position = (step - 1) % self.steps_per_epoch
        return min(self.batch_size, self.row_count - position * self.batch_size)

    def first_of_epoch(self, step: int) -> int:
        return step - (step - 1) % self.steps_per_epoch

    def until(self, step: int) -> int:
        """Returns the number of rows of all steps up to this one."""
        epochs, steps = divmod(step, self.steps_per_epoch)
        return epochs * self.row_count + steps * self.batch_size


@dataclass(frozen=True, slots=True)
class RowOrder:
    """The rows of each step of a run."""

    ordering: AnyOrdering
    sizes: StepSizes
    seed: int
    pass_rates: PassRates
    lag: int = 0
    """Number of steps that are sampled before the one before them is committed."""

    def rows(self, step: int) -> list[int]:
        """Returns the numbers of the rows of a step."""
        ordering = self.ordering
        match ordering:
            case UniformOrdering():
                return self._uniform(step)
            case EasyToHardOrdering():
                return self._easy_to_hard(step)
            case FocusOrdering():
                return self._focus(ordering, step)
            case _:
                assert_never(ordering)

    def _uniform(self, step: int) -> list[int]:
        return rows_of_step(
            step,
            seed=self.seed,
            row_count=self.sizes.row_count,
            batch_size=self.sizes.batch_size,
        )

    def _easy_to_hard(self, step: int) -> list[int]:
        """The order of a pass is decided at its beginning, so that it has each row once."""
        first = self.sizes.first_of_epoch(step)
        known = self._known(first)
        shuffled = self._shuffled(f"easy/{self.seed}/{first}")
        in_order = sorted(shuffled, key=lambda row: -_rate(known, row))
        begin = (step - first) * self.sizes.batch_size
        return in_order[begin : begin + self.sizes.batch_size]

    def _focus(self, ordering: FocusOrdering, step: int) -> list[int]:
        """Takes rows within the limits, and for the rest of the step others, least recently
        played first in both. Where either are too few, the other ones fill the step.

        Rows of the `lag` steps before this one still look as if they waited longest, so steps draw
        from `lag` + 1 parts of the rows in turn, and from the part used longest ago where a step
        needs more.
        """
        known, size = self._known(step), self.sizes.size(step)
        shuffled = self._shuffled(f"focus/{self.seed}/{step}")
        turns = self._turns(step)
        oldest = sorted(shuffled, key=lambda row: (turns[row], _age(known, row)))
        inside, outside = list[int](), list[int]()
        for row in oldest:
            rate = known[row].pass_rate if row in known else None
            is_inside = rate is not None and ordering.low <= rate <= ordering.high
            (inside if is_inside else outside).append(row)
        measured = min(len(outside), self._measured(ordering.measured_share, step))
        practised = inside[: size - measured]
        return practised + outside[: size - len(practised)]

    def _turns(self, step: int) -> Mapping[int, int]:
        """Returns for each row in how many steps it is the turn of its part; 0 is this step."""
        parts = self.lag + 1
        order = self._shuffled(f"focus/{self.seed}")
        return {row: (position - step) % parts for position, row in enumerate(order)}

    def _measured(self, share: float, step: int) -> int:
        """Returns how many rows of a step are measured anew. A remainder of rounding is carried to
        the next step, so that small steps have the share together.
        """
        until, before = (math.floor(share * self.sizes.until(at) + TIE) for at in (step, step - 1))
        return until - before

    def _known(self, step: int) -> Known:
        return self.pass_rates.as_of(max(0, step - 1 - self.lag))

    def _shuffled(self, name: str) -> Sequence[int]:
        order = list(range(self.sizes.row_count))
        random.Random(name).shuffle(order)
        return order


def _rate(known: Known, row: int) -> float:
    rate = known[row].pass_rate if row in known else None
    return _UNKNOWN if rate is None else rate


def _age(known: Known, row: int) -> int:
    """Returns the step that last played a row; rows that were never played come first."""
    return known[row].step if row in known else -1
