"""Route of a project's usage: what its chats and training runs used, day by day."""

import time
from dataclasses import dataclass
from typing import Final

from fastapi import APIRouter, Request, Response

from app.dashboard.refusals import PageRoute
from app.dashboard.rendering.pages import page
from app.dashboard.visitors import SignedIn
from app.domain.accounts.usage import Amounts, UsageGrouping, UsageKind, UsageQuery
from app.factory.administration import usage_service
from app.factory.process import context_of

router = APIRouter(include_in_schema=False, route_class=PageRoute)
_DAYS: Final = 30
_DAY_S: Final = 86_400


@dataclass(frozen=True, slots=True)
class UsageLine:
    """A line of a table."""

    day_s: int
    name: str
    """The model, or the job of a run."""
    amounts: Amounts


@router.get("/usage")
async def usage_page(request: Request, visitor: SignedIn) -> Response:
    """Shows the days with usage, newest first."""
    service = usage_service(context_of(request.app), visitor.owner.tenant)
    end = (int(time.time()) // _DAY_S + 1) * _DAY_S

    async def lines(kind: UsageKind, group: UsageGrouping) -> list[UsageLine]:
        start = end - _DAYS * _DAY_S
        query = UsageQuery(kind, start, end, group_by=(group,), in_money=True)
        found = await service.page(query, page=None, limit=_DAYS)
        return [
            UsageLine(bucket.start_s, str(getattr(sums, group)), sums.amounts)
            for bucket in reversed(found.buckets)
            for sums in bucket.sums
        ]

    chats, runs = await lines("completions", "model"), await lines("fine_tuning", "job_id")
    return await visitor.on_thread(
        lambda: page(
            "usage.html",
            form_token=visitor.form_token,
            days=_DAYS,
            chats=chats,
            runs=runs,
            unpriced=service.unpriced,
        )
    )
