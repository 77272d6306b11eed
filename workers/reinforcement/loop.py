"""The loop of a reinforcement run: baseline, then sample, train, publish, evaluate and commit, step
by step.

It keeps no state that a resume would miss: the committed step, the seed and the files determine it.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from app.domain.data.dataset import DatasetRow
from app.domain.jobs.usage import Usage
from app.domain.methods.learning import LearningOptions
from app.domain.methods.mode import UniformOrdering
from app.domain.rollouts.trajectory import ScoredRollout
from workers.journal.journal import AdapterJournal
from workers.journal.postgres import PostgresJournal
from workers.reinforcement.evaluation import Evaluator
from workers.reinforcement.infrastructure import ExcessiveLosses, too_many_lost
from workers.reinforcement.pass_rates import RowPassRates, pass_rates_of, played_rows
from workers.reinforcement.plan import Plan
from workers.reinforcement.schedulers.mode import Mode, PromptSchedule
from workers.reinforcement.schedulers.orderings import RowOrder, StepSizes
from workers.reinforcement.steps.outcome import SampledValidation
from workers.reinforcement.steps.summary import count_losses
from workers.rollout.policy import Policy
from workers.rollout.setup import RolloutSetup
from workers.runs.adapters.publisher import Publisher
from workers.runs.context import RunContext
from workers.runs.endings.lost_step import StepLost
from workers.runs.method import CheckStop
from workers.runs.steps.reporter import Reporter
from workers.runs.steps.step_outcome import StepOutcome, TrainedStep


class ReinforcementLoop:
    def __init__(
        self,
        context: RunContext,
        plan: Plan,
        *,
        options: LearningOptions,
        setup: RolloutSetup,
        mode: Mode,
        policy: Policy,
        publisher: Publisher,
        reporter: Reporter,
        base_policy: Policy | None = None,
    ) -> None:
        """`base_policy` samples from the base model of a job that starts from another one."""
        self._context = context
        self._plan = plan
        self._options = options
        self._evaluator = Evaluator(
            setup,
            context.job.id,
            plan.hyperparameters.evaluation,
            context.settings.runs.infrastructure_limit,
        )
        self._mode = mode
        self._policy = policy
        self._base_policy = base_policy
        self._publisher = publisher
        self._reporter = reporter
        self._journals: dict[int, asyncio.Task[PostgresJournal]] = {}
        self._committed = 0
        self._pass_rates = RowPassRates(None, {})

    async def baseline(self, valid_rows: Sequence[DatasetRow]) -> None:
        """Measures the model that training starts from on the held-out rows, once per job; and the
        base model, if that is another one.
        """
        if await self._reporter.has_baseline():
            return
        validation = await self._evaluate(0, valid_rows)
        self._check_infrastructure(
            validation.rollouts, StepOutcome(TrainedStep(0), validation=validation)
        )
        if self._base_policy is not None:
            validation = await self._evaluator.with_base(
                validation,
                valid_rows,
                policy=self._base_policy,
                journal=AdapterJournal(await self._journal(0), ""),
            )
        await self._reporter.commit_baseline(StepOutcome(TrainedStep(0), validation=validation))
        self._journals.pop(0, None)

    async def validate(self, valid_rows: Sequence[DatasetRow], *, step: int) -> None:
        """Measures the last committed step of a run that ends before its plan does."""
        if await self._reporter.was_validated(step):
            return
        validation = await self._evaluate(step, valid_rows)
        await self._reporter.commit_validation(
            StepOutcome(TrainedStep(step), validation=validation)
        )

    async def compare(
        self, valid_rows: Sequence[DatasetRow], *, step: int, start: Policy, tuned: Policy
    ) -> None:
        """Samples the published step and the model at the start again, for the report."""
        if await self._reporter.was_compared(step):
            return
        journal = await self._journal(self._committed + 1)
        outcomes = []
        for number, policy, name in ((0, start, "start"), (step, tuned, f"step {step}")):
            validation = await self._evaluator.compare(
                valid_rows, step=number, policy=policy, journal=AdapterJournal(journal, name)
            )
            outcomes.append(StepOutcome(TrainedStep(number), validation=validation))
        await self._reporter.commit_comparison(*outcomes)

    async def steps(
        self,
        train_rows: Sequence[DatasetRow],
        valid_rows: Sequence[DatasetRow],
        *,
        first: int,
        scheduler_state: dict[str, Any] | None = None,
        check_stop: CheckStop,
        check_learning: Callable[[int], Awaitable[None]],
    ) -> None:
        """Trains steps `first` to the last. `check_stop` and `check_learning` are called before
        each and raise to stop; `scheduler_state` is the mode's state as committed with the step
        before.
        """
        begun = time.perf_counter()
        self._committed = first - 1
        if first <= self._plan.total_steps:
            check_stop()  # before anything is sampled ahead
        order = await self._order(train_rows)
        schedule = self._schedule(
            train_rows, len(valid_rows), order=order, scheduler_state=scheduler_state
        )
        await self._mode.start(schedule)
        for step in range(first, self._plan.total_steps + 1):
            check_stop()
            await check_learning(step)
            started = time.perf_counter()
            outcome = await self._step(step, valid_rows)
            ended = time.perf_counter()
            outcome = replace(outcome, seconds=ended - started, ended_at=time.time())
            pace_s = (ended - begun) / (step - first + 1)
            await self._reporter.commit_step(
                outcome, total_steps=self._plan.total_steps, pace_s=pace_s
            )
            self._journals.pop(step, None)
            self._pass_rates.add(step, played_rows(outcome.trained.scored_rollouts()))
            self._committed = step
            await self._mode.on_step_committed(step)
            await self._publisher.retire()

    async def _step(self, step: int, valid_rows: Sequence[DatasetRow]) -> StepOutcome:
        trained = await self._mode.step(step)
        adapter = await self._publisher.publish(trained)
        if not self._plan.evaluates_after(step):
            return StepOutcome(trained, adapter)
        return StepOutcome(trained, adapter, await self._evaluate(step, valid_rows))

    async def _order(self, train_rows: Sequence[DatasetRow]) -> RowOrder:
        """Returns the rows of each step, from what the committed steps have measured."""
        options = self._options
        ordering, mode = options.ordering or UniformOrdering(), options.mode
        self._pass_rates = await pass_rates_of(
            self._context,
            ordering,
            items=lambda: (row.item for row in train_rows),
            committed=self._committed,
        )
        return RowOrder(
            ordering,
            StepSizes(len(train_rows), self._plan.hyperparameters.batch_size),
            self._context.job.seed,
            self._pass_rates,
            lag=0 if mode is None else mode.staleness,
        )

    def _schedule(
        self,
        train_rows: Sequence[DatasetRow],
        held_out: int,
        *,
        order: RowOrder,
        scheduler_state: dict[str, Any] | None,
    ) -> PromptSchedule:
        job, hyper = self._context.job, self._plan.hyperparameters

        @lru_cache(maxsize=16)  # rows are parsed on access, and there may be very many
        def rows(step: int) -> list[DatasetRow]:
            return [train_rows[number] for number in order.rows(step)]

        def within_caps(step: int) -> bool:
            """Counts the rollouts of the steps before `step`, and of their validations."""
            before = range(self._committed + 1, step)
            trained = sum(map(order.sizes.size, before)) * hyper.group_size
            validations = sum(self._plan.evaluates_after(earlier) for earlier in before)
            per_row = hyper.evaluation.rollouts_per_row
            ahead = Usage(rollouts=trained + validations * held_out * per_row)
            return job.caps.reached((self._reporter.usage or Usage()).plus(ahead)) is None

        return PromptSchedule(
            job_id=job.id,
            group_size=hyper.group_size,
            total_steps=self._plan.total_steps,
            rows=rows,
            size=order.sizes.size,
            journal=self._journal,
            check=self._check_step,
            within_caps=within_caps,
            committed_step=self._committed,
            scheduler_state=scheduler_state,
        )

    async def _evaluate(self, step: int, rows: Sequence[DatasetRow]) -> SampledValidation:
        journal = await self._journal(step)
        validation = await self._evaluator.validate(
            rows,
            step=step,
            policy=self._policy,
            journal=AdapterJournal(journal, self._publisher.adapter_digest()),
        )
        lost = self._too_many_lost(validation.rollouts)
        if lost is None:
            return validation
        # The mean of the few remaining rollouts must not rank checkpoints or end jobs.
        warning = (
            f"The validation of step {step} has no reward: {lost.reason}. No checkpoint is ranked "
            "by it, and no stop rule reads it."
        )
        return replace(validation, values=count_losses(validation.rollouts), warnings=[warning])

    async def _journal(self, step: int) -> PostgresJournal:
        """Returns the journal that is kept until a step is committed; it is loaded once."""
        if step not in self._journals:
            self._journals[step] = asyncio.create_task(self._read_journal(step))
        return await asyncio.shield(self._journals[step])

    async def _read_journal(self, step: int) -> PostgresJournal:
        journal = PostgresJournal(self._context.unit, job_id=self._context.job.id, step=step)
        await journal.load()
        return journal

    def _check_step(self, rollouts: Sequence[ScoredRollout]) -> None:
        """Checks the rollouts of the step after the last committed one. If the check fails they are
        stored like those of a validation, since nothing was trained on them.
        """
        kept = SampledValidation(
            further={"train": count_losses(rollouts)}, further_rollouts=rollouts
        )
        step = TrainedStep(self._committed + 1)
        self._check_infrastructure(rollouts, StepOutcome(step, validation=kept))

    def _check_infrastructure(
        self, rollouts: Sequence[ScoredRollout], outcome: StepOutcome
    ) -> None:
        """Ends the run when too many rollouts were lost: training on the others would be biased."""
        lost = self._too_many_lost(rollouts)
        if lost is not None:
            raise StepLost(
                f"{lost.reason}. {lost.cure} and create the job again; no reward was made from "
                "these failures. The rollouts are kept: GET /v1/fine_tuning/jobs/"
                f"{self._context.job.id}/rollouts?failed=true",
                code=lost.code,
                param=lost.param,
                outcome=outcome,
            )

    def _too_many_lost(self, rollouts: Sequence[ScoredRollout]) -> ExcessiveLosses | None:
        return too_many_lost(rollouts, limit=self._context.settings.runs.infrastructure_limit)
