"""Routes of pages over many curves or rows: jobs side by side, and a job's rows by pass rate."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Response

from app.jobs.findings import watched_by
from app.jobs.jobs import Job
from app.kit.errors import InvalidRequest
from app.kit.ids import Split
from app.pages.charts import COLOURS, Chart, Line
from app.pages.plots import LISTED, Standing, standing
from app.pages.rendering import LISTED_ROWS, job_labels
from app.pages.visitors import PageRoute, Reward, SignedIn
from app.rollouts import metrics as names
from app.rollouts.metrics import SPLITS
from app.rollouts.rollouts import PASS_KINDS, PassCount, PassKind

router = APIRouter(include_in_schema=False, route_class=PageRoute)
_COMPARED: Final = (
    ("tool_calls", "Tool calls", "mean a rollout", names.TOOL_CALLS_MEAN),
    ("tokens", "Completion tokens", "mean a rollout", names.COMPLETION_TOKENS_MEAN),
    ("lost", "Lost rollouts", "share", names.DISCARDED_SHARE),
    ("entropy", "Entropy", "nats a token", names.ENTROPY),
    ("time", "Time of a step", "s", names.TIME_STEP),
)
"""Charts beside reward and loss: id, title, unit, and the curve of training steps."""
_SIDES: Final[tuple[tuple[str, Split], ...]] = (("validation", "valid"), ("training", "train"))
Curves = dict[tuple[str, Split], dict[int, float]]


@dataclass(frozen=True, slots=True)
class ComparedJob:
    job: Job
    label: str
    standing: Standing
    without: str
    """Ids of the other jobs; empty if only one job would remain."""


@router.get("/jobs/compare")
async def compare_page(
    visitor: SignedIn, ids: Annotated[list[str] | None, Query()] = None
) -> Response:
    chosen = list(dict.fromkeys(one for part in ids or () for one in part.split(",") if one))
    if not 1 < len(chosen) <= COLOURS:
        raise InvalidRequest(f"Choose from 2 to {COLOURS} jobs of the list to compare them.")
    jobs = [await visitor.services.jobs().get(job_id) for job_id in chosen]
    ends = await visitor.services.curves().ends(chosen, LISTED)
    wanted = {curve for *_, curve in _COMPARED} | {
        _outcome(job, s) for job in jobs for _, s in _SIDES
    }
    outlined = [await visitor.services.curves().outlined(job.id, sorted(wanted)) for job in jobs]
    labels = job_labels(jobs)

    def made() -> Mapping[str, Any]:
        curves = [(one.read(), one.every) for one in outlined]
        compared = [
            ComparedJob(job, label, standing(job, ends.get(job.id, [])), _others(chosen, job.id))
            for job, label in zip(jobs, labels, strict=True)
        ]
        charts = [chart for chart in _charts(jobs, labels, curves) if chart.lines]
        return {"listed": compared, "charts": charts}

    return await visitor.page("compare.html", made)


def _others(chosen: Sequence[str], left_out: str) -> str:
    others = [one for one in chosen if one != left_out]
    return ",".join(others) if len(others) > 1 else ""


def _outcome(job: Job, split: Split) -> str:
    watched = watched_by(job.method)
    return watched.train if split == "train" else watched.valid


def _charts(
    jobs: Sequence[Job], labels: Sequence[str], curves: Sequence[tuple[Curves, Mapping[str, int]]]
) -> Iterator[Chart]:
    sources = list(zip(jobs, labels, curves, strict=True))
    for side, split in _SIDES:
        for curve in sorted({_outcome(job, split) for job in jobs}):
            by_reward = curve == names.REWARD_MEAN
            title, unit = ("Reward", "mean a rollout") if by_reward else ("Loss", "mean a token")
            lines = [
                Line(label, curve, values, every=every.get(curve, 1) if split == "train" else 1)
                for job, label, (own, every) in sources
                if _outcome(job, split) == curve and (values := own.get((curve, split)))
            ]
            yield Chart(f"{side}-{title.lower()}", f"{title}, {side}", unit, lines)
    for chart_id, title, unit, curve in _COMPARED:
        lines = [
            Line(label, curve, values, every=every.get(curve, 1))
            for _, label, (own, every) in sources
            if (values := own.get((curve, "train")))
        ]
        yield Chart(chart_id, title, unit, lines)


@router.get("/jobs/{job_id}/rows")
async def pass_rates_page(
    job_id: str, visitor: SignedIn, split: Split = "valid", at_least: Reward = 1.0
) -> Response:
    job = await visitor.services.jobs().get(job_id)
    counts = await visitor.services.rollouts().pass_counts(job_id, split, at_least=at_least)

    def made() -> Mapping[str, Any]:
        rows = _first_and_last(counts)
        more = max(0, len(rows) - LISTED_ROWS)
        return {"chart": _pass_chart(counts), "rows": rows[:LISTED_ROWS], "more_rows": more}

    return await visitor.page(
        "pass_rates.html", made, job=job, split=split, splits=list(SPLITS), at_least=at_least
    )


def _pass_chart(counts: Sequence[PassCount]) -> Chart | None:
    steps = sorted({one.step for one in counts if one.graded})
    if not steps:
        return None
    lines: dict[PassKind, dict[int, float]] = {
        kind: dict.fromkeys(steps, 0.0) for kind in PASS_KINDS
    }
    for one in counts:
        if one.graded:
            lines[one.kind][one.step] += 1
    shown = [Line(label, label, values) for label, values in lines.items()]
    return Chart("passes", "Rows that pass", "rows", shown)


def _first_and_last(counts: Sequence[PassCount]) -> list[tuple[PassCount, PassCount]]:
    """Returns each row at its first and its last step, lowest pass rate now first."""
    ends: dict[int, tuple[PassCount, PassCount]] = {}
    for one in counts:
        if one.graded:
            first, _ = ends.get(one.prompt_index, (one, one))
            ends[one.prompt_index] = (first, one)
    return sorted(ends.values(), key=lambda pair: (pair[1].share, pair[1].prompt_index))
