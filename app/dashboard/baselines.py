"""Route of a job's baseline: what the model could do before training, and whether it can learn."""

from collections.abc import Sequence
from typing import Annotated, Final

from fastapi import APIRouter, Query, Response

from app.dashboard.refusals import PageRoute
from app.dashboard.rendering.pages import LISTED_ROWS, page
from app.dashboard.rendering.scatters import Scatter, Spot
from app.dashboard.visitors import Reward, SignedIn
from app.domain.ids import Split
from app.domain.rollouts.baselines import Baseline, BaselineRow
from app.domain.rollouts.rollouts import PASS_KINDS, PassCount, RowMean

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
        baseline = Baseline.of(_rows(means, [one for one in counts if one.step == 0]))
        return page(
            "baseline.html",
            form_token=visitor.form_token,
            job=job,
            split=_SPLIT,
            at_least=at_least,
            baseline=baseline,
            kinds=PASS_KINDS,
            chart=_chart(job.id, baseline.rows),
            rows=baseline.rows[:LISTED_ROWS],
            more_rows=max(0, len(baseline.rows) - LISTED_ROWS),
            all_lost=sum(not mean.graded for mean in means),
        )

    return await visitor.on_thread(made)


def _rows(means: Sequence[RowMean], counts: Sequence[PassCount]) -> list[BaselineRow]:
    """Returns the rows with a graded rollout. Between the two reads a rollout may be deleted."""
    passed = {one.prompt_index: min(one.passed, one.graded) for one in counts}
    return [
        BaselineRow(
            row=mean.prompt_index,
            graded=mean.graded,
            passed=min(passed.get(mean.prompt_index, 0), mean.graded),
            lost=mean.rollouts - mean.graded,
            mean=mean.reward,
            deviation=mean.deviation or 0.0,
            lowest=mean.lowest or 0.0,
            highest=mean.highest or 0.0,
        )
        for mean in means
        if mean.reward is not None
    ]


def _chart(job_id: str, rows: Sequence[BaselineRow]) -> Scatter | None:
    if not rows:
        return None
    spots = [
        Spot.of_row(
            one.row,
            one.mean,
            one.deviation,
            href=f"/jobs/{job_id}/rollouts?split={_SPLIT}&step=0&row={one.row}",
        )
        for one in rows
    ]
    means, spreads = [spot.x for spot in spots], [spot.y for spot in spots]
    return Scatter(
        "spread",
        "Spread of each row",
        "mean reward",
        "standard deviation of the rewards",
        f"{len(rows)} rows, means from {min(means):.4g} to {max(means):.4g}, "
        f"standard deviations from {min(spreads):.4g} to {max(spreads):.4g}.",
        spots,
    )
