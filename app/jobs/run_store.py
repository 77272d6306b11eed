"""Writes of a run to its own job: its resume point, its progress, its end."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.usage_store import record_step
from app.jobs.jobs import (
    AttachedEval,
    JobError,
    JobStatus,
    ResumePoint,
    StopRequest,
    Usage,
    Verdict,
)
from app.jobs.methods import StoredMethod, stored_method
from app.jobs.rows import MCP_SERVERS, lock_job, move_job, pause_job
from app.jobs.store import JobReader
from app.jobs.tables import FineTuningJobTable as Table
from app.kit.leases import ended_lease
from app.kit.sql import Statements, moment_or_none, storable
from app.tools.mcp_servers import McpListing, McpListingSummary

FIRST_PUT_BACK_S: Final = 30.0
LONGEST_PUT_BACK_S: Final = 900.0
MOST_PUT_BACKS: Final = 8
"""Largest number of successive put-backs without a committed step: the waits add up to an hour."""


class RunJobStore(JobReader):
    def __init__(
        self, statements: Statements, session: AsyncSession, *, project_id: str, job_id: str
    ) -> None:
        super().__init__(statements)
        self._session = session
        self._project_id = project_id
        self._job_id = job_id

    async def secrets(self, job_id: str) -> bytes | None:
        return await self._session.scalar(select(Table.secrets).where(Table.id == job_id))

    async def stop_request(self) -> StopRequest | None:
        request = await self._session.scalar(
            select(Table.stop_request).where(Table.id == self._job_id)
        )
        return None if request is None else StopRequest(request)

    async def resume_point(self) -> ResumePoint:
        query = select(Table.step, Table.resume_key, Table.adapter_key)
        row = (await self._session.execute(query.where(Table.id == self._job_id))).one()
        return ResumePoint(row.step, row.resume_key, row.adapter_key)

    async def mark_validated(self, total_steps: int | None, method: StoredMethod) -> None:
        await self._set(total_steps=total_steps, method=method.document)
        row = await lock_job(self._session, self._job_id)
        if JobStatus(row.status) is JobStatus.VALIDATING_FILES:
            await self._move(JobStatus.QUEUED)

    async def record_listings(self, listings: Mapping[int, McpListing]) -> None:
        query = select(Table.method, Table.mcp_listings).where(Table.id == self._job_id)
        row = (await self._session.execute(query)).one()
        method, stored = stored_method(row.method), dict(row.mcp_listings or {})
        servers = [dict(server) for server in method.options.get(MCP_SERVERS, ())]
        for index, listing in listings.items():
            stored[str(index)] = listing.model_dump(mode="json")
            summary = McpListingSummary.of(listing)
            servers[index]["listing_summary"] = summary.model_dump(mode="json")
        shown = method.with_options({**method.options, MCP_SERVERS: servers})
        await self._set(method=storable(shown.document), mcp_listings=storable(stored))

    async def record_evals(self, attached: Sequence[AttachedEval]) -> None:
        await self._set(evals=[each.to_json() for each in attached])

    async def mark_retained(self, steps: Sequence[int]) -> None:
        """Stores the steps whose checkpoints are retained; others and their models are hidden."""
        await self._set(kept_checkpoints=list(steps))

    async def mark_ended_early(self, why: dict[str, Any]) -> None:
        await self._set(ended_early=storable(why))

    async def record_reproducibility(self, record: dict[str, Any]) -> None:
        await self._set(reproducibility=storable(record))

    async def mark_running(self) -> None:
        """Does nothing for a run that takes over a job, which is already running or pausing."""
        row = await lock_job(self._session, self._job_id)
        if JobStatus(row.status) is JobStatus.QUEUED:
            await self._move(
                JobStatus.RUNNING, started_at=func.coalesce(Table.started_at, func.now())
            )

    async def commit_step(
        self,
        step: int,
        *,
        resume_key: str | None,
        adapter_key: str | None,
        usage: Usage,
        estimated_finish: int,
    ) -> None:
        """Adds `usage` to the job's, and resets the attempts, because the run has progressed."""
        await self.add_usage(usage)
        await self._set(
            step=step,
            resume_key=resume_key,
            adapter_key=adapter_key,
            trained_tokens=func.coalesce(Table.trained_tokens, 0) + usage.trained_tokens,
            estimated_finish=moment_or_none(estimated_finish),
            attempts=0,
            put_backs=0,
        )

    async def add_usage(self, usage: Usage) -> Usage:
        row = await self._session.scalar(select(Table.usage).where(Table.id == self._job_id))
        total = usage if row is None else Usage.from_json(row).plus(usage)
        await self._set(usage=total.to_json())
        await record_step(self._session, self._job_id, usage)
        return total

    async def mark_succeeded(
        self,
        fine_tuned_model: str,
        *,
        verdict: Verdict = "not_measured",
        result_files: Sequence[str] = (),
    ) -> None:
        await self._end(
            JobStatus.SUCCEEDED,
            fine_tuned_model=fine_tuned_model,
            verdict=verdict,
            result_files=list(result_files),
        )

    async def mark_failed(self, error: JobError, *, result_files: Sequence[str] = ()) -> None:
        document = {"code": error.code, "message": error.message, "param": error.param}
        await self._end(JobStatus.FAILED, error=storable(document), result_files=list(result_files))

    async def mark_paused(self) -> None:
        await pause_job(self._session, self._project_id, self._job_id)

    async def put_back(self) -> float | None:
        """Queues the running job again, after its project's other jobs, and ends its lease. Returns
        the seconds until it can be claimed, which double each time until a step is committed. After
        `MOST_PUT_BACKS` times it changes nothing and returns `None`.
        """
        row = await lock_job(self._session, self._job_id)
        if row.put_backs >= MOST_PUT_BACKS:
            return None
        wait_s = min(FIRST_PUT_BACK_S * 2.0**row.put_backs, LONGEST_PUT_BACK_S)
        await self._move(
            JobStatus.QUEUED,
            put_backs=Table.put_backs + 1,
            not_before=func.now() + timedelta(seconds=wait_s),
            queued_at=func.now(),
            attempts=func.greatest(Table.attempts - 1, 0),
            estimated_finish=None,
            **ended_lease(),
        )
        return wait_s

    async def _end(self, status: JobStatus, **values: Any) -> None:
        await self._move(
            status, finished_at=func.now(), estimated_finish=None, **ended_lease(), **values
        )

    async def _set(self, **values: Any) -> None:
        await self._session.execute(update(Table).where(Table.id == self._job_id).values(**values))

    async def _move(self, following: JobStatus, **values: Any) -> None:
        await move_job(self._session, self._project_id, self._job_id, following, **values)
