"""Stored chat completions: keeps, lists, labels and deletes them."""

import json
from collections.abc import Mapping
from typing import Any

from app.database import Database
from app.kit.callers import Tenant
from app.kit.fields import Json
from app.kit.texts import Redaction, redacted_in
from app.models.chat import (
    StoredCompletion,
    check_pairs,
    check_stored,
    completion_of,
)


class StoredCompletionService:
    def __init__(self, database: Database, tenant: Tenant, *, redaction: Redaction) -> None:
        """`redaction` is applied to every text of a call and its reply before it is stored."""
        self._database = database
        self._tenant = tenant
        self._redaction = redaction

    async def check(self, body: Mapping[str, Any]) -> None:
        """Raises `InvalidRequest` or `QuotaExceeded` for a call that could not be stored, before
        its answer is sampled.
        """
        check_stored(body)
        size = len(json.dumps([body["messages"], body.get("tools")]))
        async with self._database.tenant(self._tenant) as unit:
            await unit.quotas.check_bytes(size)

    async def keep(self, body: Mapping[str, Any], reply: Json) -> None:
        """Stores a call with its whole reply. Raises `QuotaExceeded` and `Unavailable`."""
        whole = completion_of(body, reply)
        texts = {"messages": whole.messages, "tools": whole.tools, "reply": whole.reply["choices"]}
        safe = redacted_in(texts, self._redaction)
        kept = StoredCompletion(
            id=whole.id,
            model=whole.model,
            end_user=whole.end_user,
            metadata=redacted_in(whole.metadata, self._redaction),
            messages=safe["messages"],
            tools=safe["tools"],
            reply={**whole.reply, "choices": safe["reply"]},
        )
        size = len(json.dumps([kept.messages, kept.tools, kept.reply]))
        async with self._database.tenant(self._tenant) as unit:
            await unit.quotas.check_bytes(size)
            await unit.stored_completions.insert(kept, size=size)

    async def get(self, completion_id: str) -> StoredCompletion:
        """Raises `NotFound`."""
        async with self._database.tenant(self._tenant) as unit:
            return await unit.stored_completions.get(completion_id)

    async def page(
        self,
        *,
        after: str | None,
        limit: int,
        descending: bool,
        model: str | None,
        metadata: dict[str, str] | None,
    ) -> tuple[list[StoredCompletion], bool]:
        async with self._database.tenant(self._tenant) as unit:
            return await unit.stored_completions.page(
                after=after, limit=limit, descending=descending, model=model, metadata=metadata
            )

    async def label(self, completion_id: str, metadata: dict[str, str] | None) -> StoredCompletion:
        """Replaces the metadata. Raises `NotFound` and `InvalidRequest`."""
        check_pairs(metadata or {})
        safe = redacted_in(metadata or None, self._redaction)
        async with self._database.tenant(self._tenant) as unit:
            await unit.stored_completions.set_metadata(completion_id, safe)
            return await unit.stored_completions.get(completion_id)

    async def delete(self, completion_id: str) -> None:
        """Deletes a completion with the feedback about it. Raises `NotFound`."""
        async with self._database.tenant(self._tenant) as unit:
            await unit.stored_completions.delete(completion_id)
