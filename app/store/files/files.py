"""Uploaded files as rows. A deleted file is hidden from every read."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from sqlalchemy import Select, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.data.files import NOT_READY, FileRow
from app.domain.data.uploads import UploadRow
from app.domain.errors import NotFound
from app.store.paging import Keyset
from app.store.schema.files import FileTable as Table
from app.store.times import unix, unix_or_none

UNEXPIRED = Table.expires_at.is_(None) | (Table.expires_at > func.now())


class FileStore:
    def __init__(self, session: AsyncSession, project_id: str) -> None:
        self._session = session
        self._project_id = project_id

    async def insert(self, row: FileRow) -> FileRow:
        """Stores a file and returns it with the times of the database's clock, which every later
        read shows. Its lifetime stays what it was.
        """
        end, start = row.expires_at, row.created_at
        lifetime = None if end is None else timedelta(seconds=end - start)
        query = (
            insert(Table)
            .values(
                **columns_of(row, self._project_id),
                sha256=row.sha256,
                object_key=row.object_key,
                status=row.status,
                status_details=row.status_details,
                expires_at=None if lifetime is None else func.now() + lifetime,
            )
            .returning(Table.created_at, Table.expires_at)
        )
        created_at, expires_at = (await self._session.execute(query)).one()
        return replace(row, created_at=unix(created_at), expires_at=unix_or_none(expires_at))

    async def get(self, file_id: str) -> FileRow:
        row = await self._session.scalar(self._alive().where(Table.id == file_id))
        if row is None:
            raise NotFound(f"No such File object: {file_id}", param="id")
        return _to_file(row)

    async def get_for_run(self, file_id: str) -> FileRow:
        """Returns a file as `get` does, or an expired one, because an unfinished job can read its
        files.
        """
        row = await self._session.scalar(
            select(Table).where(Table.id == file_id, Table.deleted_at.is_(None))
        )
        if row is None:
            raise NotFound(f"No such File object: {file_id}", param="id")
        return _to_file(row)

    async def page(
        self, *, purpose: str | None, after: str | None, limit: int, order: str
    ) -> tuple[list[FileRow], bool]:
        query = self._alive()
        if purpose is not None:
            query = query.where(Table.purpose == purpose)
        keyset = Keyset((Table.created_at, Table.id), descending=order == "desc")
        page, more = await keyset.page(
            self._session, query, after=after, cursor=[Table.id == after], limit=limit
        )
        return [_to_file(row) for row in page], more

    async def existing(self, ids: Sequence[str]) -> list[FileRow]:
        """Returns those of the files that exist."""
        rows = await self._session.scalars(
            self._alive().where(Table.id.in_(ids)).order_by(Table.id)
        )
        return [_to_file(row) for row in rows]

    async def deleted(self, ids: Sequence[str]) -> list[FileRow]:
        """Returns those of the files that were deleted and still have a row."""
        rows = await self._session.scalars(
            select(Table).where(Table.id.in_(ids), Table.deleted_at.is_not(None)).order_by(Table.id)
        )
        return [_to_file(row) for row in rows]

    async def lock(self, ids: Sequence[str]) -> list[FileRow]:
        """Returns those of the files that exist. A job that is being made with one is made first,
        and none is made with one until the transaction ends.
        """
        rows = await self._session.scalars(
            self._alive().where(Table.id.in_(ids)).order_by(Table.id).with_for_update()
        )
        return [_to_file(row) for row in rows]

    async def withhold(self, ids: Sequence[str], details: str) -> None:
        """Lets no new job read the files, until they are released; `details` says why."""
        await self._session.execute(
            update(Table).where(Table.id.in_(ids)).values(status=NOT_READY, status_details=details)
        )

    async def release(self, ids: Sequence[str]) -> None:
        await self._session.execute(
            update(Table)
            .where(Table.id.in_(ids), Table.status == NOT_READY)
            .values(status="processed", status_details=None)
        )

    async def mark_deleted(self, file_id: str) -> None:
        await self._session.execute(
            update(Table).where(Table.id == file_id).values(deleted_at=func.now())
        )

    @staticmethod
    def _alive() -> Select[Table]:
        return select(Table).where(Table.deleted_at.is_(None), UNEXPIRED)


def columns_of(row: FileRow | UploadRow, project_id: str) -> dict[str, Any]:
    """Returns the columns that a file and an upload share."""
    return {
        "id": row.id,
        "project_id": project_id,
        "filename": row.filename,
        "purpose": row.purpose,
        "bytes": row.bytes,
    }


def _to_file(row: Table) -> FileRow:
    return FileRow(
        id=row.id,
        project_id=row.project_id,
        filename=row.filename,
        purpose=row.purpose,
        bytes=row.bytes,
        sha256=row.sha256,
        object_key=row.object_key,
        status=row.status,
        status_details=row.status_details,
        created_at=unix(row.created_at),
        expires_at=unix_or_none(row.expires_at),
    )
