"""Use cases of usage: buckets of an organization, or of one project."""

import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Final

from app.accounts.audit import AuditEntry, AuditFilter
from app.accounts.usage import WIDTHS_S, UsagePage, UsageQuery, buckets_of
from app.database import Database
from app.kit.callers import AdminPrincipal, Principal
from app.kit.errors import refused_value
from app.settings import PricingSettings

_PAGE: Final = re.compile(r"page_([0-9]{1,12})", re.ASCII)


class UsageService:
    def __init__(self, database: Database, principal: Principal, pricing: PricingSettings) -> None:
        """Shows what the principal owns: an organization's usage, or a project's."""
        self._database = database
        self._principal = principal
        self._pricing = pricing

    async def page(self, query: UsageQuery, *, page: str | None, limit: int) -> UsagePage:
        query = query.in_whole_minutes()
        first_s = query.start_s if page is None else _begin_of(page, query)
        buckets = buckets_of(query, first_s=first_s, limit=limit)
        async with self._database.owned(self._principal) as unit:
            filled = await unit.usage.fill(query, buckets)
        more = bool(buckets) and buckets[-1].end_s < query.end_s
        return UsagePage(filled, f"page_{buckets[-1].end_s}" if more else None)

    @property
    def unpriced(self) -> str | None:
        """Returns what has no price, and the cure; `None` while everything has one."""
        pricing = self._pricing
        settings = {
            "training": ("per_hour", pricing.per_hour),
            "tokens that chats read": (
                "per_million_input_tokens",
                pricing.per_million_input_tokens,
            ),
            "tokens that chats make": (
                "per_million_output_tokens",
                pricing.per_million_output_tokens,
            ),
        }
        missing = {what: name for what, (name, price) in settings.items() if price is None}
        if not missing:
            return None
        variables = ", ".join(f"AGENT_RFT_PRICING__{name.upper()}" for name in missing.values())
        return f"No price is configured for {', '.join(missing)}: set {variables}."


def _begin_of(page: str, query: UsageQuery) -> int:
    found = _PAGE.fullmatch(page)
    begin = -1 if found is None else int(found[1])
    inside = query.start_s < begin < query.end_s
    if not inside or begin % WIDTHS_S[query.width]:
        raise refused_value("page", "it is not a 'next_page' of a call with these parameters")
    return begin


class AuditLogService:
    def __init__(self, database: Database, principal: AdminPrincipal) -> None:
        self._database = database
        self._organization_id = principal.organization_id

    async def page(
        self, wanted: AuditFilter, *, after: str | None, before: str | None, limit: int
    ) -> tuple[list[AuditEntry], bool]:
        async with self._database.organization(self._organization_id) as unit:
            return await unit.audit_logs.page(
                self._organization_id, wanted, after=after, before=before, limit=limit
            )

    async def batches(
        self, wanted: AuditFilter, *, check: Callable[[], Awaitable[object]]
    ) -> AsyncGenerator[list[AuditEntry], None]:
        """Yields the present entries, newest first; calls `check` before each batch."""
        after, more = None, True
        while more:
            await check()
            entries, more = await self.page(wanted, after=after, before=None, limit=500)
            yield entries
            after = entries[-1].id if entries else None
