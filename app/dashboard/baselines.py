"""Route of a job's baseline: what the model could do before training, and whether it can learn."""

from typing import Annotated, Final

from fastapi import APIRouter, Query, Response

from app.dashboard.refusals import PageRoute
from app.dashboard.rendering.pages import LISTED_ROWS, page
from app.dashboard.rendering.spreads import spread_parts
from app.dashboard.visitors import Reward, SignedIn
from app.domain.ids import Split
from app.domain.rollouts.baselines import Baseline

router = APIRouter(include_in_schema=False, route_class=PageRoute)
_SPLIT: Final[Split] = "valid"


@router.get("/jobs/{job_id}/baseline")
async def baseline_page(
    job_id: str, visitor: SignedIn, at_least: Annotated[Reward, Query()] = 1.0
) -> Response:
    """Shows the validation before the first step. A rollout passes from a reward of `at_least`."""
    job = await visitor.services.jobs().get(job_id)
    means = await visitor.services.rollouts().row_means(job_id, _SPLIT, steps=[0])
    counts = await visitor.services.rollouts().pass_counts(job_id, _SPLIT, at_least=at_least)

    def made() -> Response:
        baseline = Baseline.of_means(means, [one for one in counts if one.step == 0])
        links = {
            one.row: f"/jobs/{job.id}/rollouts?split={_SPLIT}&step=0&row={one.row}"
            for one in baseline.rows
        }
        return page(
            "baseline.html",
            form_token=visitor.form_token,
            job=job,
            at_least=at_least,
            baseline=baseline,
            **spread_parts(baseline.rows, links, listed=LISTED_ROWS),
        )

    return await visitor.on_thread(made)
