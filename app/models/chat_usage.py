"""Adds up what chats use, and writes it every few seconds: no chat waits for the database."""

import asyncio
import time
from collections import defaultdict
from contextlib import suppress
from contextvars import Context
from dataclasses import dataclass, replace
from typing import Any, Final

import structlog

from app.accounts.usage import MINUTE_S, Amounts, UsageRecord
from app.database import Database
from app.kit.callers import Tenant
from app.kit.errors import Unavailable
from app.kit.ids import new_id
from app.models.chat import reported_tokens
from app.settings import PricingSettings

log = structlog.get_logger()
_MILLION: Final = 1_000_000
MOST_WAITING: Final = 10_000
"""Records that wait for a database that is unavailable; the memory of more is not worth them."""


@dataclass(frozen=True, slots=True)
class _Bucket:
    """One record: the chats of a key with a model in a minute."""

    tenant: Tenant
    model: str
    minute: int


class ChatUsage:
    def __init__(self, database: Database, pricing: PricingSettings, *, flush_s: float) -> None:
        self._database = database
        self._pricing = pricing
        self._flush_s = flush_s
        self._open: dict[_Bucket, UsageRecord] = {}
        self._waiting: list[tuple[Tenant, UsageRecord]] = []
        self._writing: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()

    def add(self, tenant: Tenant, model: str, usage: dict[str, Any]) -> None:
        bucket = _Bucket(tenant, model, int(time.time()) // MINUTE_S * MINUTE_S)
        amounts = self._amounts(usage)
        record = self._open.get(bucket)
        if record is None:
            record = UsageRecord(
                id=new_id("usage_"),
                kind="completions",
                key_id=tenant.key_id,
                model=model,
                used_at=bucket.minute,
                amounts=amounts,
            )
        else:
            record = replace(record, amounts=record.amounts.plus(amounts))
        self._open[bucket] = record
        if self._writing is None or self._writing.done():
            # In a context of its own: it also writes what later chats, of other tenants, use.
            self._writing = asyncio.create_task(self._write_soon(), context=Context())

    async def flush(self) -> None:
        """Writes all records. Those of a database that is unavailable wait for the next call."""
        async with self._turn:
            opened, self._open = self._open, {}
            self._waiting += [(bucket.tenant, record) for bucket, record in opened.items()]
            by_tenant: dict[Tenant, list[UsageRecord]] = defaultdict(list)
            for tenant, record in self._waiting:
                by_tenant[tenant].append(record)
            left: list[tuple[Tenant, UsageRecord]] = []
            for tenant, records in by_tenant.items():
                if not await self._written(tenant, records):
                    left += [(tenant, record) for record in records]
            self._waiting = left[-MOST_WAITING:]
            if len(left) > MOST_WAITING:
                log.error("usage of chats is lost", records=len(left) - MOST_WAITING)

    async def aclose(self) -> None:
        if self._writing is not None:
            self._writing.cancel()
            with suppress(asyncio.CancelledError):
                await self._writing
        await self.flush()

    async def _write_soon(self) -> None:
        while self._open or self._waiting:
            await asyncio.sleep(self._flush_s)
            await self.flush()

    async def _written(self, tenant: Tenant, records: list[UsageRecord]) -> bool:
        try:
            async with self._database.tenant(tenant) as unit:
                await unit.usage.insert(
                    records, organization_id=tenant.organization_id, project_id=tenant.project_id
                )
        except Unavailable as error:
            log.warning("usage of chats waits", records=len(records), error=str(error))
            return False
        except Exception:  # one project's records must not stop those of the others
            log.exception("usage of chats is lost", records=len(records))
        return True

    def _amounts(self, usage: dict[str, Any]) -> Amounts:
        sent = reported_tokens(usage, "prompt_tokens")
        made = reported_tokens(usage, "completion_tokens")
        details = usage.get("prompt_tokens_details")
        price_in = self._pricing.per_million_input_tokens
        price_out = self._pricing.per_million_output_tokens
        priced = price_in is not None or price_out is not None
        cost = (sent * (price_in or 0.0) + made * (price_out or 0.0)) / _MILLION
        return Amounts(
            requests=1,
            input_tokens=sent,
            output_tokens=made,
            cached_tokens=reported_tokens(details, "cached_tokens"),
            cost=cost if priced else None,
            currency=self._pricing.currency if priced else None,
        )
