"""The loop of a reinforcement run; committed step, seed and files determine all it does."""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

from app.files.datasets import DatasetRow
from app.jobs.jobs import Usage
from app.jobs.learning import UniformOrdering
from app.jobs.reinforcement import ReinforcementMethod
from app.kit.errors import (
    ENDPOINT_UNAVAILABLE,
    FORMULA_ERROR,
    INVALID_SCORE,
    JUDGE_WITHOUT_SCORE,
    MODEL_ERROR,
    MODEL_UNAVAILABLE,
    PYTHON_ERROR,
    SANDBOX_ERROR,
    SANDBOX_UNAVAILABLE,
    UNREADABLE_ROW,
)
from app.kit.texts import shaped_data
from app.rollouts.trajectory import Failure, FailureClass, ScoredRollout
from workers.engines.policy import EnginePolicy
from workers.journal import AdapterJournal
from workers.learning.trainer import Trainer
from workers.methods.reinforcement.dead_tools import dead_tool
from workers.methods.reinforcement.evaluation import Evaluator, Told
from workers.methods.reinforcement.rows import (
    Plan,
    RowOrder,
    RowPassRates,
    StepSizes,
    pass_rates_of,
    played_rows,
)
from workers.methods.reinforcement.step_summary import (
    SampledValidation,
    count_losses,
    tag_means,
    valid_share,
)
from workers.methods.schedulers.mode import Mode, PromptSchedule
from workers.rollout.environment import Policy
from workers.rollout.episode import RolloutSetup
from workers.runs.context import PostgresJournal, RunContext
from workers.runs.job import StepLost
from workers.runs.method import CheckStop
from workers.runs.publisher import Publisher
from workers.runs.reporter import Reporter
from workers.runs.step_outcome import StepOutcome, TrainedStep

CURES: Final = {
    PYTHON_ERROR: (
        PYTHON_ERROR,
        "Correct the grader's source, try it with POST /v1/fine_tuning/alpha/graders/run,",
    ),
    FORMULA_ERROR: (
        INVALID_SCORE,
        "Correct the formula of the multi grader, or give it an 'invalid_grade',",
    ),
    SANDBOX_ERROR: (
        SANDBOX_UNAVAILABLE,
        "Ask the operator to repair the sandbox that runs the code of graders",
    ),
    "model_grader_parse_error": (
        JUDGE_WITHOUT_SCORE,
        "Use a judge that keeps to the answer format, or give it more max_completion_tokens,",
    ),
    "model_grader_refusal_error": (
        JUDGE_WITHOUT_SCORE,
        "Change the judge's prompt, or use another judge,",
    ),
    MODEL_ERROR: (
        MODEL_UNAVAILABLE,
        "Repair the server of the grader's model, or use another model,",
    ),
}
_GRADER: Final = "method.reinforcement.grader"
_EXCERPT: Final = 240
_TOLD_ROWS: Final = 25
"""Rows of the baseline after which the owner is told again how many are measured."""


@dataclass(frozen=True, slots=True)
class ExcessiveLosses:
    reason: str
    """The share and its main cause, in words a customer can act on."""
    code: str
    cure: str
    flag: str | None = None
    param: str | None = None


_OF_CLASS: Final = {
    FailureClass.GRADER_ITEM_MISSING: (
        "invalid_grader_template",
        "Correct the grader's template, or give every row that key",
    ),
    FailureClass.GRADER_ITEM_UNREADABLE: (
        UNREADABLE_ROW,
        "Correct the rows, or use a grader that can read them,",
    ),
    FailureClass.GRADER_BAD_SCORE: (
        INVALID_SCORE,
        "Correct the grader, or the formula of a multi grader, so that its scores are in range",
    ),
}
_OF_ENDPOINTS: Final = (ENDPOINT_UNAVAILABLE, "Repair the endpoint")


def too_many_lost(rollouts: Sequence[ScoredRollout], *, limit: float) -> ExcessiveLosses | None:
    """Returns `None` while the lost share is below `limit`."""
    lost = 1.0 - valid_share(rollouts)
    if not rollouts or lost < limit:
        return None
    failures = [rollout.failure for rollout in rollouts if rollout.failure is not None]
    causes = Counter(map(_cause, failures))
    main, _ = causes.most_common(1)[0]
    source, cause, flag = main
    messages = Counter(failure.message for failure in failures if _cause(failure) == main)
    message, _ = messages.most_common(1)[0]
    reason = (
        f"{lost:.0%} of the step's rollouts were lost to failures of tools, environments "
        f"or graders (mostly '{source}', {cause.value}: {message})"
    )
    if flag is None:
        return ExcessiveLosses(reason, *_OF_CLASS.get(cause, _OF_ENDPOINTS))
    row, example = next(
        (each.key.prompt_index + 1, each.failure)
        for each in rollouts
        if each.failure is not None and _cause(each.failure) == main
    )
    path = _GRADER if example.child is None else f"{_GRADER}.graders.{example.child}"
    shown = shaped_data(example.details or example.message)  # it may quote a judge
    shown = shown if len(shown) <= _EXCERPT else f"{shown[:_EXCERPT]}…"
    flagged = f"The grader ({path}) has the error '{flag}'; for example in row {row}: "
    return ExcessiveLosses(f"{reason}. {flagged}{shown}", *CURES[flag], flag, path)


def _cause(failure: Failure) -> tuple[str, FailureClass, str | None]:
    """The cause that failures share, whose messages differ, with the flag of a missing score."""
    measured = failure.measures.get(failure.child or "", {})
    flag = next((flag for flag in CURES if measured.get(f"errors/{flag}")), None)
    return failure.source, failure.failure_class, flag


@dataclass(frozen=True, slots=True)
class TrainingParts:
    trainer: Trainer
    setup: RolloutSetup
    mode: Mode
    policy: EnginePolicy
    publisher: Publisher
    accelerators: int


class ReinforcementLoop:
    def __init__(
        self,
        context: RunContext,
        method: ReinforcementMethod,
        plan: Plan,
        parts: TrainingParts,
        reporter: Reporter,
    ) -> None:
        self._context = context
        self._plan = plan
        self._options = method
        lost_limit = context.settings.runs.infrastructure_limit
        options = plan.hyperparameters.evaluation
        self._evaluator = Evaluator(parts.setup, context.job.id, options, lost_limit)
        self._mode, self._policy, self._publisher = parts.mode, parts.policy, parts.publisher
        self._base_policy = None if context.start is None else parts.policy.base
        self._reporter = reporter
        self._journals: dict[int, asyncio.Task[PostgresJournal]] = {}
        self._committed = 0
        self._pass_rates = RowPassRates(None, {})

    async def baseline(self, valid_rows: Sequence[DatasetRow]) -> None:
        """Once per job: the model at the start, and the base model if that is another."""
        if await self._reporter.has_baseline():
            return
        validation = await self._evaluate(0, valid_rows, told=self._tell_baseline)
        outcome = StepOutcome(TrainedStep(0), validation=validation)
        self._check_tools([*validation.rollouts, *validation.further_rollouts], outcome)
        self._check_infrastructure(validation.rollouts, outcome)
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
        """`check_stop` and `check_learning` are called before each step and raise to stop."""
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
        of_tags = tag_means(trained.scored_rollouts(), self._plan.slices)
        trained = replace(trained, values={**trained.values, **of_tags})
        adapter = await self._publisher.publish(trained)
        if not self._plan.evaluates_after(step):
            return StepOutcome(trained, adapter)
        return StepOutcome(trained, adapter, await self._evaluate(step, valid_rows))

    async def _order(self, train_rows: Sequence[DatasetRow]) -> RowOrder:
        ordering, mode = self._options.ordering or UniformOrdering(), self._options.mode
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

    async def _tell_baseline(self, done: int, rows: int) -> None:
        if done % _TOLD_ROWS == 0 and done < rows:
            measured = f"Measuring the model before training: {done} of {rows} rows."
            await self._reporter.message_once(measured)

    async def _evaluate(
        self, step: int, rows: Sequence[DatasetRow], *, told: Told | None = None
    ) -> SampledValidation:
        journal = await self._journal(step)
        validation = await self._evaluator.validate(
            rows,
            step=step,
            policy=self._policy,
            journal=AdapterJournal(journal, self._publisher.adapter_digest()),
            told=told,
        )
        limit = self._context.settings.runs.infrastructure_limit
        lost = too_many_lost(validation.rollouts, limit=limit)
        if lost is None:
            return validation
        # The mean of the few remaining rollouts must not rank checkpoints or end jobs.
        warning = (
            f"The validation of step {step} has no reward: {lost.reason}. No checkpoint is ranked "
            "by it, and no stop rule reads it."
        )
        return replace(validation, values=count_losses(validation.rollouts), warnings=[warning])

    async def _journal(self, step: int) -> PostgresJournal:
        if step not in self._journals:
            self._journals[step] = asyncio.create_task(self._read_journal(step))
        return await asyncio.shield(self._journals[step])

    async def _read_journal(self, step: int) -> PostgresJournal:
        journal = PostgresJournal(self._context.unit, job_id=self._context.job.id, step=step)
        await journal.load()
        return journal

    @property
    def _kept(self) -> str:
        return f" The rollouts are kept: GET /v1/fine_tuning/jobs/{self._context.job.id}/rollouts"

    def _check_step(self, rollouts: Sequence[ScoredRollout]) -> None:
        """A failed check stores its rollouts like a validation: nothing was trained on them."""
        kept = SampledValidation(
            further={"train": count_losses(rollouts)}, further_rollouts=rollouts
        )
        step = TrainedStep(self._committed + 1)
        self._check_infrastructure(rollouts, StepOutcome(step, validation=kept))

    def _check_tools(self, rollouts: Sequence[ScoredRollout], outcome: StepOutcome) -> None:
        """The first calls of the base model are the probe of each tool: a call has side effects."""
        dead = dead_tool(rollouts)
        if dead is None:
            return
        names = [tool.name for tool in self._options.tools]
        param = "method.reinforcement.mcp_servers"
        if dead.name in names:
            param = f"method.reinforcement.tools[{names.index(dead.name)}].server_url"
        raise StepLost(
            f"{dead.reason}. Correct its address, its headers or its server, and create the job "
            f"again.{self._kept}",
            code=ENDPOINT_UNAVAILABLE,
            param=param,
            outcome=outcome,
        )

    def _check_infrastructure(
        self, rollouts: Sequence[ScoredRollout], outcome: StepOutcome
    ) -> None:
        """Ends the run when too many rollouts were lost: training on the others would be biased."""
        lost = too_many_lost(rollouts, limit=self._context.settings.runs.infrastructure_limit)
        if lost is not None:
            raise StepLost(
                f"{lost.reason}. {lost.cure} and create the job again; no reward was made from "
                f"these failures.{self._kept}?failed=true",
                code=lost.code,
                param=lost.param,
                outcome=outcome,
            )
