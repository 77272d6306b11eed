"""Route of a job's paired report: base against tuned, over all rows and row by row."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from fastapi import APIRouter, Response

from app.dashboard.refusals import PageRoute
from app.dashboard.rendering.pages import page
from app.dashboard.visitors import SignedIn
from app.domain.ids import REPORT, Split
from app.domain.jobs.curves.gains import difference
from app.domain.rollouts.rollouts import RowMean

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


@dataclass(frozen=True, slots=True)
class Pair:
    """One held-out row before and after training."""

    row: int
    before: RowMean
    after: RowMean

    @property
    def difference(self) -> float | None:
        if self.before.reward is None or self.after.reward is None:
            return None
        return difference(self.before.reward, self.after.reward)

    @property
    def outcome(self) -> str:
        if self.difference is None:
            return "lost"
        return "win" if self.difference > 0 else "loss" if self.difference < 0 else "tie"


@router.get("/jobs/{job_id}/report")
async def report_page(job_id: str, visitor: SignedIn) -> Response:
    """Shows the report. Answers 404, with the reason, for a job that has none."""
    job = await visitor.services.jobs().get(job_id)
    report = await visitor.services.rollouts().report(job_id)
    steps = [0, report["step"]]
    split: Split = REPORT
    means = await visitor.services.rollouts().row_means(job_id, split, steps=steps)
    if not means:
        split = _FALLBACK
        means = await visitor.services.rollouts().row_means(job_id, split, steps=steps)
    return await visitor.on_thread(
        lambda: page(
            "report.html",
            form_token=visitor.form_token,
            job=job,
            report=report,
            comparisons=list(_comparisons(report)),
            pairs=_pairs(means, report["step"]),
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


def _pairs(means: Sequence[RowMean], tuned_step: int) -> list[Pair]:
    """Returns the rows that were sampled before and after, the greatest loss first."""
    by_row_and_step = {(mean.prompt_index, mean.step): mean for mean in means}
    rows = sorted({mean.prompt_index for mean in means})
    pairs = [
        Pair(row, by_row_and_step[row, 0], by_row_and_step[row, tuned_step])
        for row in rows
        if (row, 0) in by_row_and_step and (row, tuned_step) in by_row_and_step
    ]
    return sorted(pairs, key=lambda pair: (pair.difference is None, pair.difference or 0.0))
