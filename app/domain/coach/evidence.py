"""The evidence of a step: the job or skill that it waited for, and measurements. Pure data."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from app.domain.coach.samples import Measurement
from app.domain.coach.sessions import MeasuredRollouts
from app.domain.coach.weaknesses import Slice
from app.domain.jobs.curves.gains import Gain
from app.domain.jobs.usage import Usage
from app.domain.students.students import Skill, SkillStatus

ChildStatus = Literal["none", "running", "done", "failed", "cancelled", "capped"]
"""`capped`: a training job is paused at a limit that the session set."""


@dataclass(frozen=True, slots=True)
class SkillEvidence:
    id: str
    status: SkillStatus
    reason: str | None
    lost: bool
    """True if a comparison of the gate shows a loss."""
    is_current: bool

    @classmethod
    def of(cls, skill: Skill, current: str | None) -> "SkillEvidence":
        ends = [each.interval for each in skill.comparisons if each.interval is not None]
        lost = any(high < 0 for _, high in ends)
        return cls(skill.id, skill.status, skill.reason, lost, skill.id == current)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    child: ChildStatus = "none"
    error: str | None = None
    usage: Usage | None = None
    """Resources that the ended job used."""
    nothing_learned: bool = False
    """The job ended because nothing could be learned from its rows."""
    gap: bool = False
    """The rule of the gap between training and validation ended the job."""
    gain: Gain | None = None
    """The paired gain of the training job's report."""
    now: Measurement | None = None
    """Attempts of the model that answers for the student."""
    since: Measurement | None = None
    """Attempts of the model from which the rounds without a gain count."""
    fresh: Measurement | None = None
    """Attempts that the job has measured: of a prompt, or of the model that it trained."""
    fresh_source: MeasuredRollouts | None = None
    slices: Sequence[Slice] = ()
    """Slices of the held-out rows."""
    skill: SkillEvidence | None = None
    has_regression_sets: bool = False
