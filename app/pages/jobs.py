"""Routes of the list of jobs, of one job, and of its buttons."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.sse import format_sse_event

from app.files.division import TAG_FIELD
from app.jobs.findings import (
    CurvesOfJob,
    findings,
    looks_at,
    report_finding,
    score_range,
    thin,
    validated_steps,
    watched_by,
)
from app.jobs.intervals import paired_gain, range_of_scores
from app.jobs.jobs import LAST_EVENT_ID, TERMINAL, Job, JobStatus
from app.jobs.streams import event_stream
from app.kit.ids import REPORT, Split
from app.pages.charts import chart_of, charts
from app.pages.plots import (
    COLUMNS,
    LISTED,
    MOST_TAGS,
    HistogramStrip,
    Pair,
    by_tag,
    cost_changes,
    most_changed,
    pairs_of,
    quadrant,
    spread_parts,
    standing,
)
from app.pages.rendering import HEADERS, LISTED_ROWS, redirect, wants_part
from app.pages.transcripts import answer
from app.pages.visitors import (
    After,
    OwnForm,
    PageRoute,
    Reward,
    SignedIn,
    Streaming,
    Visitor,
    report_of,
    signed_in,
)
from app.rollouts import metrics as names
from app.rollouts.metrics import MetricPoint
from app.rollouts.rollouts import Baseline
from app.rollouts.trajectory import FailureClass

router = APIRouter(include_in_schema=False, route_class=PageRoute)
_CLASSES: Final = frozenset(FailureClass)
RowRewards = Mapping[int, float]
"""Mean reward by the number of the row."""


@router.get("/")
async def home(
    request: Request, visitor: SignedIn, status: JobStatus | None = None, after: After = None
) -> Response:
    jobs, more = await visitor.services.jobs().page(after=after, limit=20, status=status)
    ends = await visitor.services.curves().ends([job.id for job in jobs], LISTED)
    owners = await visitor.services.jobs().owners(jobs)
    return await visitor.page(
        "jobs_part.html" if wants_part(request) else "jobs.html",
        lambda: {
            "listed": [(job, standing(job, ends.get(job.id, []))) for job in jobs],
            "priced": any(job.usage and job.usage.estimated_cost is not None for job in jobs),
        },
        owners=owners,
        more=more,
        status=status,
        statuses=list(JobStatus),
        after=after,
    )


@router.get("/jobs/{job_id}")
async def job_page(
    request: Request,
    job_id: str,
    visitor: SignedIn,
    seen: Annotated[str | None, Query(max_length=200)] = None,
) -> Response:
    """Shows a job. A page that refreshes itself gets 204 while nothing has changed."""
    job = await visitor.services.jobs().get(job_id)
    events, more_events = await visitor.services.events().page(
        job_id, after=None, limit=30, kind="message"
    )
    position = job.queue.position if job.queue else ""
    newest = events[0].id if events else ""
    state = f"{job.status}.{job.step}.{newest}.{position}.{job.estimated_finish or ''}"
    if wants_part(request) and seen == state:
        return Response(status_code=204, headers=dict(HEADERS))
    [last, *_], _ = await visitor.services.events().page(job_id, after=None, limit=1)
    curves = await visitor.services.curves().of_job(job)
    ends = curves.ends(LISTED)
    report, rewards = await report_of(visitor, job), await _row_rewards(visitor, job, ends)
    links = await visitor.services.events().tracker_links(job_id) if job.integrations else []
    histogram = await _histogram(visitor, job, curves)
    checkpoints, more_checkpoints = await visitor.services.events().checkpoints(
        job_id, after=None, limit=10
    )
    return await visitor.page(
        "job_part.html" if wants_part(request) else "job.html",
        lambda: {
            "report_finding": None if report is None else report_finding(report),
            "standing": standing(job, ends),
            **_shown(job, curves, rewards),
        },
        job=job,
        state=state,
        last_event=last.id,
        events=events,
        more_events=more_events,
        tracker_links=links,
        rewards=histogram,
        checkpoints=checkpoints,
        more_checkpoints=more_checkpoints,
    )


def _shown(
    job: Job, packed: CurvesOfJob, rewards: tuple[RowRewards, RowRewards] | tuple[()]
) -> dict[str, Any]:
    outlines = packed.outlined.read()
    curves, gaps = packed.read(outlines)
    watched = watched_by(job.method)
    made = charts(outlines, watched, packed.outlined.every)
    looks = looks_at(watched, curves, ended=job.status in TERMINAL)
    gain = None
    if rewards:
        seen = (of_step.values() for of_step in rewards)
        bounds = range_of_scores(*seen, known=score_range(job.method))
        gain = paired_gain(*rewards, looks=looks, bounds=bounds)
    found = findings(job.method, curves, gain, looks=looks, gaps=gaps)
    classes = {
        failure_class: one.total
        for one in packed.outlined.summaries
        if one.split == "train" and (failure_class := names.discarded_class(one.name)) in _CLASSES
    }
    return {
        "lost_classes": sorted(classes.items(), key=lambda one: -one[1]),
        "charts": made,
        "findings": [(one, chart_of(one.curve, made)) for one in found],
        "ended": job.status in TERMINAL,
        "may_pause": job.status not in TERMINAL
        and job.status not in (JobStatus.PAUSING, JobStatus.PAUSED),
        "may_resume": job.status is JobStatus.PAUSED,
    }


async def _histogram(visitor: Visitor, job: Job, curves: CurvesOfJob) -> HistogramStrip | None:
    ends = [point.step for point in curves.ends({names.REWARD_MEAN}) if point.split == "train"]
    if not ends:
        return None
    steps = thin(range(min(ends), max(ends) + 1), COLUMNS)
    found = await visitor.services.rollouts().reward_histogram(job.id, "train", steps)
    return None if found is None else HistogramStrip(found)


async def _row_rewards(
    visitor: Visitor, job: Job, ends: Sequence[MetricPoint]
) -> tuple[RowRewards, RowRewards] | tuple[()]:
    steps = validated_steps(watched_by(job.method), ends)
    if steps is None:
        return ()
    means = await visitor.services.rollouts().row_means(job.id, "valid", steps=steps)
    rewards: dict[int, dict[int, float]] = {step: {} for step in steps}
    for mean in means:
        if mean.reward is not None:
            rewards[mean.step][mean.prompt_index] = mean.reward
    return rewards[steps[0]], rewards[steps[1]]


@router.get("/jobs/{job_id}/events")
async def events_page(job_id: str, visitor: SignedIn, after: After = None) -> Response:
    job = await visitor.services.jobs().get(job_id)
    events, more = await visitor.services.events().page(
        job_id, after=after, limit=100, kind="message"
    )
    return await visitor.page("events.html", job=job, events=events, more_events=more)


@router.post("/jobs/{job_id}/pause")
async def pause(job_id: str, visitor: SignedIn, _form: OwnForm) -> Response:
    return redirect(f"/jobs/{(await visitor.services.jobs().pause(job_id)).id}")


@router.post("/jobs/{job_id}/resume")
async def resume(job_id: str, visitor: SignedIn, _form: OwnForm) -> Response:
    return redirect(f"/jobs/{(await visitor.services.jobs().resume(job_id)).id}")


@router.post("/jobs/{job_id}/cancel")
async def cancel(job_id: str, visitor: SignedIn, _form: OwnForm) -> Response:
    return redirect(f"/jobs/{(await visitor.services.jobs().cancel(job_id)).id}")


baselines_router = APIRouter(include_in_schema=False, route_class=PageRoute)
_SPLIT: Final[Split] = "valid"


@baselines_router.get("/jobs/{job_id}/baseline")
async def baseline_page(
    job_id: str, visitor: SignedIn, at_least: Annotated[Reward, Query()] = 1.0
) -> Response:
    """Shows the validation before the first step. A rollout passes from a reward of `at_least`."""
    job = await visitor.services.jobs().get(job_id)
    means = await visitor.services.rollouts().row_means(job_id, _SPLIT, steps=[0])
    counts = await visitor.services.rollouts().pass_counts(job_id, _SPLIT, at_least=at_least)

    def made() -> Mapping[str, Any]:
        baseline = Baseline.of_means(means, [one for one in counts if one.step == 0])
        links = {
            one.row: f"/jobs/{job.id}/rollouts?split={_SPLIT}&step=0&row={one.row}"
            for one in baseline.rows
        }
        parts = spread_parts(baseline.rows, links, listed=LISTED_ROWS)
        return {"baseline": baseline, **parts}

    return await visitor.page("baseline.html", made, job=job, at_least=at_least)


reports_router = APIRouter(include_in_schema=False, route_class=PageRoute)
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


@reports_router.get("/jobs/{job_id}/report")
async def report_page(
    job_id: str, visitor: SignedIn, by: Annotated[str, Query(max_length=80)] = TAG_FIELD
) -> Response:
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
    return await visitor.page(
        "report.html",
        lambda: {
            "comparisons": list(_comparisons(report)),
            "tags": by_tag(compared, rows.tags(by), known=score_range(job.method))[:MOST_TAGS],
            "costs": list(cost_changes(pairs)),
            "chart": quadrant(job_id, split, compared, tuned_step=report["step"]),
        },
        job=job,
        report=report,
        by=by,
        unread=rows.unread,
        answers=answers,
        pairs=pairs,
        split=split,
    )


def _comparisons(report: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    greedy, sampled = report.get("greedy") or {}, report.get("eval_temperature")
    parts = {f"{_COMPARISONS[name]} at temperature 0": greedy.get(name) for name in _GREEDY}
    for name, label in _COMPARISONS.items():
        at = f" at temperature {sampled:g}" if sampled is not None and name in _GREEDY else ""
        parts[f"{label}{at}"] = report.get(name)
    for name, compared in (report.get("components") or {}).items():
        parts[f"{name}{_part_of(compared, report)}"] = compared
    for label, compared in parts.items():
        if compared:
            yield label, {**_ABSENT, **compared}


def _part_of(compared: dict[str, Any], report: dict[str, Any]) -> str:
    rows = compared.get("rows")
    return "" if rows is None or rows == report["rows"] else f" ({rows} of {report['rows']} rows)"


streams_router = APIRouter(include_in_schema=False, route_class=PageRoute)
_LastId = Annotated[str | None, Header(alias=LAST_EVENT_ID, max_length=128)]


@streams_router.get("/jobs/{job_id}/stream")
async def stream(
    request: Request,
    job_id: str,
    visitor: Streaming,
    after: After = None,
    last_event_id: _LastId = None,
) -> Response:
    """Answers 204, after which a browser does not connect again, for a job that has ended."""
    opened = await visitor.services.streams().open(
        job_id, after=after, last_event_id=last_event_id, with_points=False
    )
    if opened is None:
        return Response(status_code=204, headers=dict(HEADERS))
    return event_stream(
        request,
        opened.items(lambda: signed_in(request)),
        end=opened.end,
        of_event=lambda item: format_sse_event(id=item.event.id, event="news", data_str="{}"),
        of_job=lambda _: format_sse_event(event="news", data_str="{}"),
        headers=HEADERS,
    )
