"""Evals as rows: those of users and those of jobs."""

from typing import Any, assert_never, cast

from sqlalchemy import Table as CoreTable
from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.evals.evals import Eval, EvalOrder, no_eval
from app.store.paging import Keyset
from app.store.schema.evals import EvalTable as Table
from app.store.times import unix

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
    return Eval(
        id=row.id,
        job_id=row.job_id,
        name=row.name,
        data_source_config=row.data_source_config,
        testing_criteria=row.testing_criteria,
        metadata=row.eval_metadata,
        created_at=unix(row.created_at),
        updated_at=unix(row.updated_at),
    )
