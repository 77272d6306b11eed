"""Use cases of usage: buckets of an organization, or of one project."""

import re
from typing import Final, assert_never

from app.domain.accounts.tenants import AdminPrincipal, Principal, Tenant
from app.domain.accounts.usage import WIDTHS_S, UsagePage, UsageQuery, buckets_of
from app.domain.errors import refused_value
from app.settings.runs import PricingSettings
from app.store.database import Database
from app.store.unit_of_work import UnitOfWork

_PAGE: Final = re.compile(r"page_([0-9]{1,12})", re.ASCII)


class UsageService:
    def __init__(self, database: Database, principal: Principal, pricing: PricingSettings) -> None:
        """Shows what the principal owns: an organization's usage, or a project's."""
        self._database = database
        self._principal = principal
        self._pricing = pricing

    async def page(self, query: UsageQuery, *, page: str | None, limit: int) -> UsagePage:
        """Returns the buckets of whole minutes, those of start and end included. Raises
        `InvalidRequest` for an unknown page.
        """
        query = query.in_whole_minutes()
        first_s = query.start_s if page is None else _begin_of(page, query)
        buckets = buckets_of(query, first_s=first_s, limit=limit)
        async with self._unit() as unit:
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

    def _unit(self) -> UnitOfWork:
        match self._principal:
            case Tenant():
                return self._database.tenant(self._principal)
            case AdminPrincipal():
                return self._database.organization(self._principal.organization_id)
            case _:
                assert_never(self._principal)


def _begin_of(page: str, query: UsageQuery) -> int:
    found = _PAGE.fullmatch(page)
    begin = -1 if found is None else int(found[1])
    inside = query.start_s < begin < query.end_s
    if not inside or begin % WIDTHS_S[query.width]:
        raise refused_value("page", "it is not a 'next_page' of a call with these parameters")
    return begin
