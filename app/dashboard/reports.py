"""Route of a job's paired report: base against tuned, over all rows and row by row."""

from collections.abc import Iterator
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Response

from app.dashboard.refusals import PageRoute
from app.dashboard.rendering.changes import Pair, cost_changes, most_changed, pairs_of, quadrant
from app.dashboard.rendering.pages import page
from app.dashboard.rendering.tagged_pairs import MOST_TAGS, by_tag
from app.dashboard.rendering.transcripts import answer
from app.dashboard.visitors import SignedIn
from app.domain.data.row_tags import TAG_FIELD
from app.domain.ids import REPORT, Split
from app.domain.jobs.findings.findings import score_range

router = APIRouter(include_in_schema=False, route_class=PageRoute)
_COMPARISONS: Final = {
    "reward": "Reward",
    "tool_calls": "Tool calls",
    "loss": "Loss",
    "token_accuracy": "Token accuracy",
    "preference_accuracy": "Preferred answer is more probable",
    "chosen_logprob": "Log-prob of preferred answers",
    "rejected_logprob": "Log-prob of rejected answers",
}
_GREEDY: Final = ("reward", "tool_calls")
_ABSENT: Final = dict.fromkeys(("start_mean", "tuned_mean", "difference", "difference_ci95"))
_FALLBACK: Final[Split] = "valid"


@router.get("/jobs/{job_id}/report")
async def report_page(
    job_id: str, visitor: SignedIn, by: Annotated[str, Query(max_length=80)] = TAG_FIELD
) -> Response:
    """Shows the report, in all and by the values of the field `by` of the rows. Answers 404, with
    the reason, for a job that has none.
    """
    job = await visitor.services.jobs().get(job_id)
    report = await visitor.services.rollouts().report(job_id)
    steps = [0, report["step"]]
    split: Split = REPORT
    means = await visitor.services.rollouts().row_means(job_id, split, steps=steps)
    if not means:
        split = _FALLBACK
        means = await visitor.services.rollouts().row_means(job_id, split, steps=steps)
    pairs = pairs_of(means, report["step"])
    # Rewards of a judge that saw each model apart are on no common scale.
    compared = [] if report.get("judged_apart") else pairs
    rollouts, answers = visitor.services.rollouts(), list[tuple[Pair, list[str]]]()
    for pair in most_changed(compared):
        found = await rollouts.first_graded(job_id, split, steps=steps, row=pair.row)
        answers.append((pair, list(map(answer, found))))
    rows = await visitor.services.held_out_rows().rows(job)
    return await visitor.on_thread(
        lambda: page(
            "report.html",
            form_token=visitor.form_token,
            job=job,
            report=report,
            comparisons=list(_comparisons(report)),
            by=by,
            tags=by_tag(compared, rows.tags(by), known=score_range(job.method))[:MOST_TAGS],
            unread=rows.unread,
            costs=list(cost_changes(pairs)),
            chart=quadrant(job_id, split, compared, tuned_step=report["step"]),
            answers=answers,
            pairs=pairs,
            split=split,
        )
    )


def _comparisons(report: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields each comparison with its label. A stored report never changes, so older ones lack some
    values.
    """
    parts = {label: report.get(name) for name, label in _COMPARISONS.items()}
    for name, compared in (report.get("components") or {}).items():
        parts[f"{name}{_part_of(compared, report)}"] = compared
    greedy = report.get("greedy") or {}
    parts |= {f"{_COMPARISONS[name]}, greedy": greedy.get(name) for name in _GREEDY}
    for label, compared in parts.items():
        if compared:
            yield label, {**_ABSENT, **compared}


def _part_of(compared: dict[str, Any], report: dict[str, Any]) -> str:
    """Returns the number of rows on which a component is compared, if not all of them."""
    rows = compared.get("rows")
    return "" if rows is None or rows == report["rows"] else f" ({rows} of {report['rows']} rows)"
