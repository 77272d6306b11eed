"""Verbs of a tenant's job row that are one statement each, and run alone or inside a transaction.

Verbs that need a transaction are in `jobs_in_transaction`, a run's own in `run_jobs`, leases in
`claims`. Promises: a tenant sees its own jobs only, because row-level security reads the setting of
the unit or statement.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Select, Text, bindparam, case, func, select
from sqlalchemy.dialects.postgresql import ARRAY

from app.domain.accounts.quotas import Quotas
from app.domain.evals.evals import Eval
from app.domain.jobs.jobs import Job, QueuePosition
from app.store.jobs.new_jobs import new_rows, parameters, statement_of, stored_job
from app.store.jobs.rows import COLUMNS, JOBS, whole_job
from app.store.jobs.transitions import no_such_job
from app.store.times import unix_or_none
from app.store.transactions.statements import Callback, PreparedStatement, Scope, Statements


def _get(scope: Scope) -> Select[*tuple[Any, ...]]:
    job_id = bindparam("job_id", type_=Text())
    return scope.within(
        select(*COLUMNS).where(
            JOBS.c.project_id == scope.value, JOBS.c.id == job_id, JOBS.c.deleted_at.is_(None)
        )
    )


def _queue_positions(scope: Scope) -> Select[*tuple[Any, ...]]:
    job_ids = bindparam("job_ids", type_=ARRAY(Text))
    # The SQL function reads the setting, so its argument must depend on the setting.
    after_setting = case((scope.value.is_not(None), job_ids))
    rows = func.queue_places(after_setting).table_valued("job_id", "place", "starts_at")
    return scope.within(select(rows))


_GET = PreparedStatement(_get)
_QUEUE_POSITIONS = PreparedStatement(_queue_positions)


class JobReader:
    """Reads a job; shared by a tenant's store and a run's store."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    async def get(self, job_id: str) -> Job:
        """Raises `NotFound`, with the same text for another tenant's job as for a missing one."""
        rows = await self._statements.rows(_GET, {"job_id": job_id})
        if not rows:
            raise no_such_job(job_id)
        return whole_job(rows[0])


class JobStore(JobReader):
    """A tenant's jobs: the verbs that are one statement each."""

    def __init__(self, statements: Statements, quotas: Quotas) -> None:
        super().__init__(statements)
        self._quotas = quotas

    async def insert_checked(
        self,
        job: Job,
        *,
        secrets: bytes | None,
        job_eval: Eval | None,
        event_message: str,
        notices: Sequence[str] = (),
        warnings: Sequence[str] = (),
        after_commit: Callback,
    ) -> Job:
        """Writes the job with its eval and first events; returns it as it is stored.

        Checks its files and locks its project in the same statement. Nothing is written and
        `after_commit` is not called when it raises: `AuthenticationFailed` for a project that is
        archived or hidden, `InvalidRequest` for a file that is missing or has another purpose,
        `QuotaExceeded` if too many jobs of the project already wait.
        """
        rows = new_rows(
            job,
            secrets=secrets,
            job_eval=job_eval,
            event_message=event_message,
            notices=notices,
            warnings=warnings,
        )
        values = parameters(rows, job, queued_jobs=self._quotas.queued_jobs)
        returned = await self._statements.rows(statement_of(rows), values)
        stored = stored_job(returned[0] if returned else None, job)
        await self._statements.after_commit(after_commit)
        return stored

    async def queue_positions(self, job_ids: list[str]) -> dict[str, QueuePosition]:
        """Returns positions of own jobs that wait for a worker, in the queue of all tenants."""
        rows = await self._statements.rows(_QUEUE_POSITIONS, {"job_ids": job_ids})
        return {row.job_id: QueuePosition(row.place, unix_or_none(row.starts_at)) for row in rows}
