"""Counts right answers before and now, and says the result in plain words. Pure."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, assert_never

from fastapi import APIRouter, Query, Request, Response

from app.evals.evals import eval_temperature
from app.jobs.jobs import TERMINAL, Job, JobStatus
from app.kit.errors import NotFound
from app.kit.fields import Json
from app.kit.ids import VALID_GREEDY, Split
from app.models.models import STUDENT_TEMPERATURE
from app.pages.examples import question_of, topics_of
from app.pages.plots import most_changed, pairs_of
from app.pages.rendering import HEADERS, redirect, wants_part
from app.pages.student_plans import RECIPE
from app.pages.transcripts import answer
from app.pages.visitors import OwnForm, PageRoute, SignedIn, Visitor, report_of
from app.rollouts.metrics import PREFERENCE_ACCURACY
from app.rollouts.rollouts import PassCount
from app.teaching.students.students import MARGIN, Comparison, Skill, SkillStatus

RIGHT: Final = 0.8
"""Least reward of a right answer: what is left of the recipes' scores for a wordy one."""
_WEAK: Final = 0.7
"""Share of right answers below which a topic is weak."""
_MOST_TOPICS: Final = 3
"""Weak topics that a sentence names at most."""


@dataclass(frozen=True, slots=True)
class RightCount:
    right: int
    rows: int


@dataclass(frozen=True, slots=True)
class Headway:
    before: RightCount
    now: RightCount
    is_preference: bool = False

    @property
    def sentence(self) -> str:
        verb = "prefers the better answer in" if self.is_preference else "answers"
        noun = "pairs" if self.is_preference else "questions right"
        what = f"{verb} {self.now.right} of {self.now.rows} {noun}"
        return f"It {what}, {_trend(self.before, self.now)}."


@dataclass(frozen=True, slots=True)
class TopicTally:
    topic: str
    tally: RightCount


def _trend(before: RightCount, now: RightCount) -> str:
    if before.rows != now.rows:
        return f"after {before.right} of {before.rows} before practice"
    if now.right > before.right:
        return f"up from {before.right}"
    if now.right < before.right:
        return f"down from {before.right}"
    return "as many as before practice"


def right_rows(counts: Sequence[PassCount], step: int) -> dict[int, bool]:
    """Returns whether each row is right at a step: more than half of its graded answers are."""
    return {
        each.prompt_index: 2 * each.passed > each.graded
        for each in counts
        if each.step == step and each.graded
    }


def tally(rows: Mapping[int, bool]) -> RightCount:
    return RightCount(sum(rows.values()), len(rows))


def share_tally(share: float, rows: int) -> RightCount:
    return RightCount(round(share * rows), rows)


def weak_topics(rows: Mapping[int, bool], topics: Mapping[int, Sequence[str]]) -> list[TopicTally]:
    of_topic = defaultdict[str, list[bool]](list)
    for row, is_right in rows.items():
        for topic in topics.get(row, ()):
            of_topic[topic].append(is_right)
    found = [
        TopicTally(topic, RightCount(sum(results), len(results)))
        for topic, results in of_topic.items()
        if sum(results) < _WEAK * len(results)
    ]
    return sorted(found, key=lambda each: (each.tally.right / each.tally.rows, each.topic))


def weak_sentence(weak: Sequence[TopicTally], headway: Headway) -> str:
    if not weak:
        left = headway.now.rows - headway.now.right
        return "" if left else "It gets every question of the test right."
    named = ", ".join(
        f"{each.topic} ({each.tally.right} of {each.tally.rows})" for each in weak[:_MOST_TOPICS]
    )
    return f"Still weak at {named}."


_POINTS: Final = 100


@dataclass(frozen=True, slots=True)
class ComparisonWords:
    subject: str
    sentence: str
    passed: bool


def headline(skill: Skill) -> str:
    match skill.status:
        case SkillStatus.RUNNING:
            return "The gate is comparing it with the version that answers now."
        case SkillStatus.PASSED if skill.promoted_at is not None:
            return "It passed the gate and was put to work."
        case SkillStatus.PASSED:
            return "It passed the gate: you may let it answer."
        case SkillStatus.HELD:
            return "The gate held it back, so it does not answer. The reasons:"
        case _:
            assert_never(skill.status)


def verdicts(skill: Skill, names: Mapping[str, str]) -> Iterator[ComparisonWords]:
    if skill.status is SkillStatus.RUNNING:
        return
    for each in skill.comparisons:
        is_target = each.subject == "target"
        subject = "What it practised" if is_target else names.get(each.subject, each.subject)
        yield ComparisonWords(subject, _sentence(each), each.passes)
    if len(skill.comparisons) < 2:  # noqa: PLR2004 - the target alone
        yield ComparisonWords(
            "What it must not forget",
            "Nothing is on the list, so nobody can see whether something was lost. Choose what it "
            "must not forget, and propose it again.",
            False,
        )


def _sentence(found: Comparison) -> str:
    if found.fault is not None:
        return f"It could not be compared: {found.fault}."
    if found.interval is None:
        return f"{found.rows} questions are too few to tell. Add more, and propose it again."
    low, high = (round(_POINTS * end) for end in found.interval)
    if found.unchanged or low == high == 0:
        return f"Nothing changed (over {found.rows} questions)."
    middle = round(_POINTS * (found.difference or 0.0))
    measured = f"over {found.rows} questions; between {low:+d} and {high:+d} points of 100"
    if found.excludes_a_loss:
        change = f"Better by {middle} points" if middle > 0 else "Nothing was lost"
        return f"{change} ({measured})."
    if found.interval[1] < 0:
        return f"Worse by {-middle} points ({measured})."
    allowed = round(_POINTS * MARGIN)
    return (
        f"A loss of more than {allowed} points cannot be ruled out ({measured}). More questions "
        "make this surer."
    )


router = APIRouter(
    include_in_schema=False, route_class=PageRoute, prefix="/teach/students/{name}/jobs/{job_id}"
)
_EXAMPLES: Final = 6
_VALID: Final[Split] = "valid"


@dataclass(frozen=True, slots=True)
class BeforeAndAfter:
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
    return await visitor.page(
        template,
        student=student,
        job=job,
        state=state,
        last_event=last.id,
        ended=job.status in TERMINAL,
        succeeded=job.status is JobStatus.SUCCEEDED,
        recipe=recipe,
        **shown,
    )


@router.post("/stop")
async def stop(name: str, job_id: str, visitor: SignedIn, _form: OwnForm) -> Response:
    await visitor.services.students().get(name)
    await visitor.services.jobs().cancel(job_id)
    return redirect(f"/teach/students/{name}/jobs/{job_id}")


async def _progress(visitor: Visitor, job: Job) -> Mapping[str, Any]:
    rows = await visitor.services.held_out_rows().rows(job)
    report = await report_of(visitor, job)
    split, counts = await _counts(visitor, job)
    steps = sorted({each.step for each in counts if report is None or each.step <= report["step"]})
    if not steps:
        return {**_NOTHING, "headway": await _preferences(visitor, job, report, rows.count)}
    before, now = right_rows(counts, steps[0]), right_rows(counts, steps[-1])
    headway = Headway(tally(before), tally(now))
    topics = {at: topics_of(row) for at, row in rows.by_index.items()}
    weak: list[TopicTally] = weak_topics(now, topics)
    ends = (steps[0], steps[-1])
    examples = [] if report is None else await _examples(visitor, job, split, rows.by_index, ends)
    return {
        "headway": headway if len(steps) > 1 else None,
        "first": headway.now if len(steps) == 1 else None,
        "weak": weak_sentence(weak, headway) if len(steps) > 1 else "",
        "examples": examples,
        "varied": split == _VALID and eval_temperature(job) != STUDENT_TEMPERATURE,
    }


_NOTHING: Final[Mapping[str, Any]] = {
    "headway": None,
    "first": None,
    "weak": "",
    "examples": [],
    "varied": False,
}


async def _counts(visitor: Visitor, job: Job) -> tuple[Split, Sequence[PassCount]]:
    """Returns the answers of the tests at a student's temperature, if the job has such answers."""
    rollouts = visitor.services.rollouts()
    if counts := await rollouts.pass_counts(job.id, VALID_GREEDY, at_least=RIGHT):
        return VALID_GREEDY, counts
    return _VALID, await rollouts.pass_counts(job.id, _VALID, at_least=RIGHT)


async def _preferences(
    visitor: Visitor, job: Job, report: Mapping[str, Any] | None, rows: int
) -> Headway | None:
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
    visitor: Visitor, job: Job, split: Split, rows: Mapping[int, Json], steps: tuple[int, int]
) -> list[BeforeAndAfter]:
    rollouts = visitor.services.rollouts()
    means = await rollouts.row_means(job.id, split, steps=steps)
    shown = list[BeforeAndAfter]()
    for pair in most_changed(pairs_of(means, steps[1]))[:_EXAMPLES]:
        asked = rows.get(pair.row)
        question = f"Question {pair.row + 1}" if asked is None else question_of(asked)
        found = await rollouts.first_graded(job.id, split, steps=steps, row=pair.row)
        before, after = map(answer, found)
        shown.append(BeforeAndAfter(question, before, after, pair.outcome == "win"))
    return shown


async def _recipe_name(visitor: Visitor, job: Job) -> str:
    try:
        return (await visitor.services.recipes().get((job.metadata or {}).get(RECIPE, ""))).name
    except NotFound:
        return job.method.kind
