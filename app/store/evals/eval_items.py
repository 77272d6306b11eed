"""Output items of users' runs as rows, in the order of the data source."""

from typing import Any, cast

from sqlalchemy import Text, func, select
from sqlalchemy import cast as sql_cast
from sqlalchemy.dialects.postgresql import JSONB, JSONPATH, insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.evals.baselines import SampleScore
from app.domain.evals.evals import EvalRun, ItemStatus, OutputItem, no_item
from app.store.paging import Keyset, fitting
from app.store.schema.eval_items import EvalItemTable as Table
from app.store.storable import storable
from app.store.times import unix

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
            insert(Table)
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
            .on_conflict_do_nothing(index_elements=[Table.project_id, Table.run_id, Table.position])
        )

    async def done(
        self, run_id: str
    ) -> list[tuple[int, ItemStatus, list[dict[str, Any]], TokensByModel]]:
        """Returns position, status, results and usage of every item that a run has."""
        rows = await self._session.execute(
            select(Table.position, Table.status, Table.results, Table.usage).where(
                Table.project_id == self._project_id, Table.run_id == run_id
            )
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
        scores = func.jsonb_path_query_array(Table.results, path, type_=JSONB)
        rows = await self._session.execute(
            select(Table.position, Table.status, scores)
            .where(Table.project_id == self._project_id, Table.run_id == run.id)
            .order_by(Table.position)
        )
        return [
            SampleScore(position // run.samples_per_item, status, found)
            for position, status, found in rows
        ]

    async def get(self, run: EvalRun, item_id: str) -> OutputItem:
        """Raises `NotFound`."""
        row = await self._session.scalar(
            select(Table).where(Table.id == item_id, Table.run_id == run.id)
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
        query = select(Table).where(Table.project_id == self._project_id, Table.run_id == run.id)
        if status is not None:
            query = query.where(Table.status == status)
        if index is not None:
            first = index * run.samples_per_item
            query = query.where(Table.position.between(first, first + run.samples_per_item - 1))
        query = await Keyset((Table.position,), descending=descending).start_after(
            self._session,
            query,
            after=after,
            cursor=[Table.id == after, Table.run_id == run.id],
        )
        size = _length(Table.datasource_item) + _length(Table.sample)
        sized = query.with_only_columns(size).limit(limit + 1)
        sizes = (await self._session.scalars(sized)).all()
        limit = fitting(sizes, limit)
        rows = (await self._session.scalars(query.limit(limit))).all()
        return [_to_item(row, run) for row in rows], len(sizes) > limit


def _length(column: Any) -> Any:
    """Returns the length of a JSON value as text, in bytes."""
    return func.octet_length(sql_cast(column, Text))


def _to_item(row: Table, run: EvalRun) -> OutputItem:
    index, sample_index = divmod(row.position, run.samples_per_item)
    return OutputItem(
        id=row.id,
        eval_id=row.eval_id,
        run_id=row.run_id,
        index=index,
        sample_index=sample_index,
        status=cast("ItemStatus", row.status),
        datasource_item=row.datasource_item,
        results=row.results,
        sample=row.sample,
        created_at=unix(row.created_at),
    )
