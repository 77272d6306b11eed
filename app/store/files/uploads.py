"""Uploads and their parts as rows. The database's clock decides when an upload has expired."""

from collections.abc import Sequence
from typing import assert_never

from sqlalchemy import Select, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.data.uploads import UploadPartRow, UploadRow, UploadStatus
from app.domain.errors import NotFound
from app.store.files.files import columns_of
from app.store.schema.uploads import UploadPartTable as Part
from app.store.schema.uploads import UploadTable as Table
from app.store.times import moment, unix


class UploadStore:
    def __init__(self, session: AsyncSession, project_id: str) -> None:
        self._session = session
        self._project_id = project_id

    async def insert(self, row: UploadRow) -> None:
        await self._session.execute(
            insert(Table).values(
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
        """Returns an upload as `get` does, with a lock: no other transaction adds a part or ends
        the upload.
        """
        return await self._read(_with_time(upload_id).with_for_update(), upload_id)

    async def cancel(self, upload_id: str) -> None:
        await self._session.execute(
            update(Table).where(Table.id == upload_id).values(status="cancelled")
        )

    async def complete(self, upload_id: str, *, file_id: str, part_ids: Sequence[str]) -> None:
        await self._session.execute(
            update(Table)
            .where(Table.id == upload_id)
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
        """Returns the number of parts so far, and their bytes."""
        row = (
            await self._session.execute(
                select(func.count(), func.coalesce(func.sum(Part.bytes), 0)).where(
                    Part.upload_id == upload_id
                )
            )
        ).one()
        return int(row[0]), int(row[1])

    async def parts(self, upload_id: str) -> dict[str, UploadPartRow]:
        """Returns the upload's parts by id."""
        rows = await self._session.scalars(select(Part).where(Part.upload_id == upload_id))
        return {
            row.id: UploadPartRow(
                id=row.id,
                upload_id=row.upload_id,
                bytes=row.bytes,
                created_at=unix(row.created_at),
            )
            for row in rows
        }

    async def _read(self, query: "Select[Table, bool]", upload_id: str) -> UploadRow:
        row_and_expired = (await self._session.execute(query)).one_or_none()
        if row_and_expired is None:
            raise NotFound(f"No such Upload object: {upload_id}", param="upload_id")
        row, expired = row_and_expired
        return _to_upload(row, expired=expired)


def _with_time(upload_id: str) -> "Select[Table, bool]":
    return select(Table, Table.expires_at <= func.now()).where(Table.id == upload_id)


def _status(stored: UploadStatus, *, expired: bool) -> UploadStatus:
    """Returns the state of an upload: a pending one is expired after its time."""
    match stored:
        case "pending":
            return "expired" if expired else "pending"
        case "completed" | "cancelled" | "expired":
            return stored
        case _:
            assert_never(stored)


def _to_upload(row: Table, *, expired: bool) -> UploadRow:
    return UploadRow(
        id=row.id,
        project_id=row.project_id,
        filename=row.filename,
        purpose=row.purpose,
        mime_type=row.mime_type,
        bytes=row.bytes,
        status=_status(row.status, expired=expired),
        created_at=unix(row.created_at),
        expires_at=unix(row.expires_at),
        file_expires_after_s=row.file_expires_after_s,
        file_id=row.file_id,
        part_ids=tuple(row.part_ids),
    )
