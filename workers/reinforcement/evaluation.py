"""Evaluates held-out rows with real tools, and builds the paired report of base against tuned."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from app.domain.data.dataset import DatasetRow
from app.domain.ids import GroupKey
from app.domain.jobs.stop_rules import RuleTrigger
from app.domain.rollouts.rollouts import RolloutRow
from workers.journal.journal import Journal
from workers.learning.statistics import PairedValues, paired_report
from workers.processes.retry import retry_while_unavailable
from workers.reinforcement.outcome import SampledValidation
from workers.reinforcement.summary import summarise
from workers.rollout.groups import run_groups
from workers.rollout.policy import Policy
from workers.rollout.setup import RolloutSetup
from workers.runs.context import RunContext

_PAGE = 200


async def evaluate(
    setup: RolloutSetup,
    rows: Sequence[DatasetRow],
    *,
    job_id: str,
    step: int,
    samples: int,
    policy: Policy,
    journal: Journal,
) -> SampledValidation:
    """Runs a group of `samples` rollouts for every held-out row."""
    started = time.perf_counter()
    groups = await run_groups(
        setup,
        [(row, GroupKey(job_id, "valid", step, row.index).samples(samples)) for row in rows],
        policy=policy,
        journal=journal,
    )
    rollouts = [rollout for group in groups for rollout in group.rollouts]
    seconds = time.perf_counter() - started
    return SampledValidation(summarise(rollouts), seconds, rollouts=rollouts)


class NoReport(Exception):
    """The base model or the published step has too few rewards to be compared."""


async def build_report(
    context: RunContext, step: int, ended_early: RuleTrigger | None = None
) -> dict[str, Any]:
    """Builds the paired report of the run from its rollouts: step 0 against the published step.
    Raises `NoReport`.
    """
    base = await collect_held_out(context, step=0, new=_Values)
    tuned = await collect_held_out(context, step=step, new=_Values)
    if tuned.lost_share >= context.settings.runs.infrastructure_limit:
        raise NoReport(f"{tuned.lost_share:.0%} of the validation of step {step} was lost")
    try:
        report = await asyncio.to_thread(
            paired_report, base.paired, tuned.paired, seed=context.job.seed
        )
    except ValueError as error:
        raise NoReport(str(error)) from error
    return {
        "object": "fine_tuning.job.report",
        "job_id": context.job.id,
        "base_model": context.base_model.name,
        "start_model": context.job.model,
        "step": step,
        "ended_early": None if ended_early is None else ended_early.to_json(),
        **report,
    }


class _Collector(Protocol):
    def add(self, row: RolloutRow) -> None: ...


_C = TypeVar("_C", bound=_Collector)


async def collect_held_out(context: RunContext, *, step: int, new: Callable[[], _C]) -> _C:
    """Adds each validation rollout of a step to a new collector.

    Reads page by page: a row carries its whole trace, and there may be 64,000 of them.
    """

    async def read() -> _C:
        values = new()
        after, more = None, True
        async with context.unit() as unit:
            while more:
                page, more = await unit.rollouts.page(
                    context.job.id, split="valid", step=step, after=after, limit=_PAGE
                )
                for row in page:
                    values.add(row)
                    after = row.id
        return values

    return await retry_while_unavailable(read)


class _Values:
    """Collects values by held-out row; a discarded rollout has none."""

    def __init__(self) -> None:
        self._rollouts = self._lost = 0
        self.rewards: dict[int, list[float]] = defaultdict(list)
        self.tool_calls: dict[int, list[float]] = defaultdict(list)
        self.components: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))

    @property
    def paired(self) -> PairedValues:
        return PairedValues(self.rewards, self.tool_calls, self.components)

    @property
    def lost_share(self) -> float:
        return self._lost / max(1, self._rollouts)

    def add(self, row: RolloutRow) -> None:
        self._rollouts += 1
        if row.reward is None:
            self._lost += 1
            return
        self.rewards[row.prompt_index].append(row.reward)
        self.tool_calls[row.prompt_index].append(float(row.tool_calls))
        for name, value in row.components.items():
            self.components[name][row.prompt_index].append(value)
