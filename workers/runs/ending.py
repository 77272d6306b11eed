"""The ends a run can come to besides success, each one fenced transaction."""

import structlog

from app.domain.errors import AgentRftError, RunFailed
from app.domain.jobs import JobError
from app.store.database import Database
from workers.runs.patience import patiently

log = structlog.get_logger()


class Ending:
    def __init__(self, database: Database, *, project_id: str, job_id: str, fence: int) -> None:
        self._database = database
        self._claim = (project_id, job_id, fence)
        self._job_id = job_id

    async def failed(self, failure: RunFailed) -> None:
        error = JobError(code=failure.code, message=failure.message, param=failure.param)

        async def write() -> None:
            async with self._database.run(*self._claim) as unit:
                await unit.events.append(
                    self._job_id,
                    level="error",
                    type="message",
                    message=failure.message,
                    data={"error_code": failure.code, "error_param": failure.param},
                )
                await unit.jobs.mark_failed(error)

        await patiently(write)
        log.warning("failed", job_id=self._job_id, code=failure.code, reason=failure.message)

    async def exhausted(self, error: Exception, *, max_attempts: int) -> bool:
        """End a job whose last attempt met a fault of ours, with its reason; before that, leave it
        to another attempt. Returns whether it has ended.
        """
        reason = str(error) if isinstance(error, AgentRftError) else type(error).__name__

        async def attempts() -> int:
            async with self._database.run(*self._claim) as unit:
                return (await unit.jobs.get(self._job_id)).attempts

        if await patiently(attempts) < max_attempts:
            return False
        message = f"The run met an internal error {max_attempts} times without progress: {reason}"
        await self.failed(RunFailed(message, code="internal_error"))
        return True

    async def paused(self) -> None:
        async def write() -> None:
            async with self._database.run(*self._claim) as unit:
                await unit.events.append(
                    self._job_id, level="info", type="message", message="Fine-tuning job paused"
                )
                await unit.jobs.mark_paused()

        await patiently(write)
        log.info("paused", job_id=self._job_id)
