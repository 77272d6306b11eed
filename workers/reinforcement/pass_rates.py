"""The pass rates of the rows of a job, by the committed step that measured them.

Owns the definition of a pass rate. Promises: what is known after a step is the same whether the
rollouts come from the run itself or, after a kill, from the database.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from statistics import fmean
from typing import Any, assert_never

from app.domain.data.row_difficulty import difficulty_of
from app.domain.methods.mode import (
    AnyOrdering,
    EasyToHardOrdering,
    FocusOrdering,
    UniformOrdering,
)
from app.domain.rollouts.rollouts import PlayedRow
from app.domain.rollouts.trajectory import ScoredRollout
from workers.reinforcement.schedulers.orderings import Known, LastRate
from workers.runs.context import RunContext


class RowPassRates:
    """Implements `workers.reinforcement.schedulers.orderings.PassRates`."""

    def __init__(self, pass_reward: float | None, priors: Mapping[int, float]) -> None:
        """`priors` are pass rates of rows before they were played."""
        self._pass_reward = pass_reward
        self._priors = {row: LastRate(0, rate) for row, rate in priors.items()}
        self._by_step: dict[int, dict[int, float | None]] = {}
        self._committed = 0
        self._last: tuple[int, dict[int, LastRate]] = (0, dict(self._priors))

    def as_of(self, step: int) -> Known:
        if step > self._committed:
            raise RuntimeError(f"step {step} is not committed, and its pass_rates are not known")
        at, known = self._last
        if step < at:
            at, known = 0, dict(self._priors)
        for later in range(at + 1, step + 1):
            for row, rate in self._by_step.get(later, {}).items():
                before = known[row].pass_rate if row in known else None
                known[row] = LastRate(later, before if rate is None else rate)
        self._last = (step, known)
        return known

    def add(self, step: int, played: Iterable[PlayedRow]) -> None:
        """Adds the rollouts that a committed step has trained. A row whose rollouts were all lost
        was played, and keeps the rate that it had.
        """
        rewards = defaultdict[int, list[float]](list)
        for each in played:
            rewards[each.prompt_index] += [] if each.reward is None else [each.reward]
        self._committed = max(self._committed, step)
        self._by_step[step] = {row: self._rate(of_row) for row, of_row in rewards.items()}

    def _rate(self, rewards: list[float]) -> float | None:
        if not rewards:
            return None
        if self._pass_reward is None:
            return fmean(rewards)
        return sum(reward >= self._pass_reward for reward in rewards) / len(rewards)


def played_rows(rollouts: Iterable[ScoredRollout]) -> list[PlayedRow]:
    return [PlayedRow(one.key.prompt_index, one.reward) for one in rollouts]


async def pass_rates_of(
    context: RunContext,
    ordering: AnyOrdering,
    *,
    items: Callable[[], Iterable[Mapping[str, Any]]],
    committed: int,
) -> RowPassRates:
    """Returns what the committed steps have measured. `items` yields the rows of the training file,
    whose difficulties count before they are played.
    """
    match ordering:
        case UniformOrdering():
            return RowPassRates(None, {})
        case EasyToHardOrdering() | FocusOrdering():
            pass_reward = ordering.pass_reward
        case _:
            assert_never(ordering)
    priors = await asyncio.to_thread(lambda: dict(_priors(items())))
    found = RowPassRates(pass_reward, priors)
    if committed:
        async with context.unit() as unit:
            trained = await unit.rollouts.trained_rows(context.job.id, up_to=committed)
        for step in range(1, committed + 1):
            found.add(step, trained.get(step, ()))
    return found


def _priors(items: Iterable[Mapping[str, Any]]) -> Iterable[tuple[int, float]]:
    for row, item in enumerate(items):
        difficulty = difficulty_of(item)
        if difficulty is not None:
            yield row, 1.0 - difficulty
