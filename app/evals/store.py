"""Evals as rows: those of users and those of jobs."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, assert_never, cast

from psycopg.errors import ForeignKeyViolation
from sqlalchemy import Insert, Text, delete, func, insert, select, update
from sqlalchemy import Table as CoreTable
from sqlalchemy import cast as cast_runs
from sqlalchemy import cast as sql_cast
from sqlalchemy.dialects.postgresql import JSONB, JSONPATH
from sqlalchemy.dialects.postgresql import insert as insert_items
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.store import refuse_archived
from app.accounts.tables import ProjectTable
from app.evals.data_sources import MAX_ITEMS
from app.evals.evals import (
    OPEN_RUNS,
    Eval,
    EvalOrder,
    EvalRun,
    EvalRunStatus,
    ItemStatus,
    OutputItem,
    ResultCounts,
    SampleScore,
    Tally,
    no_eval,
    no_item,
    no_run,
)
from app.evals.tables import EvalItemTable as TableItems
from app.evals.tables import EvalRunTable as TableRuns
from app.evals.tables import EvalTable as Table
from app.events.store import log_end
from app.kit.errors import WrongState
from app.kit.sql import Keyset, fitting, from_row, storable
from app.webhooks.events import EventType

_INSERT = insert(cast("CoreTable", Table.__table__))


def eval_row(project_id: str, new: Eval) -> dict[str, Any]:
    """Returns the values of a new eval by column, without its headers."""
    return {
        "id": new.id,
        "project_id": project_id,
        "job_id": new.job_id,
        "name": new.name,
        "data_source_config": new.data_source_config,
        "testing_criteria": new.testing_criteria,
        "metadata": new.metadata,
    }


class EvalStore:
    def __init__(self, session: AsyncSession, project_id: str) -> None:
        self._session = session
        self._project_id = project_id

    async def insert(self, new: Eval, *, secrets: bytes | None = None) -> None:
        row = {**eval_row(self._project_id, new), "secrets": secrets}
        await self._session.execute(_INSERT, row)

    async def get(self, eval_id: str) -> Eval:
        """Raises `NotFound`."""
        return _to_eval(await self._row(eval_id))

    async def secrets(self, eval_id: str) -> bytes | None:
        return (await self._row(eval_id)).secrets

    async def page(
        self,
        *,
        after: str | None,
        limit: int,
        descending: bool,
        order_by: EvalOrder,
    ) -> tuple[list[Eval], bool]:
        match order_by:
            case "created_at":
                moment = Table.created_at
            case "updated_at":
                moment = Table.updated_at
            case _:
                assert_never(order_by)
        query = select(Table).where(Table.project_id == self._project_id)
        keyset = Keyset((moment, Table.id), descending=descending)
        page, more = await keyset.page(
            self._session, query, after=after, cursor=[Table.id == after], limit=limit
        )
        return [_to_eval(row) for row in page], more

    async def change(self, eval_id: str, values: dict[str, Any]) -> Eval:
        """Sets `name` and `metadata` where `values` contains them. Raises `NotFound`."""
        columns = {"eval_metadata" if key == "metadata" else key: values[key] for key in values}
        row = await self._session.scalar(
            update(Table)
            .where(Table.id == eval_id)
            .values(updated_at=func.now(), **columns)
            .returning(Table)
        )
        if row is None:
            raise no_eval(eval_id)
        return _to_eval(row)

    async def delete(self, eval_id: str) -> None:
        """Deletes an eval with all its runs. Raises `NotFound`."""
        statement = delete(Table).where(Table.id == eval_id).returning(Table.id)
        if await self._session.scalar(statement) is None:
            raise no_eval(eval_id)

    async def _row(self, eval_id: str) -> Table:
        row = await self._session.scalar(select(Table).where(Table.id == eval_id))
        if row is None:
            raise no_eval(eval_id)
        return row


def _to_eval(row: Table) -> Eval:
    return from_row(Eval, row, metadata=row.eval_metadata)


TokensByModel = list[tuple[str, dict[str, int]]]


class EvalItemStore:
    def __init__(self, session: AsyncSession, project_id: str) -> None:
        self._session = session
        self._project_id = project_id

    async def insert(self, item: OutputItem, *, position: int, usage: TokensByModel) -> None:
        """Inserts an item; does nothing when the run already has an item at this position, so that
        a write can be repeated. Positions count the samples of all items in order.
        """
        await self._session.execute(
            insert_items(TableItems)
            .values(
                id=item.id,
                project_id=self._project_id,
                run_id=item.run_id,
                eval_id=item.eval_id,
                position=position,
                status=item.status,
                datasource_item=storable(item.datasource_item),
                results=storable(item.results),
                sample=storable(item.sample),
                usage=storable(usage),
            )
            .on_conflict_do_nothing(
                index_elements=[TableItems.project_id, TableItems.run_id, TableItems.position]
            )
        )

    async def done(
        self, run_id: str
    ) -> list[tuple[int, ItemStatus, list[dict[str, Any]], TokensByModel]]:
        """Returns position, status, results and usage of every item that a run has."""
        rows = await self._session.execute(
            select(
                TableItems.position, TableItems.status, TableItems.results, TableItems.usage
            ).where(TableItems.project_id == self._project_id, TableItems.run_id == run_id)
        )
        return [
            (
                row.position,
                cast("ItemStatus", row.status),
                row.results,
                [(model, tokens) for model, tokens in row.usage],
            )
            for row in rows
        ]

    async def scores(self, run: EvalRun) -> list[SampleScore]:
        """Returns the scores of every sample of a run, in the order of the items."""
        path = sql_cast("$[*].score", JSONPATH)
        scores = func.jsonb_path_query_array(TableItems.results, path, type_=JSONB)
        rows = await self._session.execute(
            select(TableItems.position, TableItems.status, scores)
            .where(TableItems.project_id == self._project_id, TableItems.run_id == run.id)
            .order_by(TableItems.position)
        )
        return [
            SampleScore(position // run.samples_per_item, status, found)
            for position, status, found in rows
        ]

    async def get(self, run: EvalRun, item_id: str) -> OutputItem:
        """Raises `NotFound`."""
        row = await self._session.scalar(
            select(TableItems).where(TableItems.id == item_id, TableItems.run_id == run.id)
        )
        if row is None:
            raise no_item(item_id)
        return _to_item(row, run)

    async def page(
        self,
        run: EvalRun,
        *,
        status: ItemStatus | None,
        after: str | None,
        limit: int,
        descending: bool,
        index: int | None = None,
    ) -> tuple[list[OutputItem], bool]:
        """Returns a page by position, of the samples of one item if `index` names it; cut below
        `limit` where its items exceed `MAX_PAGE_BYTES`.
        """
        query = select(TableItems).where(
            TableItems.project_id == self._project_id, TableItems.run_id == run.id
        )
        if status is not None:
            query = query.where(TableItems.status == status)
        if index is not None:
            first = index * run.samples_per_item
            query = query.where(
                TableItems.position.between(first, first + run.samples_per_item - 1)
            )
        query = await Keyset((TableItems.position,), descending=descending).start_after(
            self._session,
            query,
            after=after,
            cursor=[TableItems.id == after, TableItems.run_id == run.id],
        )
        size = _length(TableItems.datasource_item) + _length(TableItems.sample)
        sized = query.with_only_columns(size).limit(limit + 1)
        sizes = (await self._session.scalars(sized)).all()
        limit = fitting(sizes, limit)
        rows = (await self._session.scalars(query.limit(limit))).all()
        return [_to_item(row, run) for row in rows], len(sizes) > limit


def _length(column: Any) -> Any:
    """Returns the length of a JSON value as text, in bytes."""
    return func.octet_length(sql_cast(column, Text))


def _to_item(row: TableItems, run: EvalRun) -> OutputItem:
    index, sample_index = divmod(row.position, run.samples_per_item)
    return from_row(
        OutputItem,
        row,
        index=index,
        sample_index=sample_index,
        status=cast("ItemStatus", row.status),
    )


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
            select(TableRuns)
            .where(TableRuns.id == run_id, TableRuns.eval_id == eval_id)
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
        query = select(TableRuns).where(TableRuns.eval_id == eval_id)
        if status is not None:
            query = query.where(TableRuns.status == status.value)
        query = await Keyset(
            (TableRuns.created_at, TableRuns.id), descending=descending
        ).start_after(
            self._session,
            query,
            after=after,
            cursor=[TableRuns.id == after, TableRuns.eval_id == eval_id],
        )
        size = func.octet_length(cast_runs(TableRuns.data_source, Text))
        sized = query.with_only_columns(size).limit(limit + 1)
        sizes = (await self._session.scalars(sized)).all()
        limit = fitting(sizes, limit)
        rows = (await self._session.scalars(query.limit(limit))).all()
        return [_to_run(row) for row in rows], len(sizes) > limit

    async def open_ids(self) -> list[tuple[str, str]]:
        """Returns the ids of eval and run of every run that has not ended."""
        rows = await self._session.execute(
            select(TableRuns.eval_id, TableRuns.id).where(
                TableRuns.project_id == self._project_id, TableRuns.status.in_(OPEN_RUNS)
            )
        )
        return [(row.eval_id, row.id) for row in rows]

    async def cancel(self, eval_id: str, run_id: str) -> EvalRun:
        """Ends a run at once; its worker can write nothing more. Raises `WrongState`."""
        run = await self.get(eval_id, run_id)
        ended = await self._session.scalar(
            update(TableRuns)
            .where(TableRuns.id == run_id, TableRuns.status.in_(OPEN_RUNS))
            .values(status=EvalRunStatus.CANCELED.value, finished_at=func.now())
            .returning(TableRuns.id)
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
            delete(TableRuns)
            .where(TableRuns.id == run_id, TableRuns.eval_id == eval_id)
            .returning(TableRuns.id)
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
    return insert(TableRuns).values(
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
        row = (
            await self._session.scalars(select(TableRuns).where(TableRuns.id == self._run_id))
        ).one()
        return _to_run(row)

    async def organization_id(self) -> str:
        """Returns the organization whose project the run is in."""
        owner = select(ProjectTable.organization_id).join(
            TableRuns, TableRuns.project_id == ProjectTable.id
        )
        return (await self._session.scalars(owner.where(TableRuns.id == self._run_id))).one()

    async def age_s(self) -> float:
        """Returns the seconds since the run was claimed first, on the database's clock."""
        age = select(func.extract("epoch", func.now() - TableRuns.started_at))
        return float((await self._session.scalars(age.where(TableRuns.id == self._run_id))).one())

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
        await self._session.execute(
            update(TableRuns).where(TableRuns.id == self._run_id).values(**values)
        )


def _to_run(row: TableRuns) -> EvalRun:
    total = row.passed + row.failed + row.errored
    return from_row(
        EvalRun,
        row,
        status=EvalRunStatus(row.status),
        metadata=row.run_metadata,
        counts=ResultCounts(total, row.errored, row.failed, row.passed),
    )
