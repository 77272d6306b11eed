"""Eval runs as rows: the verbs of their tenant, and the writes of the worker under a lease."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from psycopg.errors import ForeignKeyViolation
from sqlalchemy import Insert, Text, cast, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.errors import WrongState
from app.domain.evals.data_sources import MAX_ITEMS
from app.domain.evals.evals import (
    OPEN_RUNS,
    EvalRun,
    EvalRunStatus,
    ResultCounts,
    Tally,
    no_eval,
    no_run,
)
from app.domain.events.webhooks import EventType
from app.store.accounts.projects import refuse_archived
from app.store.events.log import log_end
from app.store.paging import Keyset, fitting
from app.store.schema.eval_runs import EvalRunTable as Table
from app.store.schema.projects import ProjectTable
from app.store.storable import storable
from app.store.times import unix


class EvalRunStore:
    def __init__(self, session: AsyncSession, project_id: str) -> None:
        self._session = session
        self._project_id = project_id

    async def insert(self, run: EvalRun, *, planned_items: int = MAX_ITEMS) -> None:
        """Raises `NotFound` for an eval that was deleted since it was read. `planned_items` is the
        largest number of output items of the run.
        """
        with _missing_eval_as_not_found(run):
            await self._session.execute(_insert(self._project_id, run, planned_items))
        await refuse_archived(self._session, self._project_id)

    async def get(self, eval_id: str, run_id: str) -> EvalRun:
        """Raises `NotFound`."""
        row = await self._session.scalar(
            select(Table)
            .where(Table.id == run_id, Table.eval_id == eval_id)
            .execution_options(populate_existing=True)
        )
        if row is None:
            raise no_run(run_id)
        return _to_run(row)

    async def page(
        self,
        eval_id: str,
        *,
        status: EvalRunStatus | None,
        after: str | None,
        limit: int,
        descending: bool,
    ) -> tuple[list[EvalRun], bool]:
        """Returns a page, cut below `limit` where the runs' own data exceed `MAX_PAGE_BYTES`."""
        query = select(Table).where(Table.eval_id == eval_id)
        if status is not None:
            query = query.where(Table.status == status.value)
        query = await Keyset((Table.created_at, Table.id), descending=descending).start_after(
            self._session,
            query,
            after=after,
            cursor=[Table.id == after, Table.eval_id == eval_id],
        )
        size = func.octet_length(cast(Table.data_source, Text))
        sized = query.with_only_columns(size).limit(limit + 1)
        sizes = (await self._session.scalars(sized)).all()
        limit = fitting(sizes, limit)
        rows = (await self._session.scalars(query.limit(limit))).all()
        return [_to_run(row) for row in rows], len(sizes) > limit

    async def open_ids(self) -> list[tuple[str, str]]:
        """Returns the ids of eval and run of every run that has not ended."""
        rows = await self._session.execute(
            select(Table.eval_id, Table.id).where(
                Table.project_id == self._project_id, Table.status.in_(OPEN_RUNS)
            )
        )
        return [(row.eval_id, row.id) for row in rows]

    async def cancel(self, eval_id: str, run_id: str) -> EvalRun:
        """Ends a run at once; its worker can write nothing more. Raises `WrongState`."""
        run = await self.get(eval_id, run_id)
        ended = await self._session.scalar(
            update(Table)
            .where(Table.id == run_id, Table.status.in_(OPEN_RUNS))
            .values(status=EvalRunStatus.CANCELED.value, finished_at=func.now())
            .returning(Table.id)
        )
        if ended is None:
            raise WrongState(f"Run {run_id} is {run.status.value} and cannot be canceled.")
        await log_end(
            self._session, self._project_id, event_type="eval.run.canceled", subject=run_id
        )
        return await self.get(eval_id, run_id)

    async def delete(self, eval_id: str, run_id: str) -> None:
        """Deletes a run with its items. Raises `NotFound`."""
        deleted_id = await self._session.scalar(
            delete(Table).where(Table.id == run_id, Table.eval_id == eval_id).returning(Table.id)
        )
        if deleted_id is None:
            raise no_run(run_id)


class AttachedEvalRunStore:
    """Writes of a job's worker, for the evals that are attached to the job."""

    def __init__(self, session: AsyncSession, project_id: str) -> None:
        self._session = session
        self._project_id = project_id

    async def insert(self, run: EvalRun) -> None:
        """Inserts a run without a look at the project's quotas. Raises `NotFound` for an eval that
        was deleted, and leaves the transaction usable: the end of a job is in it.
        """
        with _missing_eval_as_not_found(run):
            async with self._session.begin_nested():
                await self._session.execute(_insert(self._project_id, run, MAX_ITEMS))


@contextmanager
def _missing_eval_as_not_found(run: EvalRun) -> Iterator[None]:
    try:
        yield
    except IntegrityError as error:
        if not isinstance(error.orig, ForeignKeyViolation):
            raise
        raise no_eval(run.eval_id) from error


def _insert(project_id: str, run: EvalRun, planned_items: int) -> Insert:
    return insert(Table).values(
        id=run.id,
        project_id=project_id,
        eval_id=run.eval_id,
        name=run.name,
        status=run.status.value,
        model=run.model,
        data_source=run.data_source,
        planned_items=planned_items,
        run_metadata=run.metadata,
        criteria=run.criteria,
        usage=run.usage,
    )


class LeasedEvalRunStore:
    """Writes of the worker that has the lease. The unit of work has locked the row at its fence."""

    def __init__(self, session: AsyncSession, project_id: str, run_id: str) -> None:
        self._session = session
        self._project_id = project_id
        self._run_id = run_id

    async def get(self) -> EvalRun:
        row = (await self._session.scalars(select(Table).where(Table.id == self._run_id))).one()
        return _to_run(row)

    async def organization_id(self) -> str:
        """Returns the organization whose project the run is in."""
        owner = select(ProjectTable.organization_id).join(
            Table, Table.project_id == ProjectTable.id
        )
        return (await self._session.scalars(owner.where(Table.id == self._run_id))).one()

    async def age_s(self) -> float:
        """Returns the seconds since the run was claimed first, on the database's clock."""
        age = select(func.extract("epoch", func.now() - Table.started_at))
        return float((await self._session.scalars(age.where(Table.id == self._run_id))).one())

    async def count(self, tally: Tally) -> None:
        """Writes the totals of the items so far. Progress resets the count of attempts."""
        counts = tally.counts
        await self._change(
            passed=counts.passed,
            failed=counts.failed,
            errored=counts.errored,
            criteria=storable(tally.criteria),
            usage=storable(tally.usage),
            attempts=0,
        )

    async def complete(self) -> None:
        await self._end(EvalRunStatus.COMPLETED, "eval.run.succeeded")

    async def fail(self, code: str, message: str) -> None:
        error = storable({"code": code, "message": message})
        await self._end(EvalRunStatus.FAILED, "eval.run.failed", error=error)

    async def _end(self, status: EvalRunStatus, event_type: EventType, **values: Any) -> None:
        await self._change(status=status.value, finished_at=func.now(), **values)
        await log_end(self._session, self._project_id, event_type=event_type, subject=self._run_id)

    async def _change(self, **values: Any) -> None:
        await self._session.execute(update(Table).where(Table.id == self._run_id).values(**values))


def _to_run(row: Table) -> EvalRun:
    total = row.passed + row.failed + row.errored
    return EvalRun(
        id=row.id,
        eval_id=row.eval_id,
        name=row.name,
        status=EvalRunStatus(row.status),
        model=row.model,
        data_source=row.data_source,
        metadata=row.run_metadata,
        error=row.error,
        counts=ResultCounts(total, row.errored, row.failed, row.passed),
        criteria=row.criteria,
        usage=row.usage,
        created_at=unix(row.created_at),
    )
