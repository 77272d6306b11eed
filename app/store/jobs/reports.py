"""Paired reports as rows, one per job."""

from typing import Any

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.store.schema.reports import ReportTable as Table
from app.store.storable import storable


class ReportStore:
    def __init__(self, session: AsyncSession, project_id: str) -> None:
        self._session = session
        self._project_id = project_id

    async def upsert(self, job_id: str, report: dict[str, Any]) -> None:
        query = insert(Table).values(
            project_id=self._project_id, job_id=job_id, report=storable(report)
        )
        await self._session.execute(
            query.on_conflict_do_update(
                index_elements=[Table.project_id, Table.job_id],
                set_={"report": query.excluded.report},
            )
        )

    async def get(self, job_id: str) -> dict[str, Any] | None:
        return await self._session.scalar(select(Table.report).where(Table.job_id == job_id))
