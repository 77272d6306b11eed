"""Ends a run without success (failure, pause, put back), each time in one fenced transaction, and
writes what any end needs: result file, attached evals, the reason why nothing was trained.
"""

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Final, assert_never

import structlog

from app.database import Database, RunUnitOfWork
from app.evals.job_runs import attached_run
from app.files.files import FileRow
from app.jobs.jobs import AttachedEval, Job, JobError, ReachedCap, StopRequest
from app.jobs.results import result_file
from app.jobs.run_store import MOST_PUT_BACKS
from app.jobs.stop_rules import RuleTrigger
from app.kit.errors import ENDPOINT_UNAVAILABLE, AgentRftError, NotFound, RunFailed, Unavailable
from app.kit.objects import Objects, put_bytes
from app.rollouts import metrics as names
from app.rollouts.metrics import MetricPoint
from app.rollouts.rollouts import RolloutFilter
from app.rollouts.trajectory import FailureClass
from workers.processes.retry import retry_while_unavailable
from workers.runs.context import RunContext, in_unit
from workers.runs.step_outcome import PAUSED_BY, StepOutcome

log = structlog.get_logger()

WAITING_ON_ENDPOINT: Final = "waiting_on_endpoint"
"""Value of `reason` in the event of a job that was put back."""
_PAUSED: Final = "Fine-tuning job paused"
Publish = Callable[[RunUnitOfWork], Awaitable[str | None]]


class RunEnding:
    """Ends one claim of a job. Promises that a failed job with metrics has its result file."""

    def __init__(
        self, database: Database, objects: Objects, *, project_id: str, job_id: str, fence: int
    ) -> None:
        self._database = database
        self._objects = objects
        self._claim = (project_id, job_id, fence)
        self._job_id = job_id

    async def failed(
        self,
        failure: RunFailed,
        *,
        lost: StepOutcome | None = None,
        keep: Callable[[RunUnitOfWork], Awaitable[None]] | None = None,
    ) -> None:
        """Ends the job as failed; one that trained nothing loses its checkpoints. `lost`: the step
        that ends it, whose metrics are in the result file. `keep` writes the rows of that step.
        """
        result_file = await self._result_file_if_possible(lost)
        error = JobError(code=failure.code, message=failure.message, param=failure.param)

        async def write(unit: RunUnitOfWork) -> None:
            await unit.events.append(
                self._job_id,
                level="error",
                message=failure.message,
                data={"error_code": failure.code, "error_param": failure.param},
            )
            await unit.journal.forget_all(self._job_id)
            if result_file is not None:
                await unit.files.insert(result_file)
            if keep is not None:
                await keep(unit)
            if not (await unit.jobs.get(self._job_id)).trained_tokens:
                # A checkpoint of an untrained job would be the base model under another name.
                needed = await unit.checkpoints.needed(self._job_id)
                await unit.jobs.mark_retained(sorted(needed))
            files = [] if result_file is None else [result_file.id]
            await unit.jobs.mark_failed(error, result_files=files)

        await in_unit(self._unit, write)
        log.warning("failed", job_id=self._job_id, code=failure.code, reason=failure.message)

    async def _result_file_if_possible(self, lost: StepOutcome | None) -> FileRow | None:
        """Returns the result file; the job fails with its own reason if it has none."""
        try:
            return await write_result_file(self._unit, self._objects, self._job_id, lost=lost)
        except Unavailable as error:
            log.warning("no result file written", job_id=self._job_id, error=str(error))
            return None

    def _unit(self) -> RunUnitOfWork:
        return self._database.run(*self._claim)

    async def exhausted(self, error: Exception, *, max_attempts: int) -> bool:
        """Fails a job with its reason after an internal fault in its last attempt; an earlier
        attempt leaves the job to the next one. Returns whether the job has ended.
        """
        reason = str(error) if isinstance(error, AgentRftError) else type(error).__name__

        async def attempts(unit: RunUnitOfWork) -> int:
            return (await unit.jobs.get(self._job_id)).attempts

        if await in_unit(self._unit, attempts) < max_attempts:
            return False
        message = f"The run met an internal error {max_attempts} times without progress: {reason}"
        await self.failed(RunFailed(message, code="internal_error"))
        return True

    async def put_back(self, waited_s: float, *, publish: Publish | None = None) -> None:
        """Queues the job again, or pauses it if that was requested. Raises `RunFailed` when it was
        queued again too often without a committed step in between.
        """
        data = {"reason": WAITING_ON_ENDPOINT, "waited_s": round(waited_s, 1)}

        async def write(unit: RunUnitOfWork) -> None:
            if await unit.jobs.stop_request() is StopRequest.PAUSE:
                await self._publish(unit, publish)
                await unit.events.append(self._job_id, message=_PAUSED)
                await unit.jobs.mark_paused()
                return
            step = (await unit.jobs.resume_point()).step
            retry_s = await unit.jobs.put_back()
            if retry_s is None:
                raise RunFailed(
                    f"No tool or grader has answered for {waited_s:.0f} s, and the job was "
                    f"queued again {MOST_PUT_BACKS} times for that reason without a step "
                    "between. Repair the endpoint and create the job again.",
                    code=ENDPOINT_UNAVAILABLE,
                )
            await unit.events.append(
                self._job_id,
                level="warn",
                message=(
                    f"Waiting on endpoint: no tool or grader has answered for {waited_s:.0f} s,"
                    " and other jobs wait for a worker. The job is queued again "
                    f"and continues after step {step}, in {retry_s:.0f} s at the earliest. "
                    "Answers that were received are kept. Check that the endpoints answer."
                ),
                data={**data, "step": step, "retry_after_s": retry_s},
            )

        await in_unit(self._unit, write)
        log.info("put back, waiting on endpoint", job_id=self._job_id, waited_s=waited_s)

    async def _publish(self, unit: RunUnitOfWork, publish: Publish | None) -> None:
        model = None if publish is None else await publish(unit)
        if model is not None:
            await unit.events.append(
                self._job_id,
                level="info",
                message=f"The last step can be tried as {model}",
                data={"model": model},
            )

    async def paused(
        self, why: ReachedCap | RuleTrigger | None = None, *, publish: Publish | None = None
    ) -> None:
        """Pauses the job. `why`: the cap or rule behind a pause that was not requested. `publish`
        makes a checkpoint of the last step and returns its model.
        """
        message = _PAUSED
        resume = f"POST /v1/fine_tuning/jobs/{self._job_id}/resume"
        data = None
        match why:
            case ReachedCap():
                message += (
                    f": {why.reason}. Nothing is lost; resume it with a higher {why.name} to go "
                    f'on: {resume} {{"{why.name}": …}}'
                )
            case RuleTrigger():
                message += (
                    f" by the rule '{why.rule}': {why.reason}. Nothing is lost; resume it to go on "
                    f"({resume}), and only what comes then counts for the rule"
                )
                data = {PAUSED_BY: why.rule, "step": why.step, "reason": why.reason}
            case None:
                pass
            case _:
                assert_never(why)

        async def write(unit: RunUnitOfWork) -> None:
            await self._publish(unit, publish)
            await unit.events.append(
                self._job_id, level="info" if why is None else "warn", message=message, data=data
            )
            await unit.jobs.mark_paused()

        await in_unit(self._unit, write)
        log.info("paused", job_id=self._job_id, why=None if why is None else why.reason)


async def start_attached(unit: RunUnitOfWork, job: Job, tuned: str) -> None:
    """Inserts a run of each attached eval for the job's start model and for the tuned model, in the
    transaction that publishes the latter. Workers find them without a message.
    """
    if not job.evals:
        return
    started = [await _start(unit, job, each, tuned) for each in job.evals]
    await unit.jobs.record_evals(started)
    for each in started:
        if each.error is not None:
            await unit.events.append(
                job.id, level="warn", message=each.error, data={"eval": each.eval_id}
            )


async def _start(unit: RunUnitOfWork, job: Job, attached: AttachedEval, tuned: str) -> AttachedEval:
    start_run = attached_run(attached, job.id, model=job.model, side="start")
    tuned_run = attached_run(attached, job.id, model=tuned, side="tuned")
    try:
        for run in (start_run, tuned_run):
            await unit.eval_runs.insert(run)
    except NotFound:
        return attached.without_runs()
    return attached.started(start=start_run.id, tuned=tuned_run.id)


_LEAST_SHARE: Final = 0.1
"""Share of lost rollouts from which they may be the cause."""
_COUNTS: Final = (
    names.DISCARDED_COUNT,
    names.ROLLOUTS_VALID,
    *(names.discarded_metric(each) for each in FailureClass),
)


async def nothing_trained(context: RunContext, reason: str) -> str:
    """Returns the method's `reason` for training nothing, preceded by the share of lost rollouts
    and their main class unless that share is small.
    """
    return await retry_while_unavailable(lambda: _with_losses(context, reason))


async def _with_losses(context: RunContext, reason: str) -> str:
    job_id = context.job.id
    async with context.unit() as unit:
        points = await unit.metrics.curve(
            job_id, names=list(_COUNTS), split="train", after_step=None
        )
        totals = Counter[str]()
        for point in points:
            totals[point.name] += round(point.value)
        lost = totals[names.DISCARDED_COUNT]
        share = lost / max(1, lost + totals[names.ROLLOUTS_VALID])
        if share < _LEAST_SHARE:
            return reason
        main = max(FailureClass, key=lambda each: totals[names.discarded_metric(each)])
        where = RolloutFilter(split="train", failure_class=main)
        rows, _ = await unit.rollouts.page(job_id, where, after=None, limit=1)
    shown = f"{main}: {rows[0].failure_message}" if rows else main
    return (
        f"{share:.0%} of the training rollouts were lost to failures (mostly {shown}), which have "
        f"to be corrected first. Among the others {reason}"
    )


class StepLost(RunFailed):
    """Ends a run. `outcome` has the rollouts and their counts; nothing was trained on them."""

    def __init__(
        self, message: str, *, code: str, outcome: StepOutcome, param: str | None = None
    ) -> None:
        super().__init__(message, code=code, param=param)
        self.outcome = outcome


async def write_result_file(
    unit_of: Callable[[], RunUnitOfWork],
    objects: Objects,
    job_id: str,
    *,
    lost: StepOutcome | None = None,
) -> FileRow | None:
    """Returns the file's row, which the caller inserts; `None` if no step has points. Writing again
    changes nothing. `lost`: the step that ends the job, whose points are written with the end.
    Raises `LeaseLost` and `Unavailable`.
    """

    async def read() -> tuple[Job, list[MetricPoint]]:
        async with unit_of() as unit:
            points = await unit.metrics.curve(job_id, names=None, split=None, after_step=0)
            return await unit.jobs.get(job_id), points

    job, committed = await retry_while_unavailable(read)
    made = result_file(job, [*committed, *([] if lost is None else lost.points())])
    if made is None:
        return None
    row, content = made
    await put_bytes(objects, row.object_key, content)
    return row
