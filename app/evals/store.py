"""Evals, their runs and output items as rows."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from operator import add
from typing import Any, assert_never, cast

from psycopg.errors import ForeignKeyViolation
from sqlalchemy import (
    Double,
    Insert,
    Select,
    Text,
    and_,
    delete,
    false,
    func,
    insert,
    select,
    update,
)
from sqlalchemy import Table as CoreTable
from sqlalchemy import cast as sql_cast
from sqlalchemy.dialects.postgresql import JSONB, JSONPATH, aggregate_order_by
from sqlalchemy.dialects.postgresql import insert as insert_items
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.sql.elements import ColumnElement
from typing_extensions import Unpack

from app.accounts.store import refuse_archived
from app.accounts.tables import ProjectTable
from app.evals.data_sources import MAX_ITEMS
from app.evals.evals import (
    OPEN_RUNS,
    Eval,
    EvalOrder,
    EvalRun,
    EvalRunStatus,
    ItemPage,
    ItemStatus,
    OutputItem,
    ResultCounts,
    RunPage,
    SampleScore,
    Tally,
    ValidationCounts,
    no_eval,
    no_item,
    no_run,
)
from app.evals.tables import EvalItemTable, EvalRunTable, EvalTable
from app.events.store import log_end
from app.jobs.tables import CheckpointTable
from app.kit.errors import WrongState
from app.kit.sql import Keyset, ProjectRows, SessionRows, cut, fitting, from_row, storable
from app.rollouts.rollouts import RolloutRow
from app.rollouts.store import to_rollout
from app.rollouts.tables import RolloutTable
from app.webhooks.events import EventType

_INSERT = insert(cast("CoreTable", EvalTable.__table__))


def eval_row(project_id: str, new: Eval) -> dict[str, Any]:
    return {
        "id": new.id,
        "project_id": project_id,
        "job_id": new.job_id,
        "name": new.name,
        "data_source_config": new.data_source_config,
        "testing_criteria": new.testing_criteria,
        "metadata": new.metadata,
    }


class EvalStore(ProjectRows):
    async def insert(self, new: Eval, *, secrets: bytes | None = None) -> None:
        row = {**eval_row(self._project_id, new), "secrets": secrets}
        await self._session.execute(_INSERT, row)

    async def get(self, eval_id: str) -> Eval:
        return _to_eval(await self._row(eval_id))

    async def secrets(self, eval_id: str) -> bytes | None:
        return (await self._row(eval_id)).secrets

    async def page(
        self, *, after: str | None, limit: int, descending: bool, order_by: EvalOrder
    ) -> tuple[list[Eval], bool]:
        moment = EvalTable.created_at if order_by == "created_at" else EvalTable.updated_at
        query = select(EvalTable).where(EvalTable.project_id == self._project_id)
        keyset = Keyset((moment, EvalTable.id), descending=descending)
        page, more = await keyset.page(
            self._session, query, after=after, cursor=[EvalTable.id == after], limit=limit
        )
        return [_to_eval(row) for row in page], more

    async def change(self, eval_id: str, values: dict[str, Any]) -> Eval:
        columns = {"eval_metadata" if key == "metadata" else key: values[key] for key in values}
        row = await self._session.scalar(
            update(EvalTable)
            .where(EvalTable.id == eval_id)
            .values(updated_at=func.now(), **columns)
            .returning(EvalTable)
        )
        if row is None:
            raise no_eval(eval_id)
        return _to_eval(row)

    async def delete(self, eval_id: str) -> None:
        statement = delete(EvalTable).where(EvalTable.id == eval_id).returning(EvalTable.id)
        if await self._session.scalar(statement) is None:
            raise no_eval(eval_id)

    async def _row(self, eval_id: str) -> EvalTable:
        row = await self._session.scalar(select(EvalTable).where(EvalTable.id == eval_id))
        if row is None:
            raise no_eval(eval_id)
        return row


def _to_eval(row: EvalTable) -> Eval:
    return from_row(Eval, row, metadata=row.eval_metadata)


TokensByModel = list[tuple[str, dict[str, int]]]


class EvalItemStore(ProjectRows):
    async def insert(self, item: OutputItem, *, position: int, usage: TokensByModel) -> None:
        """Does nothing if the position is taken: writes can be repeated."""
        await self._session.execute(
            insert_items(EvalItemTable)
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
                index_elements=[
                    EvalItemTable.project_id,
                    EvalItemTable.run_id,
                    EvalItemTable.position,
                ]
            )
        )

    async def done(
        self, run_id: str
    ) -> list[tuple[int, ItemStatus, list[dict[str, Any]], TokensByModel]]:
        rows = await self._session.execute(
            select(
                EvalItemTable.position,
                EvalItemTable.status,
                EvalItemTable.results,
                EvalItemTable.usage,
            ).where(EvalItemTable.project_id == self._project_id, EvalItemTable.run_id == run_id)
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
        path = sql_cast("$[*].score", JSONPATH)
        scores = func.jsonb_path_query_array(EvalItemTable.results, path, type_=JSONB)
        rows = await self._session.execute(
            select(EvalItemTable.position, EvalItemTable.status, scores)
            .where(EvalItemTable.project_id == self._project_id, EvalItemTable.run_id == run.id)
            .order_by(EvalItemTable.position)
        )
        return [
            SampleScore(position // run.samples_per_item, status, found)
            for position, status, found in rows
        ]

    async def get(self, run: EvalRun, item_id: str) -> OutputItem:
        row = await self._session.scalar(
            select(EvalItemTable).where(EvalItemTable.id == item_id, EvalItemTable.run_id == run.id)
        )
        if row is None:
            raise no_item(item_id)
        return _to_item(row, run)

    async def page(self, run: EvalRun, **wanted: Unpack[ItemPage]) -> tuple[list[OutputItem], bool]:
        status, index, after = wanted["status"], wanted.get("index"), wanted["after"]
        query = select(EvalItemTable).where(
            EvalItemTable.project_id == self._project_id, EvalItemTable.run_id == run.id
        )
        if status is not None:
            query = query.where(EvalItemTable.status == status)
        if index is not None:
            first = index * run.samples_per_item
            query = query.where(
                EvalItemTable.position.between(first, first + run.samples_per_item - 1)
            )
        keyset = Keyset((EvalItemTable.position,), descending=wanted["descending"])
        cursor = [EvalItemTable.id == after, EvalItemTable.run_id == run.id]
        query = await keyset.start_after(self._session, query, after=after, cursor=cursor)
        stored = (EvalItemTable.datasource_item, EvalItemTable.sample)
        rows, more = await _fitting_rows(self._session, query, wanted["limit"], *stored)
        return [_to_item(row, run) for row in rows], more


async def _fitting_rows(
    session: AsyncSession, query: Select[Any], limit: int, *stored: Any
) -> tuple[Sequence[Any], bool]:
    lengths = [func.octet_length(sql_cast(column, Text)) for column in stored]
    size = reduce(add, lengths)
    sizes = (await session.scalars(query.with_only_columns(size).limit(limit + 1))).all()
    limit = fitting(sizes, limit)
    return (await session.scalars(query.limit(limit))).all(), len(sizes) > limit


def _to_item(row: EvalItemTable, run: EvalRun) -> OutputItem:
    index, sample_index = divmod(row.position, run.samples_per_item)
    return from_row(
        OutputItem,
        row,
        index=index,
        sample_index=sample_index,
        status=cast("ItemStatus", row.status),
    )


class EvalRunStore(ProjectRows):
    async def insert(self, run: EvalRun, *, planned_items: int = MAX_ITEMS) -> None:
        """Raises `NotFound` for an eval that was deleted since it was read."""
        with _missing_eval_as_not_found(run):
            await self._session.execute(_insert(self._project_id, run, planned_items))
        await refuse_archived(self._session, self._project_id)

    async def get(self, eval_id: str, run_id: str) -> EvalRun:
        """Raises `NotFound`."""
        row = await self._session.scalar(
            select(EvalRunTable)
            .where(EvalRunTable.id == run_id, EvalRunTable.eval_id == eval_id)
            .execution_options(populate_existing=True)
        )
        if row is None:
            raise no_run(run_id)
        return _to_run(row)

    async def page(self, eval_id: str, **wanted: Unpack[RunPage]) -> tuple[list[EvalRun], bool]:
        """Returns a page, cut below `limit` where the runs' own data exceed `MAX_PAGE_BYTES`."""
        query = select(EvalRunTable).where(EvalRunTable.eval_id == eval_id)
        status, after = wanted["status"], wanted["after"]
        if status is not None:
            query = query.where(EvalRunTable.status == status.value)
        keyset = Keyset((EvalRunTable.created_at, EvalRunTable.id), descending=wanted["descending"])
        cursor = [EvalRunTable.id == after, EvalRunTable.eval_id == eval_id]
        query = await keyset.start_after(self._session, query, after=after, cursor=cursor)
        rows, more = await _fitting_rows(
            self._session, query, wanted["limit"], EvalRunTable.data_source
        )
        return [_to_run(row) for row in rows], more

    async def open_ids(self) -> list[tuple[str, str]]:
        rows = await self._session.execute(
            select(EvalRunTable.eval_id, EvalRunTable.id).where(
                EvalRunTable.project_id == self._project_id, EvalRunTable.status.in_(OPEN_RUNS)
            )
        )
        return [(row.eval_id, row.id) for row in rows]

    async def cancel(self, eval_id: str, run_id: str) -> EvalRun:
        run = await self.get(eval_id, run_id)
        ended = await self._session.scalar(
            update(EvalRunTable)
            .where(EvalRunTable.id == run_id, EvalRunTable.status.in_(OPEN_RUNS))
            .values(status=EvalRunStatus.CANCELED.value, finished_at=func.now())
            .returning(EvalRunTable.id)
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
            delete(EvalRunTable)
            .where(EvalRunTable.id == run_id, EvalRunTable.eval_id == eval_id)
            .returning(EvalRunTable.id)
        )
        if deleted_id is None:
            raise no_run(run_id)


class AttachedEvalRunStore(ProjectRows):
    async def insert(self, run: EvalRun) -> None:
        """Takes no look at quotas. Raises `NotFound` for an eval that was deleted, and leaves the
        transaction usable: the end of a job is in it.
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
    return insert(EvalRunTable).values(
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
            await self._session.scalars(select(EvalRunTable).where(EvalRunTable.id == self._run_id))
        ).one()
        return _to_run(row)

    async def organization_id(self) -> str:
        owner = select(ProjectTable.organization_id).join(
            EvalRunTable, EvalRunTable.project_id == ProjectTable.id
        )
        return (await self._session.scalars(owner.where(EvalRunTable.id == self._run_id))).one()

    async def age_s(self) -> float:
        age = select(func.extract("epoch", func.now() - EvalRunTable.started_at))
        return float(
            (await self._session.scalars(age.where(EvalRunTable.id == self._run_id))).one()
        )

    async def count(self, tally: Tally) -> None:
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
            update(EvalRunTable).where(EvalRunTable.id == self._run_id).values(**values)
        )


def _to_run(row: EvalRunTable) -> EvalRun:
    total = row.passed + row.failed + row.errored
    return from_row(
        EvalRun,
        row,
        status=EvalRunStatus(row.status),
        metadata=row.run_metadata,
        counts=ResultCounts(total, row.errored, row.failed, row.passed),
    )


_ORDER = (RolloutTable.prompt_index, RolloutTable.sample_index, RolloutTable.attempt)


class ValidationRunStore(SessionRows):
    async def page(
        self,
        job_id: str,
        threshold: float | None,
        *,
        status: EvalRunStatus | None,
        after: int | None,
        limit: int,
        descending: bool,
    ) -> tuple[list[ValidationCounts], bool]:
        query = self._validations(job_id, threshold)
        if status is not None:
            query = query.having(_ended_as(status))
        if after is not None:
            query = query.where(
                RolloutTable.step < after if descending else RolloutTable.step > after
            )
        query = query.order_by(RolloutTable.step.desc() if descending else RolloutTable.step)
        rows = (await self._session.execute(query.limit(limit + 1))).all()
        page, more = cut(rows, limit)
        return [ValidationCounts(*row) for row in page], more

    async def get(self, job_id: str, threshold: float | None, step: int) -> ValidationCounts | None:
        query = self._validations(job_id, threshold).where(RolloutTable.step == step)
        row = (await self._session.execute(query)).one_or_none()
        return None if row is None else ValidationCounts(*row)

    async def items(
        self, job_id: str, step: int, threshold: float | None, **wanted: Unpack[ItemPage]
    ) -> tuple[list[RolloutRow], bool]:
        status, index, after = wanted["status"], wanted.get("index"), wanted["after"]
        query = select(RolloutTable).where(*_of(job_id), RolloutTable.step == step)
        if index is not None:
            query = query.where(RolloutTable.prompt_index == index)
        if status is not None:
            query = query.where(_has_status(status, threshold))
        page, more = await Keyset(_ORDER, descending=wanted["descending"]).page(
            self._session,
            query,
            after=after,
            cursor=[RolloutTable.id == after, *_of(job_id), RolloutTable.step == step],
            limit=wanted["limit"],
        )
        return [to_rollout(row) for row in page], more

    @staticmethod
    def _validations(
        job_id: str, threshold: float | None
    ) -> Select[int, int, int, int, int, int, float, str, str]:
        of_step = and_(CheckpointTable.job_id == job_id, CheckpointTable.step == RolloutTable.step)
        return (
            select(
                RolloutTable.step,
                func.count(),
                func.count().filter(_passes(threshold)),
                func.count().filter(RolloutTable.reward.is_(None)),
                func.sum(RolloutTable.prompt_tokens),
                func.sum(RolloutTable.completion_tokens),
                func.max(RolloutTable.finished_at, type_=Double),
                func.max(CheckpointTable.model_name),
                _first_fault(),
            )
            .join(CheckpointTable, of_step, isouter=True)
            .where(*_of(job_id))
            .group_by(RolloutTable.step)
        )


def _first_fault() -> ColumnElement[str]:
    messages = aggregate_order_by(RolloutTable.failure_message, *_ORDER)
    return func.array_agg(messages).filter(RolloutTable.reward.is_(None))[1]


def _ended_as(status: EvalRunStatus) -> ColumnElement[bool]:
    scored = func.count(RolloutTable.reward)
    match status:
        case EvalRunStatus.COMPLETED:
            return scored > 0
        case EvalRunStatus.FAILED:
            return scored == 0
        case EvalRunStatus.QUEUED | EvalRunStatus.IN_PROGRESS | EvalRunStatus.CANCELED:
            return false()
        case _:
            assert_never(status)


def _of(job_id: str) -> tuple[ColumnElement[bool], ...]:
    return (RolloutTable.job_id == job_id, RolloutTable.split == "valid")


def _passes(threshold: float | None) -> ColumnElement[bool]:
    return RolloutTable.reward > 0 if threshold is None else RolloutTable.reward >= threshold


def _has_status(status: ItemStatus, threshold: float | None) -> ColumnElement[bool]:
    match status:
        case "pass":
            return _passes(threshold)
        case "fail":
            return ~_passes(threshold)
        case "error":
            return RolloutTable.reward.is_(None)
        case _:
            assert_never(status)
