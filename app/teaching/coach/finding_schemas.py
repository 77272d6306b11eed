"""Findings and the logbook of sessions of the Coach on the wire (an extension)."""

from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter
from typing_extensions import TypedDict

from app.kit.fields import LEFT_OUT, DescribedModel
from app.teaching.coach.sessions import (
    AwaitedObject,
    Budget,
    EntryKind,
    LogbookEntry,
    MeasuredRollouts,
    SliceGain,
    Spent,
    TriedPrompt,
)
from app.teaching.coach.weaknesses import SliceKind, Weakness, WeaknessKind


class CoachWeakness(DescribedModel):
    """A slice of the rows, or a kind of attempt, that clearly lacks score."""

    kind: WeaknessKind
    """`tag`, `cluster` (similar texts) or `all` for a slice of the rows; else a kind of attempt."""
    name: str
    """The tag, the words of similar texts, the component, the stop reason, or the tool."""
    rows: int
    """Rows that were compared."""
    share: float
    """Lacking share of the score's range, or share of the attempts: 0 to 1."""
    interval: list[float]
    """Interval of the share, which allows for all slices and kinds that were compared."""
    mean: float | None
    """Mean score of the slice, or of the attempts of that kind."""
    examples: list[str]
    """Ids of rollouts with the lowest scores, in the job of `measured_in`."""

    @classmethod
    def of(cls, each: Weakness) -> "CoachWeakness":
        return cls.read(each, interval=list(each.interval), examples=list(each.examples))


class CoachGain(DescribedModel):
    """The gain that practice of a slice of the rows is expected to bring."""

    kind: SliceKind
    """`tag`, `cluster` (similar texts) or `all`."""
    name: str
    """The tag, or the words of similar texts."""
    rows: int
    """Held-out rows of the slice."""
    weight: float
    """Their share of all held-out rows."""
    mean: float
    """Their mean score."""
    headroom: float
    """Highest score that can be reached less the mean."""
    spread: int
    """Rows whose attempts have different scores."""
    gain: float
    """Weight × headroom × (spread + 1) / (rows + 2), halved for each round that did not help."""

    @classmethod
    def of(cls, each: SliceGain) -> "CoachGain":
        return cls.read(each)


class CoachPrompt(DescribedModel):
    """A system prompt that was tried before training."""

    prompt: str
    """The text of the system prompt."""
    mean: float | None
    """Mean score with the prompt; `null` if nothing was scored."""
    gain: float | None
    """Paired difference to the rows as they are."""
    interval: list[float] | None
    """95 % interval of the difference, which allows for the prompts before; `null` for too few
    rows."""
    enough: bool
    """True if the prompt is clearly better, and reaches the target or leaves nothing to gain."""

    @classmethod
    def of(cls, each: TriedPrompt) -> "CoachPrompt":
        return cls.read(each, interval=None if each.interval is None else list(each.interval))


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

    @classmethod
    def of(cls, spent: Spent) -> "CoachSpent":
        return cls.read(spent)


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

    @classmethod
    def of(cls, budget: Budget) -> "CoachLimits":
        return cls.read(budget)


class CoachChild(DescribedModel):
    """The job or skill that a session waits for."""

    kind: Literal["job", "skill"]
    """`job` for a fine-tuning job, `skill` for a skill at the gate."""
    id: str
    """Id of the job or skill."""

    @classmethod
    def of(cls, child: AwaitedObject | None) -> "CoachChild | None":
        return None if child is None else cls(kind=child.kind, id=child.id)


class CoachMeasurement(DescribedModel):
    """The rollouts that measured the student."""

    job_id: str
    """Id of their job."""
    split: Literal["valid", "report"]
    """Their part of the job."""
    step: int
    """Step of the job at which they were sampled."""

    @classmethod
    def of(cls, source: MeasuredRollouts | None) -> "CoachMeasurement | None":
        if source is None:
            return None
        return cls(job_id=source.job_id, split=source.split, step=source.step)


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


_NUMBERS = TypeAdapter(CoachNumbers)


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
        return cls.read(
            entry, id=str(entry.number), data=_NUMBERS.validate_python(dict(entry.data))
        )
