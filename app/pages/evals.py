"""Routes of evals: the list, and one of them with its runs."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Response
from pydantic import BeforeValidator

from app.evals.evals import ItemStatus, OutputItem
from app.pages.plots import spread_parts
from app.pages.rendering import LISTED_ROWS
from app.pages.visitors import After, PageRoute, SignedIn

router = APIRouter(include_in_schema=False, route_class=PageRoute, prefix="/evals")
_PAGE: Final = 50


@router.get("")
async def evals_page(visitor: SignedIn, after: After = None) -> Response:
    evals, more = await visitor.services.evals().page(
        after=after, limit=_PAGE, descending=True, order_by="created_at"
    )
    return await visitor.page("evals/evals.html", evals=evals, more=more, after=after)


@router.get("/{eval_id}")
async def eval_page(eval_id: str, visitor: SignedIn, after: After = None) -> Response:
    of = await visitor.services.evals().get(eval_id)
    runs, more = await visitor.services.eval_runs().page(
        eval_id, status=None, after=after, limit=_PAGE, descending=True
    )
    return await visitor.page("evals/eval.html", of=of, runs=runs, more=more, after=after)


eval_runs_router = APIRouter(
    include_in_schema=False, route_class=PageRoute, prefix="/evals/{eval_id}/runs/{run_id}"
)
_STATUSES: Final[tuple[ItemStatus, ...]] = ("pass", "fail", "error")
_MOST_ROWS: Final = 2**31 - 1
_Row = Annotated[
    int | None, Query(ge=0, le=_MOST_ROWS // 1000), BeforeValidator(lambda sent: sent or None)
]
_Status = Annotated[ItemStatus | None, BeforeValidator(lambda sent: sent or None)]


@eval_runs_router.get("")
async def run_page(
    eval_id: str,
    run_id: str,
    visitor: SignedIn,
    status: _Status = None,
    row: _Row = None,
    after: After = None,
) -> Response:
    of = await visitor.services.evals().get(eval_id)
    run = await visitor.services.eval_runs().get(eval_id, run_id)
    items, more = await visitor.services.eval_runs().items(
        eval_id, run_id, status=status, after=after, limit=20, descending=False, index=row
    )
    return await visitor.page(
        "evals/eval_run.html",
        lambda: {"items": [(one, _answer(one)) for one in items]},
        of=of,
        run=run,
        more=more,
        status=status,
        statuses=_STATUSES,
        row=row,
        after=after,
    )


@eval_runs_router.get("/baseline")
async def run_baseline_page(eval_id: str, run_id: str, visitor: SignedIn) -> Response:
    of = await visitor.services.evals().get(eval_id)
    run = await visitor.services.eval_runs().get(eval_id, run_id)
    baseline = await visitor.services.eval_runs().baseline(eval_id, run_id)

    def made() -> Mapping[str, Any]:
        here = f"/evals/{of.id}/runs/{run.id}"
        links = {one.row: f"{here}?row={one.row}" for one in baseline.rows}
        return spread_parts(baseline.rows, links, listed=LISTED_ROWS)

    return await visitor.page("evals/run_baseline.html", made, of=of, run=run, baseline=baseline)


def _answer(item: OutputItem) -> str:
    output: Any = item.sample.get("output")
    message = output[-1] if isinstance(output, list) and output else {}
    content = message.get("content") if isinstance(message, dict) else None
    return content if isinstance(content, str) else ""
