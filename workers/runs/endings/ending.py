"""Ends a run without success (failure, pause, put back), each time in one fenced transaction."""

from collections.abc import Awaitable, Callable
from typing import Final, assert_never

import structlog

from app.domain.data.files import FileRow
from app.domain.errors import ENDPOINT_UNAVAILABLE, AgentRftError, RunFailed, Unavailable
from app.domain.jobs.jobs import JobError, StopRequest
from app.domain.jobs.stop_rules.stop_rules import RuleTrigger
from app.domain.jobs.usage import ReachedCap
from app.gateways.objects import Objects
from app.store.database import Database
from app.store.jobs.run_jobs import MOST_PUT_BACKS
from app.store.unit_of_work import RunUnitOfWork
from workers.processes.retry import retry_while_unavailable
from workers.runs.endings.result_file import write_result_file
from workers.runs.steps.step_outcome import StepOutcome
from workers.runs.steps.stopping import PAUSED_BY

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

        async def write() -> None:
            async with self._unit() as unit:
                await unit.events.append(
                    self._job_id,
                    level="error",
                    type="message",
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

        await retry_while_unavailable(write)
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

        async def attempts() -> int:
            async with self._unit() as unit:
                return (await unit.jobs.get(self._job_id)).attempts

        if await retry_while_unavailable(attempts) < max_attempts:
            return False
        message = f"The run met an internal error {max_attempts} times without progress: {reason}"
        await self.failed(RunFailed(message, code="internal_error"))
        return True

    async def put_back(self, waited_s: float, *, publish: Publish | None = None) -> None:
        """Queues the job again, or pauses it if that was requested. Raises `RunFailed` when it was
        queued again too often without a committed step in between.
        """
        data = {"reason": WAITING_ON_ENDPOINT, "waited_s": round(waited_s, 1)}

        async def write() -> None:
            async with self._unit() as unit:
                if await unit.jobs.stop_request() is StopRequest.PAUSE:
                    await self._publish(unit, publish)
                    await unit.events.append(
                        self._job_id, level="info", type="message", message=_PAUSED
                    )
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
                    type="message",
                    message=(
                        f"Waiting on endpoint: no tool or grader has answered for {waited_s:.0f} s,"
                        " and other jobs wait for a worker. The job is queued again "
                        f"and continues after step {step}, in {retry_s:.0f} s at the earliest. "
                        "Answers that were received are kept. Check that the endpoints answer."
                    ),
                    data={**data, "step": step, "retry_after_s": retry_s},
                )

        await retry_while_unavailable(write)
        log.info("put back, waiting on endpoint", job_id=self._job_id, waited_s=waited_s)

    async def _publish(self, unit: RunUnitOfWork, publish: Publish | None) -> None:
        model = None if publish is None else await publish(unit)
        if model is not None:
            await unit.events.append(
                self._job_id,
                level="info",
                type="message",
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

        async def write() -> None:
            async with self._unit() as unit:
                await self._publish(unit, publish)
                await unit.events.append(
                    self._job_id,
                    level="info" if why is None else "warn",
                    type="message",
                    message=message,
                    data=data,
                )
                await unit.jobs.mark_paused()

        await retry_while_unavailable(write)
        log.info("paused", job_id=self._job_id, why=None if why is None else why.reason)
