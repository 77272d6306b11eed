"""Routes of the list of jobs, of one job, and of its buttons."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse

from app.dashboard.refusals import PageRoute
from app.dashboard.rendering.charts import chart_of, charts
from app.dashboard.rendering.histograms import COLUMNS, HistogramStrip
from app.dashboard.rendering.pages import HEADERS, page, wants_part
from app.dashboard.rendering.standings import LISTED, standing
from app.dashboard.visitors import OwnForm, SignedIn, Visitor
from app.domain.errors import NotFound
from app.domain.jobs.curves.gains import paired_gain
from app.domain.jobs.curves.intervals import range_of_scores
from app.domain.jobs.curves.thinning import thin
from app.domain.jobs.findings.curves_of_job import CurvesOfJob
from app.domain.jobs.findings.findings import findings, score_range, watched_by
from app.domain.jobs.findings.gain_findings import looks_at, report_finding, validated_steps
from app.domain.jobs.jobs import TERMINAL, Job, JobStatus
from app.domain.rollouts import metrics as names
from app.domain.rollouts.metrics import MetricPoint
from app.domain.rollouts.trajectory import FailureClass

router = APIRouter(include_in_schema=False, route_class=PageRoute)
_PAGE: Final = 20
_EVENTS: Final = 30
_CHECKPOINTS: Final = 10
_CLASSES: Final = frozenset(FailureClass)
RowRewards = Mapping[int, float]
"""Mean reward by the number of the row."""
After = Annotated[str | None, Query(max_length=128)]


@router.get("/")
async def home(
    request: Request, visitor: SignedIn, status: JobStatus | None = None, after: After = None
) -> Response:
    jobs, more = await visitor.services.jobs().page(after=after, limit=_PAGE, status=status)
    ends = await visitor.services.curves().ends([job.id for job in jobs], LISTED)
    owners = await visitor.services.jobs().owners(jobs)
    return await visitor.on_thread(
        lambda: page(
            "jobs_part.html" if wants_part(request) else "jobs.html",
            form_token=visitor.form_token,
            listed=[(job, standing(job, ends.get(job.id, []))) for job in jobs],
            owners=owners,
            priced=any(job.usage and job.usage.estimated_cost is not None for job in jobs),
            more=more,
            status=status,
            statuses=list(JobStatus),
            after=after,
        )
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
    events, more_events = await visitor.services.events().messages(
        job_id, after=None, limit=_EVENTS
    )
    position = job.queue.position if job.queue else ""
    newest = events[0].id if events else ""
    state = f"{job.status}.{job.step}.{newest}.{position}.{job.estimated_finish or ''}"
    if wants_part(request) and seen == state:
        return Response(status_code=204, headers=dict(HEADERS))
    [last, *_], _ = await visitor.services.events().page(job_id, after=None, limit=1)
    curves = await visitor.services.curves().of_job(job)
    ends = curves.ends(LISTED)
    report, rewards = await _report(visitor, job), await _row_rewards(visitor, job, ends)
    links = await visitor.services.events().tracker_links(job_id) if job.integrations else []
    histogram = await _histogram(visitor, job, curves)
    checkpoints, more_checkpoints = await visitor.services.checkpoints().page(
        job_id, after=None, limit=_CHECKPOINTS
    )
    return await visitor.on_thread(
        lambda: page(
            "job_part.html" if wants_part(request) else "job.html",
            form_token=visitor.form_token,
            job=job,
            state=state,
            last_event=last.id,
            events=events,
            more_events=more_events,
            tracker_links=links,
            report_finding=None if report is None else report_finding(report),
            standing=standing(job, ends),
            rewards=histogram,
            checkpoints=checkpoints,
            more_checkpoints=more_checkpoints,
            **_shown(job, curves, rewards),
        )
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
    """Returns the rewards of evenly spaced training steps; `None` without rollouts of them."""
    ends = [point.step for point in curves.ends({names.REWARD_MEAN}) if point.split == "train"]
    if not ends:
        return None
    steps = thin(range(min(ends), max(ends) + 1), COLUMNS)
    found = await visitor.services.rollouts().reward_histogram(job.id, "train", steps)
    return None if found is None else HistogramStrip(found)


async def _row_rewards(
    visitor: Visitor, job: Job, ends: Sequence[MetricPoint]
) -> tuple[RowRewards, RowRewards] | tuple[()]:
    """Returns the mean reward of each row in the first and in the last validation; empty unless
    there are two validations.
    """
    steps = validated_steps(watched_by(job.method), ends)
    if steps is None:
        return ()
    means = await visitor.services.rollouts().row_means(job.id, "valid", steps=steps)
    rewards: dict[int, dict[int, float]] = {step: {} for step in steps}
    for mean in means:
        if mean.reward is not None:
            rewards[mean.step][mean.prompt_index] = mean.reward
    return rewards[steps[0]], rewards[steps[1]]


async def _report(visitor: Visitor, job: Job) -> dict[str, Any] | None:
    if job.status is not JobStatus.SUCCEEDED:
        return None
    try:
        return await visitor.services.rollouts().report(job.id)
    except NotFound:
        return None


@router.get("/jobs/{job_id}/events")
async def events_page(job_id: str, visitor: SignedIn, after: After = None) -> Response:
    job = await visitor.services.jobs().get(job_id)
    events, more = await visitor.services.events().messages(job_id, after=after, limit=100)
    return await visitor.on_thread(
        lambda: page(
            "events.html", form_token=visitor.form_token, job=job, events=events, more_events=more
        )
    )


@router.post("/jobs/{job_id}/pause")
async def pause(job_id: str, visitor: SignedIn, _form: OwnForm) -> Response:
    return _back_to(await visitor.services.jobs().pause(job_id))


@router.post("/jobs/{job_id}/resume")
async def resume(job_id: str, visitor: SignedIn, _form: OwnForm) -> Response:
    return _back_to(await visitor.services.jobs().resume(job_id))


@router.post("/jobs/{job_id}/cancel")
async def cancel(job_id: str, visitor: SignedIn, _form: OwnForm) -> Response:
    return _back_to(await visitor.services.jobs().cancel(job_id))


def _back_to(job: Job) -> Response:
    return RedirectResponse(f"/jobs/{job.id}", status_code=303, headers=dict(HEADERS))
