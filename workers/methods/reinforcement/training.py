"""The training module of a reinforcement run: resume, baseline, steps, report.

Importing it takes seconds, because it imports torch.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from app.files.datasets import DatasetRow
from app.jobs.reinforcement import ReinforcementMethod
from app.jobs.stop_rules import RuleTrigger
from workers.compute import run_on_compute_thread
from workers.methods.reinforcement.assembly import TrainingParts, assemble
from workers.methods.reinforcement.evaluation import NoReport, build_report
from workers.methods.reinforcement.learning_check import LearningCheck
from workers.methods.reinforcement.loop import ReinforcementLoop
from workers.methods.reinforcement.rows import Plan
from workers.rollout.policy import Policy
from workers.runs.context import RunContext
from workers.runs.method import CheckStop, ChosenAdapter, TrainingResult, best_adapter
from workers.runs.opening import (
    ResumedState,
    adapter_settings_of_resume,
    committed_step,
    fetch_adapter,
    restore,
    way_to_compute,
)
from workers.runs.reporter import Reporter
from workers.runs.step_outcome import StoppedEarly


async def train(
    context: RunContext,
    method: ReinforcementMethod,
    plan: Plan,
    *,
    rows: tuple[Sequence[DatasetRow], Sequence[DatasetRow]],
    reporter: Reporter,
    check_stop: CheckStop,
) -> TrainingResult:
    """See `workers.runs.method.PreparedRun.train`. `rows`: those to train on, those held out. The
    last step before an early end is validated.
    """
    settings = await adapter_settings_of_resume(
        context, learning_rate=plan.hyperparameters.learning_rate
    )
    way = await way_to_compute(context)
    parts = await run_on_compute_thread(assemble, context, method, plan, settings, way)
    reporter.meter.accelerators = parts.accelerators
    check = LearningCheck(context, method, plan, reporter=reporter)
    try:
        await parts.publisher.forget_earlier_claims()
        loop = ReinforcementLoop(
            context,
            plan,
            options=method,
            setup=parts.setup,
            mode=parts.mode,
            policy=parts.policy,
            publisher=parts.publisher,
            reporter=reporter,
            base_policy=None if context.start is None else parts.policy.base,
        )
        ended = await _train_steps(
            context, loop, parts, rows=rows, reporter=reporter, check=check, check_stop=check_stop
        )
        chosen = await best_adapter(context)
        start = await _start_policy(context, parts)
        tuned = await parts.publisher.policy_of(
            chosen.step, lambda: fetch_adapter(context, chosen.key)
        )
        await loop.compare(rows[1], step=chosen.step, start=start, tuned=tuned)
    finally:
        await parts.mode.close()
        parts.trainer.close()
        await parts.publisher.close()
    report = await _report(context, plan, reporter, chosen=chosen, ended=ended)
    return TrainingResult(chosen.step, chosen.key, report, ended)


async def _train_steps(
    context: RunContext,
    loop: ReinforcementLoop,
    parts: TrainingParts,
    *,
    rows: tuple[Sequence[DatasetRow], Sequence[DatasetRow]],
    reporter: Reporter,
    check: LearningCheck,
    check_stop: CheckStop,
) -> RuleTrigger | None:
    """Trains from the last committed step on. Returns the rule that ended the training early, if
    any.
    """
    train_rows, valid_rows = rows
    resumed = await _resume(context, parts)
    await loop.baseline(valid_rows)
    if resumed.step == 0:
        await check.after_baseline()
    await reporter.stopping.load()
    try:
        await loop.steps(
            train_rows,
            valid_rows,
            first=resumed.step + 1,
            scheduler_state=resumed.scheduler_state,
            check_stop=check_stop,
            check_learning=check.before_step,
        )
    except StoppedEarly as stop:
        await parts.mode.close()
        await loop.validate(valid_rows, step=await committed_step(context))
        return stop.trigger
    return None


async def _start_policy(context: RunContext, parts: TrainingParts) -> Policy:
    start = context.start
    if start is None:
        return parts.policy.base

    async def directory() -> Path:
        return start

    return await parts.publisher.policy_of(0, directory)


async def _report(
    context: RunContext,
    plan: Plan,
    reporter: Reporter,
    *,
    chosen: ChosenAdapter,
    ended: RuleTrigger | None,
) -> dict[str, Any] | None:
    """Returns the paired report, `None` if the rows cannot be compared: a trained job succeeds
    without it.
    """
    try:
        return await build_report(context, plan.hyperparameters.evaluation, chosen, ended)
    except NoReport as error:
        message = f"The job has no report of base against tuned: {error}."
        await reporter.announcer.message_once(message, level="warn")
        return None


async def _resume(context: RunContext, parts: TrainingParts) -> ResumedState:
    """Restores the last committed step. A new run that starts from a tuned model first samples from
    that model, as version 0.
    """
    point = await restore(context, parts.trainer)
    if point.adapter is not None:
        await parts.publisher.serve(point.step, point.adapter)
    elif context.start is not None:
        await parts.publisher.serve(0, context.start)
    return point
