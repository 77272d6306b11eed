"""Findings and the logbook of sessions of the Coach on the wire (an extension)."""

from typing import Literal

from app.domain.coach.practice import SliceGain
from app.domain.coach.sessions import Entry, EntryKind, Spent, TriedPrompt
from app.domain.coach.weaknesses import SliceKind, Weakness, WeaknessKind
from app.domain.documents.field_descriptions import DescribedModel
from app.domain.documents.json_object import Json


class CoachWeakness(DescribedModel):
    """A slice of the rows, or a kind of attempt, that clearly lacks score."""

    kind: WeaknessKind
    """`tag`, `cluster` or `all` for a slice of the rows; else a kind of attempt."""
    name: str
    """The tag, the words of the cluster, the component, the stop reason, or the tool."""
    rows: int
    """Rows that were compared."""
    share: float
    """Lacking share of the score's range, or share of the attempts: 0 to 1."""
    interval: list[float]
    """95 % interval of the share."""
    mean: float | None
    """Mean score of the slice, or of the attempts of that kind."""
    examples: list[str]
    """Ids of rollouts with the lowest scores, in the job of `measured_in`."""

    @classmethod
    def of(cls, each: Weakness) -> "CoachWeakness":
        return cls(
            kind=each.kind,
            name=each.name,
            rows=each.rows,
            share=each.share,
            interval=list(each.interval),
            mean=each.mean,
            examples=list(each.examples),
        )


class CoachGain(DescribedModel):
    """The gain that practice of a slice of the rows is expected to bring."""

    kind: SliceKind
    name: str
    """The tag, or the words of the cluster."""
    rows: int
    """Held-out rows of the slice."""
    weight: float
    """Their share of all held-out rows."""
    mean: float
    """Their mean score."""
    headroom: float
    """Highest score that was seen less the mean."""
    spread: int
    """Rows whose attempts have different scores."""
    gain: float
    """Weight × headroom × (spread + 1) / (rows + 2), halved for each round that did not help."""

    @classmethod
    def of(cls, each: SliceGain) -> "CoachGain":
        return cls(
            kind=each.kind,
            name=each.name,
            rows=each.rows,
            weight=each.weight,
            mean=each.mean,
            headroom=each.headroom,
            spread=each.spread,
            gain=each.gain,
        )


class CoachPrompt(DescribedModel):
    """A system prompt that was tried before training."""

    prompt: str
    mean: float | None
    """Mean score with the prompt; `null` if nothing was scored."""
    gain: float | None
    """Paired difference to the rows as they are."""
    interval: list[float] | None
    """95 % interval of the difference; `null` for too few rows."""
    enough: bool
    """True if the prompt reaches the target, or leaves nothing to gain."""

    @classmethod
    def of(cls, each: TriedPrompt) -> "CoachPrompt":
        return cls(
            prompt=each.prompt,
            mean=each.mean,
            gain=each.gain,
            interval=None if each.interval is None else list(each.interval),
            enough=each.enough,
        )


class CoachSpent(DescribedModel):
    """Resources that the jobs of a session used; a job's are added at its end."""

    jobs: int
    rollouts: int
    tokens: int
    seconds: float

    @classmethod
    def of(cls, spent: Spent) -> "CoachSpent":
        return cls(
            jobs=spent.jobs, rollouts=spent.rollouts, tokens=spent.tokens, seconds=spent.seconds
        )


class CoachEntry(DescribedModel):
    """One entry of a logbook: what the Coach did, with the numbers, and why."""

    object: Literal["coach_session.entry"] = "coach_session.entry"
    number: int
    """Place in the logbook, from 1."""
    kind: EntryKind
    text: str
    """The entry in plain words."""
    data: Json
    """The numbers of the entry."""
    created_at: int

    @classmethod
    def of(cls, entry: Entry) -> "CoachEntry":
        return cls(
            number=entry.number,
            kind=entry.kind,
            text=entry.text,
            data=dict(entry.data),
            created_at=entry.created_at,
        )
