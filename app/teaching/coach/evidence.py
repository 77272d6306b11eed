"""Distinguishes a gain from chance where a session looks several times: prompts and rounds. Pure.

Look k has the error probability 0.05/(k (k + 1)), which is at most 0.05 for any number of looks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from app.graders.grader_model import GraderModel
from app.jobs.intervals import Gain, paired_gain, range_of_scores
from app.jobs.jobs import Usage
from app.kit.errors import refused_value
from app.teaching.coach.sessions import (
    CoachOptions,
    CoachSession,
    MeasuredRollouts,
    TriedPrompt,
    expected_gains,
    practice_slices,
)
from app.teaching.coach.statistics import Measurement
from app.teaching.coach.weaknesses import Slice
from app.teaching.students.students import Skill, SkillStatus


def check_reach(options: CoachOptions, grader: GraderModel) -> None:
    """Raises `InvalidRequest` for a target beyond the scores of the grader or at their lowest, and
    for a smallest gain beyond their range, as far as its definition limits them.
    """
    low, high = grader.lowest, grader.highest
    target = options.target
    if target is not None and high is not None and target > high:
        raise refused_value("target", f"the highest score of the grader is {high:g}")
    if target is not None and low is not None and target <= low:
        raise refused_value("target", f"every student reaches it: the lowest score is {low:g}")
    if low is not None and high is not None and options.min_gain > high - low:
        reason = f"the scores of the grader are from {low:g} to {high:g}, so no gain is as large"
        raise refused_value("min_gain", reason)


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


def tried_prompt(session: CoachSession, evidence: Evidence) -> TriedPrompt:
    """Returns the comparison of a prompt with the rows as they are. It is enough if it is clearly
    better, and reaches the target or leaves nothing to gain. Its interval allows for the prompts
    before it, since the best of several is better by chance.
    """
    progress = session.progress
    prompt = session.options.prompts[len(progress.tried)]
    fresh, before = evidence.fresh, evidence.now
    if fresh is None or before is None or fresh.mean is None:
        return TriedPrompt(prompt, None, None, None)
    looks = len(progress.tried) + 1
    gain = _gain(before, fresh, looks=looks)
    if gain is None:
        return TriedPrompt(prompt, fresh.mean, None, None)
    left = expected_gains(fresh, evidence.slices, unhelped={})
    better = gain.is_clear and gain.mean > 0
    mastered = not practice_slices(left, least=session.options.min_gain)
    enough = better and (mastered or reaches_target(session, fresh.mean))
    return TriedPrompt(prompt, fresh.mean, gain.mean, gain.interval, enough)


def has_helped(session: CoachSession, evidence: Evidence) -> bool:
    """Returns whether the rounds since the last clear gain brought one together. The interval
    allows for the rounds before: one of many looks shows a gain by chance.
    """
    if evidence.since is None or evidence.fresh is None:
        return False
    gain = _gain(evidence.since, evidence.fresh, looks=max(1, session.progress.round))
    return gain is not None and gain.is_clear and gain.mean >= session.options.min_gain


def _gain(before: Measurement, after: Measurement, *, looks: int) -> Gain | None:
    known = before.ranges.reward
    sides = before.row_means, after.row_means
    bounds = range_of_scores(
        *(side.values() for side in sides),
        known=None if known is None else (known.floor, known.ceiling),
    )
    return paired_gain(*sides, looks=looks, bounds=bounds)


def reaches_target(session: CoachSession, mean: float | None) -> bool:
    """Returns whether a mean score is enough."""
    target = session.options.target
    return target is not None and mean is not None and mean >= target
