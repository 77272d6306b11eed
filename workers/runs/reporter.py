"""The reporter: writes a step whole (ledger, curves, event, checkpoint, resume point) or not.

Every write carries the run's fence. Repeating a commit whose answer was lost writes nothing twice.
"""

import time
from collections.abc import Sequence
from typing import Literal

import structlog

from app.domain.ids import Split, new_id
from app.domain.jobs.best_checkpoint import kept_steps
from app.domain.jobs.jobs import Checkpoint
from app.domain.jobs.usage import Usage
from app.domain.methods.reinforcement import ReinforcementMethod
from app.domain.methods.stop import KeepCheckpoints
from app.domain.models.models import checkpoint_model_name
from app.domain.models.tuned_models import TunedModel
from app.domain.rollouts.metrics import LOSS, REWARD_MEAN, ROLLOUTS_VALID, TIME_STEP, MetricPoint
from app.store.unit_of_work import RunUnitOfWork
from workers.processes.retry import retry_while_unavailable
from workers.reinforcement.step_report import ReinforcementStepReport, StepReport
from workers.runs.context import RunContext, Steps
from workers.runs.metering import Meter
from workers.runs.step_outcome import StepOutcome
from workers.runs.stopping import Stopping, say_findings
from workers.runs.trace import rollout_row
from workers.supervised.step_report import TextStepReport

log = structlog.get_logger()

VALIDATED = "Files validated, moving job to queued state"
Level = Literal["info", "warn"]
_RECENT = 20


class Reporter:
    def __init__(self, context: RunContext, tuned_name: str) -> None:
        self._context = context
        self._tuned_name = tuned_name
        method = context.job.method.get("reinforcement") or {}
        self.meter = Meter(context.settings.pricing, method.get("grader") or {})
        self.usage = context.job.usage
        """Of all committed work."""
        self.stopping = Stopping(context)
        self._telling: StepReport = (
            ReinforcementStepReport(context.job)
            if isinstance(context.method, ReinforcementMethod)
            else TextStepReport()
        )

    async def say_once(self, message: str, *, level: Level = "info") -> None:
        """An early event of the job, or one of its end; a repeated claim or commit says it no
        second time.
        """

        async def write() -> None:
            async with self._context.unit() as unit:
                said, _ = await unit.events.page(self._context.job.id, after=None, limit=_RECENT)
                if all(event.message != message for event in said):
                    await self._say(unit, message, level=level)

        await retry_while_unavailable(write)

    async def say_validating(self) -> None:
        job = self._context.job
        message = f"Validating training file: {job.training_file}"
        if job.validation_file is not None:
            message += f" and validation file: {job.validation_file}"
        await self.say_once(message)

    async def commit_baseline(self, outcome: StepOutcome) -> None:
        """Step 0: the base model's validation, before anything is trained."""
        used = self.meter.reading(outcome)
        self.stopping.baseline(outcome)

        async def write() -> Usage | None:
            async with self._context.unit() as unit:
                if await self._was_validated(unit, 0):
                    return await self._usage(unit)
                await self._rows(unit, outcome)
                await self._say(unit, self._telling.baseline(outcome))
                await unit.journal.forget(self._context.job.id, outcome.step)
                return await unit.jobs.add_usage(used)

        self.usage = await retry_while_unavailable(write)
        self.meter.start()

    async def commit_validation(self, outcome: StepOutcome) -> None:
        """The validation of the last committed step, which was not due when it was committed."""
        used = self.meter.reading(outcome)

        async def write() -> Usage | None:
            async with self._context.unit() as unit:
                if await self._was_validated(unit, outcome.step):
                    return await self._usage(unit)
                _, _, outcome.adapter_key = await unit.jobs.resume_point()
                await self._rows(unit, outcome)
                await self._say(unit, self._telling.validation(outcome))
                await self._warn(unit, outcome)
                await self._checkpoint(unit, outcome)
                await unit.journal.forget(self._context.job.id, outcome.step)
                return await unit.jobs.add_usage(used)

        self.usage = await retry_while_unavailable(write)
        self.meter.start()

    async def was_validated(self, step: int) -> bool:
        """Whether the validation of a committed step is there; step 0 is the base model's."""

        async def read() -> bool:
            async with self._context.unit() as unit:
                return await self._was_validated(unit, step)

        return await retry_while_unavailable(read)

    async def has_baseline(self) -> bool:
        return await self.was_validated(0)

    async def commit_step(self, outcome: StepOutcome, plan: Steps, *, pace_s: float) -> None:
        """`pace_s`: seconds a step takes, evaluations spread over all of them."""
        used = self.meter.reading(outcome)
        found = self.stopping.judge(outcome)

        async def write() -> Usage | None:
            async with self._context.unit() as unit:
                committed, _, _ = await unit.jobs.resume_point()
                if committed >= outcome.step:
                    return await self._usage(unit)
                await self._rows(unit, outcome)
                await self._metrics_event(unit, outcome, plan)
                await self._warn(unit, outcome)
                await say_findings(unit, self._context.job.id, found)
                if self._telling.makes_checkpoint(outcome):
                    await self._checkpoint(unit, outcome)
                remaining = plan.total_steps - outcome.step
                await unit.jobs.commit_step(
                    outcome.step,
                    resume_key=outcome.state_key,
                    adapter_key=outcome.adapter_key,
                    usage=used,
                    estimated_finish=int(time.time() + remaining * pace_s),
                )
                await unit.journal.forget(self._context.job.id, outcome.step)
                return await self._usage(unit)

        self.usage = await retry_while_unavailable(write)
        self.meter.start()
        log.info(
            "step committed",
            step=outcome.step,
            total_steps=plan.total_steps,
            loss=outcome.train_values.get(LOSS),
            reward=outcome.train_values.get(REWARD_MEAN),
            valid_reward=outcome.valid_values.get(REWARD_MEAN),
            step_s=round(outcome.train_values.get(TIME_STEP, 0.0), 3),
        )

    async def _usage(self, unit: RunUnitOfWork) -> Usage | None:
        return (await unit.jobs.get(self._context.job.id)).usage

    async def _say(self, unit: RunUnitOfWork, message: str, *, level: Level = "info") -> None:
        await unit.events.append(self._context.job.id, level=level, type="message", message=message)

    async def _warn(self, unit: RunUnitOfWork, outcome: StepOutcome) -> None:
        for message in outcome.warnings:
            await self._say(unit, message, level="warn")

    async def _was_validated(self, unit: RunUnitOfWork, step: int) -> bool:
        points = await unit.metrics.curve(
            self._context.job.id,
            names=[ROLLOUTS_VALID, REWARD_MEAN, LOSS],
            split="valid",
            after_step=step - 1,
        )
        return any(point.step == step for point in points)

    async def _rows(self, unit: RunUnitOfWork, outcome: StepOutcome) -> None:
        job_id = self._context.job.id
        rows = [
            rollout_row(rollout, project_id=self._context.job.project_id, trained_step=trained_step)
            for rollouts, trained_step in (
                (outcome.train_rollouts, outcome.step),
                (outcome.valid_rollouts, None),
            )
            for rollout in rollouts
        ]
        await unit.rollouts.insert_many(job_id, rows)
        await unit.metrics.upsert(
            job_id,
            [
                *_points("train", outcome.step, outcome.train_values),
                *_points("valid", outcome.step, outcome.valid_values),
            ],
        )

    async def _metrics_event(self, unit: RunUnitOfWork, outcome: StepOutcome, plan: Steps) -> None:
        message, data = self._telling.step(outcome, plan.total_steps)
        await unit.events.append(
            self._context.job.id, level="info", type="metrics", message=message, data=data
        )

    async def _checkpoint(self, unit: RunUnitOfWork, outcome: StepOutcome) -> None:
        name = checkpoint_model_name(self._tuned_name, outcome.step)
        await unit.checkpoints.insert(
            Checkpoint(
                id=new_id("ftckpt_"),
                job_id=self._context.job.id,
                step=outcome.step,
                created_at=int(time.time()),
                model_name=name,
                metrics=self._telling.checkpoint(outcome),
            ),
            object_key=str(outcome.adapter_key),
        )
        await unit.models.insert(self.tuned_model(name, outcome.step, str(outcome.adapter_key)))
        await self._drop_checkpoints(unit)

    async def _drop_checkpoints(self, unit: RunUnitOfWork) -> None:
        """Those that are neither among the best nor among the newest are seen no more."""
        job_id = self._context.job.id
        kept = kept_steps(
            await unit.checkpoints.all(job_id),
            self._context.method.keep_checkpoints or KeepCheckpoints(),
            needed=await unit.checkpoints.needed(job_id),
        )
        await unit.jobs.note_kept(kept)

    def tuned_model(self, name: str, step: int, adapter_key: str) -> TunedModel:
        """A model row; the engine's name for it is fresh, so no cache can know it."""
        return TunedModel(
            name=name,
            project_id=self._context.job.project_id,
            job_id=self._context.job.id,
            base_model=self._context.base_model.name,
            engine_name=new_id("model-"),
            object_key=adapter_key,
            step=step,
            created_at=int(time.time()),
        )


def _points(split: Split, step: int, values: dict[str, float]) -> Sequence[MetricPoint]:
    return [MetricPoint(name, split, step, value) for name, value in sorted(values.items())]
