"""Evaluates held-out rows with real tools, and builds the paired report of start against tuned."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from app.database import RunUnitOfWork
from app.files.datasets import DatasetRow
from app.jobs.intervals import ScoreRanges, ranges_of
from app.jobs.method_faults import paths_of_judges
from app.jobs.reinforcement import Evaluation, ReinforcementMethod
from app.jobs.stop_rules import RuleTrigger
from app.kit.errors import together
from app.kit.ids import REPORT, VALID_BASE, VALID_GREEDY, GroupKey, Split
from app.rollouts.rollouts import RolloutFilter, RolloutRow
from app.rollouts.trajectory import ScoredRollout
from workers.journal import Journal
from workers.methods.reinforcement.step_summary import SampledValidation, summarise, valid_share
from workers.rollout.environment import Policy
from workers.rollout.episode import RolloutSetup, ScoredGroup, run_group
from workers.runs.context import RunContext
from workers.runs.method import ChosenAdapter, report_head
from workers.runs.statistics import PairedValues, paired_report

_PAGE = 200
Told = Callable[[int, int], Awaitable[None]]
"""Is told how many rows are measured, and of how many."""


@dataclass(frozen=True, slots=True)
class Evaluator:
    setup: RolloutSetup
    job_id: str
    options: Evaluation
    lost_limit: float = 1.0
    """Share of lost rollouts from which a validation has no reward."""

    async def validate(
        self,
        rows: Sequence[DatasetRow],
        *,
        step: int,
        policy: Policy,
        journal: Journal,
        told: Told | None = None,
    ) -> SampledValidation:
        """Skips the greedy rollouts if too many others were lost: nothing would be compared."""
        started = time.perf_counter()
        options = self.options
        sampled = await self._play(
            *(rows, "valid", step),
            samples=options.samples,
            policy=policy,
            journal=journal,
            told=told,
        )
        greedy: list[ScoredRollout] = []
        if options.greedy and 1.0 - valid_share(sampled) < self.lost_limit:
            greedy = await self._play(
                rows, VALID_GREEDY, step, samples=1, policy=policy, journal=journal
            )
        return SampledValidation(
            summarise(sampled),
            time.perf_counter() - started,
            further={VALID_GREEDY: summarise(greedy)} if greedy else {},
            rollouts=sampled,
            further_rollouts=greedy,
        )

    async def with_base(
        self,
        validation: SampledValidation,
        rows: Sequence[DatasetRow],
        *,
        policy: Policy,
        journal: Journal,
    ) -> SampledValidation:
        """Adds rollouts of the base model, from which `policy` samples."""
        started = time.perf_counter()
        of_base = await self._play(
            rows, VALID_BASE, 0, samples=self.options.samples, policy=policy, journal=journal
        )
        return replace(
            validation,
            seconds=(validation.seconds or 0.0) + time.perf_counter() - started,
            further={**validation.further, VALID_BASE: summarise(of_base)},
            further_rollouts=[*validation.further_rollouts, *of_base],
        )

    async def compare(
        self, rows: Sequence[DatasetRow], *, step: int, policy: Policy, journal: Journal
    ) -> SampledValidation:
        """With other seeds than a validation: a report must not use what chose a step."""
        started = time.perf_counter()
        rollouts = await self._play(
            rows, REPORT, step, samples=self.options.samples, policy=policy, journal=journal
        )
        return SampledValidation(
            seconds=time.perf_counter() - started,
            further={REPORT: summarise(rollouts)},
            further_rollouts=rollouts,
        )

    async def _play(
        self,
        rows: Sequence[DatasetRow],
        split: Split,
        step: int,
        *,
        samples: int,
        policy: Policy,
        journal: Journal,
        told: Told | None = None,
    ) -> list[ScoredRollout]:
        temperature = 0.0 if split == VALID_GREEDY else self.options.temperature
        setup, done = replace(self.setup, temperature=temperature), 0

        async def play(row: DatasetRow) -> ScoredGroup:
            nonlocal done
            keys = GroupKey(self.job_id, split, step, row.index).samples(samples)
            group = await run_group(setup, row, keys, policy=policy, journal=journal)
            done += 1
            if told is not None:
                await told(done, len(rows))
            return group

        groups = await together(map(play, rows))
        return [rollout for group in groups for rollout in group.rollouts]


class NoReport(Exception):
    """The start model or the published step has too few rewards to be compared."""


async def build_report(
    context: RunContext,
    method: ReinforcementMethod,
    evaluation: Evaluation,
    chosen: ChosenAdapter,
    ended_early: RuleTrigger | None = None,
) -> dict[str, Any]:
    """Builds the paired report of the run from the rollouts of its comparison: the model at the
    start, as step 0, against the published step. Raises `NoReport`, also if either of them lost too
    many rollouts: the remaining rows are not a fair sample of all rows.
    """
    step = chosen.step
    start = await collect_held_out(context, REPORT, step=0, new=_HeldOutValues)
    tuned = await collect_held_out(context, REPORT, step=step, new=_HeldOutValues)
    limit = context.settings.runs.infrastructure_limit
    for side, number in ((start, 0), (tuned, step)):
        if side.lost_share >= limit:
            raise NoReport(f"{side.lost_share:.0%} of the rollouts of step {number} were lost")
    ranges, base = ranges_of(method.grader), None
    if context.start is not None:
        of_base = await collect_held_out(context, VALID_BASE, step=0, new=_HeldOutValues)
        base = of_base.unless_lost(limit)
    try:
        report = await asyncio.to_thread(
            paired_report, *(start.paired, tuned.paired, base), seed=context.job.seed, ranges=ranges
        )
    except ValueError as error:
        raise NoReport(str(error)) from error
    return {
        **report_head(context, chosen, ended_early),
        "eval_temperature": evaluation.temperature,
        "eval_samples": evaluation.samples,
        **report,
        # These judged the rollouts of each model as separate groups: their scores have no scale.
        "judged_apart": paths_of_judges(method.grader, f"method.{method.kind}"),
        "greedy": await _greedy(context, chosen, ranges, limit) if evaluation.greedy else None,
    }


async def _greedy(
    context: RunContext, chosen: ChosenAdapter, ranges: ScoreRanges, limit: float
) -> dict[str, Any] | None:
    """Compares the validations that chose the step; `None` if too many rollouts were lost."""
    of_start = await collect_held_out(context, VALID_GREEDY, step=0, new=_HeldOutValues)
    of_tuned = await collect_held_out(context, VALID_GREEDY, step=chosen.step, new=_HeldOutValues)
    start, tuned = of_start.unless_lost(limit), of_tuned.unless_lost(limit)
    base = None if context.start is None else _UNMEASURED
    try:
        return await asyncio.to_thread(
            paired_report,
            *(start, tuned, base),
            seed=context.job.seed,
            among=chosen.among,
            ranges=ranges,
        )
    except ValueError:
        return None


_UNMEASURED = PairedValues({}, {})


class _RolloutCollector(Protocol):
    def add(self, row: RolloutRow) -> None: ...


_C = TypeVar("_C", bound=_RolloutCollector)


async def collect_held_out(
    context: RunContext, split: Split, *, step: int, new: Callable[[], _C]
) -> _C:
    """Reads page by page: a row carries its whole trace, and there may be 64,000 of them."""

    async def read(unit: RunUnitOfWork) -> _C:
        values = new()
        after, more = None, True
        while more:
            page, more = await unit.rollouts.page(
                context.job.id, RolloutFilter(split=split, step=step), after=after, limit=_PAGE
            )
            for row in page:
                values.add(row)
                after = row.id
        return values

    return await context.in_unit(read)


class _HeldOutValues:
    """Collects values by held-out row; a discarded rollout contributes none."""

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

    def unless_lost(self, limit: float) -> PairedValues:
        return _UNMEASURED if self.lost_share >= limit else self.paired

    def add(self, row: RolloutRow) -> None:
        self._rollouts += 1
        if row.reward is None:
            self._lost += 1
            return
        self.rewards[row.prompt_index].append(row.reward)
        self.tool_calls[row.prompt_index].append(float(row.tool_calls))
        for name, value in row.components.items():
            self.components[name][row.prompt_index].append(value)
