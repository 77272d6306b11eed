"""One claim's work from start to end state: the only place where a run's outcome is decided."""

import asyncio

import structlog

from app.domain.dataset import DatasetRow
from app.domain.jobs import (
    ResolvedHyperparameters,
    StopRequest,
    resolve_hyperparameters,
    resolved_method,
)
from app.domain.models import tuned_model_name
from app.store.unit_of_work import RunUnitOfWork
from workers.runs.assembly import Parts, assemble
from workers.runs.context import Plan, RunContext
from workers.runs.data import load_rows
from workers.runs.ending import Ending
from workers.runs.evaluation import build_report
from workers.runs.loop import Loop
from workers.runs.patience import patiently
from workers.runs.reporter import Reporter

log = structlog.get_logger()

STOP_POLL_S = 1.0


class Paused(Exception):
    """Raised between two steps once a pause was asked for."""


class JobRun:
    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._job = context.job
        self._pause_asked = False
        self._tuned_name = tuned_model_name(
            context.base_model.name,
            context.organization_slug,
            context.job.suffix,
            job_id=context.job.id,
        )
        self._reporter = Reporter(context, self._tuned_name)
        self._ending = Ending(
            context.database,
            project_id=context.job.project_id,
            job_id=context.job.id,
            fence=context.fence,
        )

    async def run(self) -> None:
        """Bring the job to an end state. `RunFailed`, `LeaseLost` and our own faults pass."""
        work = asyncio.create_task(self._work())
        watch = asyncio.create_task(self._watch())
        try:
            await asyncio.wait({work, watch}, return_when=asyncio.FIRST_COMPLETED)
            if watch.done():
                watch.result()
            await work
        except Paused:
            await self._ending.paused()
        finally:
            work.cancel()
            watch.cancel()
            await asyncio.gather(work, watch, return_exceptions=True)

    async def _work(self) -> None:
        plan, train_rows, valid_rows = await self._validated()
        parts = await asyncio.to_thread(assemble, self._context, plan)
        await self._train(plan, parts, train_rows, valid_rows)

    async def _validated(self) -> tuple[Plan, list[DatasetRow], list[DatasetRow]]:
        fresh = self._job.total_steps is None
        if fresh:
            await self._reporter.event(
                f"Validating training file: {self._job.training_file} and validation file: "
                f"{self._job.validation_file}"
            )
        train_rows = await load_rows(self._context, training=True)
        valid_rows = await load_rows(self._context, training=False)
        hyper = resolve_hyperparameters(
            self._context.method,
            train_rows=len(train_rows),
            base_model=self._context.base_model,
        )
        if fresh:
            await patiently(lambda: self._mark_validated(hyper))
        await patiently(lambda: self._mark_running(fresh=fresh))
        return Plan(hyperparameters=hyper, train_rows=len(train_rows)), train_rows, valid_rows

    async def _train(
        self,
        plan: Plan,
        parts: Parts,
        train_rows: list[DatasetRow],
        valid_rows: list[DatasetRow],
    ) -> None:
        committed = await self._resume(parts)
        loop = Loop(
            self._context,
            plan,
            room=parts.room,
            mode=parts.mode,
            policy=parts.policy,
            publisher=parts.publisher,
            reporter=self._reporter,
        )
        await loop.baseline(valid_rows)
        await loop.steps(train_rows, valid_rows, first=committed + 1, between=self._between_steps)
        await self._succeed(plan)
        await parts.publisher.close(plan.total_steps)

    async def _resume(self, parts: Parts) -> int:
        """Load what the last committed step left. Returns that step, 0 for a fresh run."""

        async def read() -> tuple[int, str | None, str | None]:
            async with self._context.unit() as unit:
                return await unit.jobs.resume_point()

        step, state_key, adapter_key = await patiently(read)
        if step == 0 or state_key is None or adapter_key is None:
            return 0
        state_path = self._context.objects.local_path(state_key)
        await asyncio.to_thread(parts.trainer.load_state, state_path)
        await parts.publisher.republish(step, adapter_key)
        log.info("resumed", job_id=self._job.id, step=step)
        return step

    def _between_steps(self) -> None:
        if self._pause_asked:
            raise Paused

    async def _watch(self) -> None:
        """Notice a pause, and the loss of the fence (a cancel, a newer claim) as `LeaseLost`."""

        async def read() -> StopRequest | None:
            async with self._context.unit() as unit:
                return await unit.jobs.stop_request()

        while True:
            self._pause_asked = await patiently(read) is StopRequest.PAUSE
            await asyncio.sleep(STOP_POLL_S)

    async def _mark_validated(self, hyper: ResolvedHyperparameters) -> None:
        async with self._context.unit() as unit:
            if (await unit.jobs.get(self._job.id)).total_steps is not None:
                return
            method = resolved_method(self._job.method, hyper, self._context.base_model)
            await unit.jobs.mark_validated(hyper.total_steps, method)
            await self._say(unit, "Files validated, moving job to queued state")

    async def _say(self, unit: RunUnitOfWork, message: str) -> None:
        await unit.events.append(self._job.id, level="info", type="message", message=message)

    async def _mark_running(self, *, fresh: bool) -> None:
        async with self._context.unit() as unit:
            await unit.jobs.mark_running()
            if fresh:
                await self._say(unit, "Fine-tuning job started")

    async def _succeed(self, plan: Plan) -> None:
        report = await build_report(self._context, plan.total_steps)

        async def write() -> None:
            async with self._context.unit() as unit:
                _, _, adapter_key = await unit.jobs.resume_point()
                model = self._reporter.tuned_model(
                    self._tuned_name, plan.total_steps, str(adapter_key)
                )
                await unit.models.insert(model)
                await unit.reports.upsert(self._job.id, report)
                await self._say(unit, f"New fine-tuned model created: {self._tuned_name}")
                await self._say(unit, "The job has successfully completed")
                await unit.jobs.mark_succeeded(self._tuned_name)

        await patiently(write)
        log.info("succeeded", job_id=self._job.id, model=self._tuned_name)
