"""One claim's work from start to end state: the only place where a run's outcome is decided."""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from app.domain.data.files import FileRow
from app.domain.errors import RunFailed, Unavailable
from app.domain.jobs.jobs import StopRequest
from app.domain.jobs.stop_rules import RuleTrigger
from app.domain.jobs.usage import ReachedCap
from app.domain.methods.reinforcement import (
    ReinforcementMethod,
    ResolvedHyperparameters,
    resolve_hyperparameters,
    resolved_method,
)
from app.domain.models.models import tuned_model_name
from app.store.unit_of_work import RunUnitOfWork
from workers.processes.retry import retry_while_unavailable
from workers.runs.announcer import FILES_VALIDATED
from workers.runs.context import Plan, RunContext
from workers.runs.data import RowFile, load_rows
from workers.runs.ending import Ending
from workers.runs.finished import Trained
from workers.runs.reporter import Reporter
from workers.runs.result_file import write_result_file
from workers.runs.retention import Retention
from workers.runs.stopping import StoppedEarly
from workers.supervised.preparation import prepare

log = structlog.get_logger()

STOP_POLL_S = 1.0


class Paused(Exception):
    """Raised between two steps once a pause was asked for, or with the cap or rule behind it."""

    def __init__(self, why: ReachedCap | RuleTrigger | None = None) -> None:
        super().__init__()
        self.why = why


class JobRun:
    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._job = context.job
        self._pause_asked = False
        self._watcher: asyncio.Task[None] | None = None
        self._retention = Retention(context)
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
        """Bring the job to an end state. `LeaseLost` and our own faults pass."""
        work = asyncio.create_task(self._work())
        watch = self._watcher = asyncio.create_task(self._watch())
        try:
            await asyncio.wait({work, watch}, return_when=asyncio.FIRST_COMPLETED)
            if watch.done() and not watch.cancelled():
                watch.result()
            await work
        except Paused as pause:
            await self._ending.paused(pause.why)
        except RunFailed as failure:
            kept = await self._retention.look_up()
            await self._ending.failed(failure, result_file=await self._rescued_file())
            await self._retention.clear(kept)
        finally:
            work.cancel()
            watch.cancel()
            await asyncio.gather(work, watch, return_exceptions=True)

    async def _work(self) -> None:
        if isinstance(self._context.method, ReinforcementMethod):
            await self._succeed(await self._reinforced())
        else:
            await self._succeed(await self._tuned())

    async def _tuned(self) -> Trained:
        """By given text: supervised, or by preference."""
        prepared = await prepare(self._context, self._reporter)
        loading = asyncio.create_task(asyncio.to_thread(_text_half))
        await retry_while_unavailable(self._mark_running)
        self._reporter.meter.start()
        tune = await loading
        return await tune(
            self._context, prepared, reporter=self._reporter, between=self._between_steps
        )

    async def _reinforced(self) -> Trained:
        loading = asyncio.create_task(asyncio.to_thread(_heavy_half))
        plan, train_rows, valid_rows = await self._validated()
        train = await loading
        return await train(
            self._context,
            plan,
            (train_rows, valid_rows),
            reporter=self._reporter,
            between=self._between_steps,
        )

    async def _validated(self) -> tuple[Plan, RowFile, RowFile]:
        fresh = self._job.total_steps is None
        if fresh:
            await self._reporter.announcer.validating_files()
        train_rows = await load_rows(self._context, training=True)
        valid_rows = await load_rows(self._context, training=False)
        hyper = resolve_hyperparameters(
            self._context.reinforcement,
            train_rows=len(train_rows),
            base_model=self._context.base_model,
        )
        if fresh:
            await retry_while_unavailable(lambda: self._mark_validated(hyper))
        await retry_while_unavailable(self._mark_running)
        self._reporter.meter.start()
        return Plan(hyperparameters=hyper, train_rows=len(train_rows)), train_rows, valid_rows

    def _between_steps(self) -> None:
        """A rule counts before a wish: what it found is said once, and is over with a resume."""
        due = self._reporter.stopping.due
        if due is not None:
            raise StoppedEarly(due) if due.action == "stop" else Paused(due)
        if self._pause_asked:
            raise Paused
        reached = self._job.caps.reached(self._reporter.usage)
        if reached is not None:
            raise Paused(reached)

    async def _watch(self) -> None:
        """Notice a pause, and the loss of the fence (a cancel, a newer claim) as `LeaseLost`."""

        async def read() -> StopRequest | None:
            async with self._context.unit() as unit:
                return await unit.jobs.stop_request()

        while True:
            self._pause_asked = await retry_while_unavailable(read) is StopRequest.PAUSE
            await asyncio.sleep(STOP_POLL_S)

    async def _mark_validated(self, hyper: ResolvedHyperparameters) -> None:
        async with self._context.unit() as unit:
            if (await unit.jobs.get(self._job.id)).total_steps is not None:
                return
            method = resolved_method(self._job.method, hyper, self._context.base_model)
            await unit.jobs.mark_validated(hyper.total_steps, method)
            await self._say(unit, FILES_VALIDATED)

    async def _say(self, unit: RunUnitOfWork, message: str) -> None:
        await self._reporter.announcer.message(unit, message)

    async def _mark_running(self) -> None:
        async with self._context.unit() as unit:
            before = await unit.jobs.get(self._job.id)
            await unit.jobs.mark_running()
            if before.started_at is None:
                await self._say(unit, "Fine-tuning job started")

    async def _succeed(self, trained: Trained) -> None:
        kept = await self._retention.look_up(published=trained.adapter_key)
        result_file = await self._result_file()
        used = self._reporter.meter.reading()
        if self._watcher is not None:
            self._watcher.cancel()  # from here on the write itself finds out who holds the job

        async def write() -> None:
            async with self._context.unit() as unit:
                await unit.models.insert(
                    self._reporter.writer.tuned_model(
                        self._tuned_name, trained.step, trained.adapter_key
                    )
                )
                if trained.report is not None:
                    await unit.reports.upsert(self._job.id, trained.report)
                if trained.ended_early is not None:
                    await unit.jobs.note_early_end(trained.ended_early.to_json())
                await self._say(unit, f"New fine-tuned model created: {self._tuned_name}")
                await self._say(unit, "The job has successfully completed")
                await unit.jobs.add_usage(used)
                await unit.journal.forget_all(self._job.id)
                files = [] if result_file is None else [result_file]
                for file in files:
                    await unit.files.insert(file)
                await unit.jobs.mark_succeeded(
                    self._tuned_name, result_files=[file.id for file in files]
                )

        await retry_while_unavailable(write)
        await self._retention.clear(kept)
        log.info("succeeded", job_id=self._job.id, model=self._tuned_name)

    async def _rescued_file(self) -> FileRow | None:
        """What a failed job learned; the reason of its failure matters more."""
        try:
            return await self._result_file()
        except Unavailable as error:
            log.warning("no result file written", job_id=self._job.id, error=str(error))
            return None

    async def _result_file(self) -> FileRow | None:
        return await write_result_file(self._context)


def _heavy_half() -> Callable[..., Awaitable[Trained]]:
    from workers.reinforcement.training import train  # noqa: PLC0415 - seconds, spent beside other work

    return train


def _text_half() -> Callable[..., Awaitable[Trained]]:
    from workers.supervised.training import tune  # noqa: PLC0415 - torch loads only in the child that trains

    return tune
