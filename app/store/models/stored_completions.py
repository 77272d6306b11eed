"""Stored chat completions as rows."""

from typing import Any

from sqlalchemy import delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.chat.stored_completions import StoredCompletion
from app.domain.errors import NotFound
from app.store.paging import Keyset
from app.store.schema.stored_completions import StoredCompletionTable as Table
from app.store.storable import storable


class StoredCompletionStore:
    def __init__(self, session: AsyncSession, project_id: str) -> None:
        self._session = session
        self._project_id = project_id

    async def insert(self, new: StoredCompletion, *, size: int) -> None:
        """Inserts a completion of `size` bytes."""
        await self._session.execute(
            insert(Table).values(
                id=new.id,
                project_id=self._project_id,
                model=new.model,
                end_user=storable(new.end_user),
                completion_metadata=storable(new.metadata),
                request=storable({"messages": new.messages, "tools": new.tools}),
                reply=storable(new.reply),
                bytes=size,
            )
        )

    async def get(self, completion_id: str) -> StoredCompletion:
        """Raises `NotFound`."""
        row = await self._session.scalar(select(Table).where(Table.id == completion_id))
        if row is None:
            raise _no_completion(completion_id)
        return to_completion(row)

    async def page(
        self,
        *,
        after: str | None,
        limit: int,
        descending: bool,
        model: str | None,
        metadata: dict[str, str] | None,
    ) -> tuple[list[StoredCompletion], bool]:
        """Returns a page by time of those with this model and all these pairs of metadata."""
        query = select(Table)
        if model is not None:
            query = query.where(Table.model == model)
        if metadata:
            query = query.where(Table.completion_metadata.contains(metadata))
        keyset = Keyset((Table.created_at, Table.id), descending=descending)
        rows, more = await keyset.page(
            self._session, query, after=after, cursor=[Table.id == after], limit=limit
        )
        return [to_completion(row) for row in rows], more

    async def set_metadata(self, completion_id: str, metadata: dict[str, str] | None) -> None:
        """Raises `NotFound`."""
        changed = await self._session.scalar(
            update(Table)
            .where(Table.id == completion_id)
            .values(completion_metadata=storable(metadata))
            .returning(Table.id)
        )
        if changed is None:
            raise _no_completion(completion_id)

    async def delete(self, completion_id: str) -> None:
        """Deletes a completion, and by its foreign keys the feedback about it. Raises
        `NotFound`.
        """
        removed = await self._session.scalar(
            delete(Table).where(Table.id == completion_id).returning(Table.id)
        )
        if removed is None:
            raise _no_completion(completion_id)


def to_completion(row: Table) -> StoredCompletion:
    request: dict[str, Any] = row.request
    return StoredCompletion(
        id=row.id,
        model=row.model,
        end_user=row.end_user,
        metadata=row.completion_metadata,
        messages=request["messages"],
        tools=request["tools"],
        reply=row.reply,
    )


def _no_completion(completion_id: str) -> NotFound:
    return NotFound(f"Chat completion {completion_id} not found.", param="completion_id")
