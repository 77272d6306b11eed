"""Routes of a practice that runs or has ended: its progress and its report card."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse

from app.dashboard.refusals import PageRoute
from app.dashboard.rendering.changes import most_changed, pairs_of
from app.dashboard.rendering.pages import HEADERS, page, wants_part
from app.dashboard.rendering.transcripts import answer
from app.dashboard.students.example_kinds import question_of, topics_of
from app.dashboard.students.plan_calls import RECIPE
from app.dashboard.students.progress_words import (
    RIGHT,
    Headway,
    TopicTally,
    right_rows,
    share_tally,
    tally,
    weak_sentence,
    weak_topics,
)
from app.dashboard.visitors import OwnForm, SignedIn, Visitor
from app.domain.documents.json_object import Json
from app.domain.errors import NotFound
from app.domain.ids import REPORT, Split
from app.domain.jobs.jobs import TERMINAL, Job, JobStatus
from app.domain.rollouts.metrics import PREFERENCE_ACCURACY
from app.domain.rollouts.rollouts import PassCount

router = APIRouter(
    include_in_schema=False, route_class=PageRoute, prefix="/teach/students/{name}/jobs/{job_id}"
)
_EXAMPLES: Final = 6
_VALID: Final[Split] = "valid"


@dataclass(frozen=True, slots=True)
class BeforeAndAfter:
    """A question of the tests with the answers before and after practice."""

    question: str
    before: str
    after: str
    is_better: bool


@router.get("")
async def progress_page(
    request: Request,
    name: str,
    job_id: str,
    visitor: SignedIn,
    seen: Annotated[str | None, Query(max_length=200)] = None,
) -> Response:
    """Shows the progress. A page that renews itself gets 204 while nothing has changed."""
    student = await visitor.services.students().get(name)
    job = await visitor.services.jobs().get(job_id)
    [last, *_], _ = await visitor.services.events().page(job_id, after=None, limit=1)
    state = f"{job.status}.{job.step}.{last.id}.{job.queue.position if job.queue else ''}"
    if wants_part(request) and seen == state:
        return Response(status_code=204, headers=dict(HEADERS))
    shown = await _progress(visitor, job)
    recipe = await _recipe_name(visitor, job)
    template = "students/progress_part.html" if wants_part(request) else "students/progress.html"
    return await visitor.on_thread(
        lambda: page(
            template,
            form_token=visitor.form_token,
            student=student,
            job=job,
            state=state,
            last_event=last.id,
            ended=job.status in TERMINAL,
            succeeded=job.status is JobStatus.SUCCEEDED,
            recipe=recipe,
            **shown,
        )
    )


@router.post("/stop")
async def stop(name: str, job_id: str, visitor: SignedIn, _form: OwnForm) -> Response:
    await visitor.services.students().get(name)
    await visitor.services.jobs().cancel(job_id)
    path = f"/teach/students/{name}/jobs/{job_id}"
    return RedirectResponse(path, status_code=303, headers=dict(HEADERS))


async def _progress(visitor: Visitor, job: Job) -> Mapping[str, Any]:
    rows = await visitor.services.held_out_rows().rows(job)
    report = await _report(visitor, job)
    split, counts = await _counts(visitor, job, report)
    steps = sorted({each.step for each in counts})
    if not steps:
        return {**_NOTHING, "headway": await _preferences(visitor, job, report, rows.count)}
    before, now = right_rows(counts, steps[0]), right_rows(counts, steps[-1])
    headway = Headway(tally(before), tally(now))
    topics = {at: topics_of(row) for at, row in rows.by_index.items()}
    weak: list[TopicTally] = weak_topics(now, topics)
    examples = [] if report is None else await _examples(visitor, job, split, rows.by_index, steps)
    return {
        "headway": headway if len(steps) > 1 else None,
        "first": headway.now if len(steps) == 1 else None,
        "weak": weak_sentence(weak, headway) if len(steps) > 1 else "",
        "examples": examples,
    }


_NOTHING: Final[Mapping[str, Any]] = {"headway": None, "first": None, "weak": "", "examples": []}


async def _counts(
    visitor: Visitor, job: Job, report: Mapping[str, Any] | None
) -> tuple[Split, Sequence[PassCount]]:
    """Returns the counts of the report's rollouts, else of the validations."""
    rollouts = visitor.services.rollouts()
    if report is not None:
        counts = await rollouts.pass_counts(job.id, REPORT, at_least=RIGHT)
        if counts:
            return REPORT, counts
    return _VALID, await rollouts.pass_counts(job.id, _VALID, at_least=RIGHT)


async def _preferences(
    visitor: Visitor, job: Job, report: Mapping[str, Any] | None, rows: int
) -> Headway | None:
    """Returns the progress of a job that learns from pairs; `None` before its second test."""
    compared = None if report is None else report.get("preference_accuracy")
    if report is not None and compared:
        rows = int(report["rows"])
        before, now = (share_tally(compared[end], rows) for end in ("start_mean", "tuned_mean"))
        return Headway(before, now, is_preference=True)
    ends = (await visitor.services.curves().ends([job.id], (PREFERENCE_ACCURACY,))).get(job.id, [])
    points = sorted((point.step, point.value) for point in ends if point.split == _VALID)
    if len(points) < 2 or not rows:  # noqa: PLR2004 - a test before and a test since
        return None
    before, now = (share_tally(value, rows) for _, value in (points[0], points[-1]))
    return Headway(before, now, is_preference=True)


async def _examples(
    visitor: Visitor, job: Job, split: Split, rows: Mapping[int, Json], steps: Sequence[int]
) -> list[BeforeAndAfter]:
    """Returns the questions whose answers changed most."""
    rollouts, ends = visitor.services.rollouts(), (steps[0], steps[-1])
    means = await rollouts.row_means(job.id, split, steps=ends)
    shown = list[BeforeAndAfter]()
    for pair in most_changed(pairs_of(means, ends[1]))[:_EXAMPLES]:
        asked = rows.get(pair.row)
        question = f"Question {pair.row + 1}" if asked is None else question_of(asked)
        found = await rollouts.first_graded(job.id, split, steps=ends, row=pair.row)
        before, after = map(answer, found)
        shown.append(BeforeAndAfter(question, before, after, pair.outcome == "win"))
    return shown


async def _report(visitor: Visitor, job: Job) -> dict[str, Any] | None:
    if job.status is not JobStatus.SUCCEEDED:
        return None
    try:
        return await visitor.services.rollouts().report(job.id)
    except NotFound:
        return None


async def _recipe_name(visitor: Visitor, job: Job) -> str:
    try:
        return (await visitor.services.recipes().get((job.metadata or {}).get(RECIPE, ""))).name
    except NotFound:
        return job.method.kind
