"""Sessions of the Coach on the wire (an extension)."""

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints
from typing_extensions import TypedDict

from app.jobs.schemas import Fault
from app.kit.errors import refused_value
from app.kit.fields import LEFT_OUT, DescribedModel, Json
from app.kit.schemas import ClosedBody
from app.models.models import student_named
from app.teaching.coach.sessions import (
    MAX_PROMPTS,
    Budget,
    CoachChild,
    CoachGain,
    CoachMeasurement,
    CoachOptions,
    CoachOutcome,
    CoachPrompt,
    CoachSession,
    CoachStatus,
    EntryKind,
    LogbookEntry,
    Phase,
    Promotion,
)
from app.teaching.coach.weaknesses import CoachWeakness
from app.teaching.plans.schemas import PlannedJob
from app.teaching.recipes.recipes import PlanRecipe

Text = Annotated[str, StringConstraints(min_length=1, max_length=256)]
Prompt = Annotated[str, StringConstraints(min_length=1, max_length=16_384)]
Count = Annotated[int, Field(strict=True, ge=1, le=10**12)]
Score = Annotated[float, Field(strict=True, ge=-1e9, le=1e9)]


class CoachBudget(ClosedBody):
    """Limits of a session over all its jobs. The session ends at the first that is reached."""

    jobs: Annotated[int, Field(strict=True, ge=1, le=1000)] | None = 8
    """Jobs that measure, and jobs that train; `null` sets no limit."""
    rollouts: Count | None = None
    """Rollouts of all jobs; absent: no limit."""
    tokens: Count | None = None
    """Tokens of prompts and answers of all jobs; absent: no limit."""
    seconds: Annotated[float, Field(strict=True, gt=0, le=1e9)] | None = None
    """Time of all jobs; absent: no limit."""


class CoachChoices(ClosedBody):
    """Options of a session besides the improvement plan of its jobs: what it may do, and when it
    stops.
    """

    promote: Promotion = "automatic"
    """`automatic` makes each skill current that passed the gate; `ask` pauses for your decision."""
    prompts: Annotated[tuple[Prompt, ...], Field(max_length=MAX_PROMPTS)] = ()
    """System prompts to try before training; the rubric of the recipe is tried after them."""
    samples: Annotated[int, Field(strict=True, ge=2, le=64)] = 4
    """Attempts at each held-out row in a measurement."""
    target: Score | None = None
    """Mean score of the held-out rows at which the session ends; absent: none."""
    min_gain: Annotated[float, Field(strict=True, gt=0, le=1e9)] = 0.02
    """Gain of the mean score that is too small to go on for."""
    patience: Annotated[int, Field(strict=True, ge=1, le=100)] = 2
    """Rounds in succession without such a gain after which the session ends."""
    budget: CoachBudget = CoachBudget()
    """Limits of the whole session."""

    def options(
        self, recipe: PlanRecipe | None, job: PlannedJob, *, param: str = ""
    ) -> CoachOptions:
        """Raises `InvalidRequest` for a prompt sent twice; `param` ends with a full stop."""
        first = dict[str, int]()
        for number, prompt in enumerate(self.prompts):
            same = first.setdefault(prompt.strip(), number)
            if same != number:
                reason = f"it is '{param}prompts[{same}]' again, and each prompt is measured once"
                raise refused_value(f"{param}prompts[{number}]", reason)
        rubric: tuple[str, ...] = ()
        if recipe is not None:
            marks = "\n".join(f"- {mark}" for mark in recipe.rubric)
            rubric = (f"{recipe.purpose}\nA good answer:\n{marks}",)
        given = self.budget
        return CoachOptions(
            promote=self.promote,
            prompts=tuple(dict.fromkeys((*self.prompts, *rubric)))[: MAX_PROMPTS + 1],
            samples=self.samples,
            target=self.target,
            min_gain=self.min_gain,
            patience=self.patience,
            budget=Budget(
                jobs=given.jobs, rollouts=given.rollouts, tokens=given.tokens, seconds=given.seconds
            ),
            seed=job.seed,
            suffix=job.suffix,
        )


class CreateCoachSession(CoachChoices, PlannedJob):
    """A session of the Coach: a student, the improvement plan of its jobs, and when to stop."""

    student: Text
    """Name of the student to coach, with or without `student:`."""

    @property
    def student_name(self) -> str:
        return student_named(self.student) or self.student


class CoachSpent(DescribedModel):
    """Resources that the jobs of a session used; a job's are added at its end."""

    jobs: int
    """Jobs that measured, and jobs that trained."""
    rollouts: int
    """Rollouts of all jobs."""
    tokens: int
    """Tokens of prompts and answers of all jobs."""
    seconds: float
    """Time of all jobs."""


class CoachLimits(DescribedModel):
    """Limits of a session over all its jobs; `null` is none."""

    jobs: int | None
    """Jobs that measure, and jobs that train."""
    rollouts: int | None
    """Rollouts of all jobs."""
    tokens: int | None
    """Tokens of prompts and answers of all jobs."""
    seconds: float | None
    """Time of all jobs."""


class CoachSessionObject(DescribedModel):
    """A session of the Coach, with what it has found out so far."""

    id: str
    object: Literal["coach_session"] = "coach_session"
    student: str
    """Name of the student."""
    status: CoachStatus
    """`completed`, `failed` and `cancelled` are final."""
    phase: Phase
    """The activity of the session, or its last one."""
    outcome: CoachOutcome | None
    """The reason for which a completed session ended."""
    reason: str | None
    """The last entry of the logbook, once the session is paused or has ended."""
    promote: Promotion
    """`automatic` makes each skill current that passed the gate; `ask` pauses for a decision."""
    samples: int
    """Attempts at each held-out row in a measurement."""
    target: float | None
    """Mean score of the held-out rows at which the session ends; `null` is none."""
    min_gain: float
    """Gain of the mean score that is too small to go on for."""
    patience: int
    """Rounds in succession without such a gain after which the session ends."""
    budget: CoachLimits
    """Limits of the whole session."""
    spent: CoachSpent
    """Resources that its jobs used so far."""
    training_file: str
    """Id of the file with the rows to practise."""
    validation_file: str
    """Id of the file with the held-out rows."""
    method: Json
    """Method of the session's jobs; secrets are redacted."""
    round: int
    """Jobs that trained."""
    job_id: str | None
    """The training job of this round."""
    waiting_for: CoachChild | None
    """The job or skill that the session waits for; `null` for none."""
    measured_in: CoachMeasurement | None
    """The rollouts that measured the student; `null` before the first measurement."""
    first_mean: float | None
    """Mean score of the held-out rows at the start."""
    mean: float | None
    """Mean score of the model that answers for the student."""
    weaknesses: list[CoachWeakness]
    """Weaknesses of that model, the largest first."""
    gains: list[CoachGain]
    """Expected gains, the largest first."""
    prompts: list[CoachPrompt]
    """System prompts that were tried."""
    promoted: int
    """Skills of the session that became current."""
    metadata: dict[str, str] | None
    created_at: int
    finished_at: int | None
    """Unix time of the session's end."""
    warnings: list[Fault] | None = Field(default=None, exclude_if=lambda value: value is None)
    """Faults with which its jobs would run, as `validate` reports them; only in the reply to a
    create.
    """

    @classmethod
    def of(cls, row: CoachSession) -> "CoachSessionObject":
        return cls.read(
            row,
            row.progress,
            row.options,
            waiting_for=row.progress.child,
            measured_in=row.progress.measured,
            prompts=row.progress.tried,
        )


def _number(description: str) -> Any:
    return Field(description=description, json_schema_extra={LEFT_OUT: True})


class CoachNumbers(TypedDict, total=False):
    """The numbers of an entry; each kind of entry has those that its text is about."""

    mean: Annotated[float | None, _number("Mean score of the held-out rows.")]
    first_mean: Annotated[float | None, _number("Mean score at the start.")]
    rows: Annotated[int, _number("Held-out rows that were measured.")]
    lost: Annotated[int, _number("Attempts that failures lost.")]
    prompt: Annotated[int, _number("Number of the system prompt, from 1.")]
    gain: Annotated[float | None, _number("Gain of the mean score.")]
    interval: Annotated[
        list[float] | None, _number("95 % interval of the gain; `null` for too few rows.")
    ]
    gains: Annotated[dict[str, float], _number("Expected gain of each group that is practised.")]
    job: Annotated[str | None, _number("Id of the training job.")]
    skill: Annotated[str, _number("Id of the skill.")]
    status: Annotated[str, _number("State of the skill after the gate.")]


class CoachEntry(DescribedModel):
    """One entry of a logbook: what the Coach did, with the numbers, and why."""

    id: str
    """The number as a text, for `after`."""
    object: Literal["coach_session.entry"] = "coach_session.entry"
    number: int
    """Place in the logbook, from 1."""
    kind: EntryKind
    """The step of the session that the entry is about."""
    text: str
    """The entry in plain words."""
    data: CoachNumbers
    """The numbers of the entry."""
    created_at: int

    @classmethod
    def of(cls, entry: LogbookEntry) -> "CoachEntry":
        return cls.read(entry, id=str(entry.number))
