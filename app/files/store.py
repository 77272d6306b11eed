"""Uploaded files as rows. A deleted file is hidden from every read."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from sqlalchemy import Select, func, insert, select, update

from app.files.files import NOT_READY, FileRow, UploadPartRow, UploadRow
from app.files.tables import FileTable as Table
from app.files.tables import UploadPartTable as Part
from app.files.tables import UploadTable as TableUploads
from app.kit.errors import NotFound
from app.kit.sql import Keyset, ProjectRows, from_row, moment, unix, unix_or_none

UNEXPIRED = Table.expires_at.is_(None) | (Table.expires_at > func.now())


class FileStore(ProjectRows):
    async def insert(self, row: FileRow) -> FileRow:
        """Stores a file and returns it with the database's times; its lifetime stays."""
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
        return from_row(FileRow, row)

    async def get_for_run(self, file_id: str) -> FileRow:
        row = await self._session.scalar(
            select(Table).where(Table.id == file_id, Table.deleted_at.is_(None))
        )
        if row is None:
            raise NotFound(f"No such File object: {file_id}", param="id")
        return from_row(FileRow, row)

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
        return [from_row(FileRow, row) for row in page], more

    async def existing(self, ids: Sequence[str]) -> list[FileRow]:
        rows = await self._session.scalars(
            self._alive().where(Table.id.in_(ids)).order_by(Table.id)
        )
        return [from_row(FileRow, row) for row in rows]

    async def deleted(self, ids: Sequence[str]) -> list[FileRow]:
        rows = await self._session.scalars(
            select(Table).where(Table.id.in_(ids), Table.deleted_at.is_not(None)).order_by(Table.id)
        )
        return [from_row(FileRow, row) for row in rows]

    async def lock(self, ids: Sequence[str]) -> list[FileRow]:
        rows = await self._session.scalars(
            self._alive().where(Table.id.in_(ids)).order_by(Table.id).with_for_update()
        )
        return [from_row(FileRow, row) for row in rows]

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
    return {
        "id": row.id,
        "project_id": project_id,
        "filename": row.filename,
        "purpose": row.purpose,
        "bytes": row.bytes,
    }


class UploadStore(ProjectRows):
    async def insert(self, row: UploadRow) -> None:
        await self._session.execute(
            insert(TableUploads).values(
                **columns_of(row, self._project_id),
                mime_type=row.mime_type,
                status=row.status,
                file_expires_after_s=row.file_expires_after_s,
                created_at=moment(row.created_at),
                expires_at=moment(row.expires_at),
            )
        )

    async def get(self, upload_id: str) -> UploadRow:
        return await self._read(_with_time(upload_id), upload_id)

    async def hold(self, upload_id: str) -> UploadRow:
        return await self._read(_with_time(upload_id).with_for_update(), upload_id)

    async def cancel(self, upload_id: str) -> None:
        await self._session.execute(
            update(TableUploads).where(TableUploads.id == upload_id).values(status="cancelled")
        )

    async def complete(self, upload_id: str, *, file_id: str, part_ids: Sequence[str]) -> None:
        await self._session.execute(
            update(TableUploads)
            .where(TableUploads.id == upload_id)
            .values(status="completed", file_id=file_id, part_ids=list(part_ids))
        )

    async def insert_part(self, part: UploadPartRow) -> None:
        await self._session.execute(
            insert(Part).values(
                id=part.id,
                project_id=self._project_id,
                upload_id=part.upload_id,
                bytes=part.bytes,
                created_at=moment(part.created_at),
            )
        )

    async def received(self, upload_id: str) -> tuple[int, int]:
        sums = select(func.count(), func.coalesce(func.sum(Part.bytes), 0))
        found = await self._session.execute(sums.where(Part.upload_id == upload_id))
        count, size = found.one()
        return int(count), int(size)

    async def parts(self, upload_id: str) -> dict[str, UploadPartRow]:
        rows = await self._session.scalars(select(Part).where(Part.upload_id == upload_id))
        return {row.id: from_row(UploadPartRow, row) for row in rows}

    async def _read(self, query: "Select[TableUploads, bool]", upload_id: str) -> UploadRow:
        row_and_expired = (await self._session.execute(query)).one_or_none()
        if row_and_expired is None:
            raise NotFound(f"No such Upload object: {upload_id}", param="upload_id")
        row, expired = row_and_expired
        status = "expired" if row.status == "pending" and expired else row.status
        return from_row(UploadRow, row, status=status, part_ids=tuple(row.part_ids))


def _with_time(upload_id: str) -> "Select[TableUploads, bool]":
    return select(TableUploads, TableUploads.expires_at <= func.now()).where(
        TableUploads.id == upload_id
    )
