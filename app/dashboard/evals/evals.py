"""Routes of evals: the list, and one of them with its runs."""

from typing import Annotated, Final

from fastapi import APIRouter, Query, Response

from app.dashboard.refusals import PageRoute
from app.dashboard.rendering.pages import page
from app.dashboard.visitors import SignedIn

router = APIRouter(include_in_schema=False, route_class=PageRoute, prefix="/evals")
_PAGE: Final = 50
_After = Annotated[str | None, Query(max_length=128)]


@router.get("")
async def evals_page(visitor: SignedIn, after: _After = None) -> Response:
    """Lists the evals, newest first. Each reinforcement job has one of its own."""
    evals, more = await visitor.services.evals().page(
        after=after, limit=_PAGE, descending=True, order_by="created_at"
    )
    return await visitor.on_thread(
        lambda: page(
            "evals/evals.html", form_token=visitor.form_token, evals=evals, more=more, after=after
        )
    )


@router.get("/{eval_id}")
async def eval_page(eval_id: str, visitor: SignedIn, after: _After = None) -> Response:
    """Shows an eval and its runs, newest first."""
    of = await visitor.services.evals().get(eval_id)
    runs, more = await visitor.services.eval_runs().page(
        eval_id, status=None, after=after, limit=_PAGE, descending=True
    )
    return await visitor.on_thread(
        lambda: page(
            "evals/eval.html",
            form_token=visitor.form_token,
            of=of,
            runs=runs,
            more=more,
            after=after,
        )
    )
