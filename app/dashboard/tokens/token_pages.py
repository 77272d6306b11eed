"""Route of a rollout's tokens: each turn as it was sampled, coloured by log-prob or by ratio."""

from fastapi import APIRouter, Response

from app.dashboard.refusals import PageRoute
from app.dashboard.rendering.pages import page
from app.dashboard.tokens.shown_tokens import MEASURES, Measure, shown_tokens
from app.dashboard.visitors import SignedIn

router = APIRouter(include_in_schema=False, route_class=PageRoute)


@router.get("/jobs/{job_id}/rollouts/{rollout_id}/tokens")
async def tokens_page(
    job_id: str, rollout_id: str, visitor: SignedIn, by: Measure = "log_prob"
) -> Response:
    job = await visitor.services.jobs().get(job_id)
    row = await visitor.services.rollouts().get(job_id, rollout_id)
    record = await visitor.services.rollouts().tokens(job_id, rollout_id)
    return await visitor.on_thread(
        lambda: page(
            "tokens.html",
            form_token=visitor.form_token,
            job=job,
            row=row,
            by=by,
            measures=MEASURES,
            shown=shown_tokens(record, by),
        )
    )
