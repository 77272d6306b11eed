"""Reads what a step of a session decides on: its job, skill, report and measurements.

A session looks several times, at prompts and rounds, and must tell a gain from chance.

Look k has the error probability 0.05/(k (k + 1)), which is at most 0.05 for any number of looks.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, assert_never

from pydantic import ValidationError

from app.database import Database
from app.graders.grader_model import GraderModel
from app.jobs.intervals import Gain, ScoreRanges, paired_gain, range_of_scores, ranges_of
from app.jobs.jobs import Job, JobStatus, Usage
from app.jobs.methods import StoredReinforcementMethod
from app.jobs.reinforcement import ReinforcementMethod
from app.kit.errors import NOTHING_TO_LEARN, NotFound, refused_value
from app.rollouts.rollouts import RolloutFilter
from app.teaching.coach.session_files import SessionFiles
from app.teaching.coach.sessions import (
    CoachMeasurement,
    CoachOptions,
    CoachPrompt,
    CoachSession,
    Phase,
    expected_gains,
    practice_slices,
)
from app.teaching.coach.statistics import Attempt, Measurement, samples_of
from app.teaching.coach.weaknesses import Slice
from app.teaching.students.service import StudentService
from app.teaching.students.students import Skill, SkillStatus, target_comparison


def check_reach(options: CoachOptions, grader: GraderModel) -> None:
    """Raises `InvalidRequest` for a target or a smallest gain beyond the scores of the grader."""
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
    nothing_learned: bool = False
    """The job ended because nothing could be learned from its rows."""
    gap: bool = False
    """The rule of the gap between training and validation ended the job."""
    gain: Gain | None = None
    now: Measurement | None = None
    """Attempts of the model that answers for the student."""
    since: Measurement | None = None
    """Attempts of the model from which the rounds without a gain count."""
    fresh: Measurement | None = None
    """Attempts that the job has measured: of a prompt, or of the model that it trained."""
    fresh_source: CoachMeasurement | None = None
    slices: Sequence[Slice] = ()
    skill: SkillEvidence | None = None
    has_regression_sets: bool = False


def tried_prompt(session: CoachSession, evidence: Evidence) -> CoachPrompt:
    """Returns the comparison of a prompt with the rows as they are. It is enough if it is clearly
    better, and reaches the target or leaves nothing to gain. Its interval allows for the prompts
    before it, since the best of several is better by chance.
    """
    progress = session.progress
    prompt = session.options.prompts[len(progress.tried)]
    fresh, before = evidence.fresh, evidence.now
    if fresh is None or before is None or fresh.mean is None:
        return CoachPrompt(prompt, None, None, None, enough=False)
    looks = len(progress.tried) + 1
    gain = _gain(before, fresh, looks=looks)
    if gain is None:
        return CoachPrompt(prompt, fresh.mean, None, None, enough=False)
    left = expected_gains(fresh, evidence.slices, unhelped={})
    better = gain.is_clear and gain.mean > 0
    mastered = not practice_slices(left, least=session.options.min_gain)
    enough = better and (mastered or reaches_target(session, fresh.mean))
    return CoachPrompt(prompt, fresh.mean, gain.mean, gain.interval, enough)


def has_helped(session: CoachSession, evidence: Evidence) -> bool:
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
    target = session.options.target
    return target is not None and mean is not None and mean >= target


MAX_SAMPLES: Final = 20_000
"""Attempts of one measurement: reading more takes longer than a step may."""


@dataclass(frozen=True, slots=True)
class EvidenceReader:
    database: Database
    files: SessionFiles
    students: StudentService

    async def of(self, session: CoachSession) -> Evidence:
        """Raises `Unavailable` while something cannot be read; the step is taken later then."""
        progress = session.progress
        match progress.phase:
            case Phase.MEASURING | Phase.PROMPTING:
                return await self._measuring(session)
            case Phase.CHOOSING:
                return await self._choosing(session)
            case Phase.TRAINING:
                return await self._training(session)
            case Phase.GATING:
                return await self._gating(session)
            case _:
                assert_never(progress.phase)

    async def _measuring(self, session: CoachSession) -> Evidence:
        job = await self._job(session)
        if job is None:
            return _missing(session)
        status = _measuring_status(job)
        evidence = Evidence(child=status, error=_error(job), usage=_usage(job, status))
        if status != "done":
            return evidence
        source = CoachMeasurement(job.id, "valid", 0)
        now = session.progress.measured
        held_out = await self.files.held_out(session.validation_file)
        return replace(
            evidence,
            slices=held_out.slices,
            fresh=await self._measurement(session, source),
            fresh_source=source,
            now=None if now is None else await self._measurement(session, now),
        )

    async def _choosing(self, session: CoachSession) -> Evidence:
        progress = session.progress
        if not progress.flat_rounds or progress.measured is None:
            return Evidence()
        now = await self._measurement(session, progress.measured)
        if now.mean is None:  # its job was deleted: what it showed is in the progress
            return Evidence()
        held_out = await self.files.held_out(session.validation_file)
        return Evidence(now=now, slices=held_out.slices)

    async def _training(self, session: CoachSession) -> Evidence:
        job = await self._job(session)
        if job is None:
            return _missing(session)
        capped = job.status is JobStatus.PAUSED and job.caps.reached(job.usage)
        status: ChildStatus = "capped" if capped else _measuring_status(job)
        code = None if job.error is None else job.error.code
        evidence = Evidence(
            child=status,
            error=_error(job),
            usage=_usage(job, status),
            nothing_learned=code == NOTHING_TO_LEARN,
        )
        if status != "done":
            return evidence
        early = job.ended_early or {}
        return replace(
            await self._of_report(session, evidence, job.id),
            gap=early.get("rule") == "gap",
            error=early.get("reason"),
        )

    async def _gating(self, session: CoachSession) -> Evidence:
        child, progress = session.progress.child, session.progress
        if child is None or child.kind != "skill" or progress.job_id is None:
            return Evidence()
        student = await self.students.get(session.student)
        try:
            skill = await self.students.skill(session.student, child.id)
        except NotFound:
            return Evidence()
        evidence = Evidence(
            skill=SkillEvidence.of(skill, student.current_skill),
            has_regression_sets=bool(student.regression_sets),
        )
        if student.current_skill != skill.id:
            return evidence
        held_out = await self.files.held_out(session.validation_file)
        since = progress.since or progress.measured
        return replace(
            await self._of_report(session, evidence, progress.job_id),
            slices=held_out.slices,
            since=None if since is None else await self._measurement(session, since),
        )

    async def _of_report(self, session: CoachSession, evidence: Evidence, job_id: str) -> Evidence:
        async with self.database.tenant(self.files.tenant) as unit:
            report = await unit.reports.get(job_id)
        if report is None:
            return evidence
        source = CoachMeasurement(job_id, "report", int(report["step"]))
        return replace(
            evidence,
            gain=_gain_of(report),
            fresh=await self._measurement(session, source),
            fresh_source=source,
        )

    async def _job(self, session: CoachSession) -> Job | None:
        child = session.progress.child
        if child is None or child.kind != "job":
            return None
        try:
            async with self.database.tenant(self.files.tenant) as unit:
                return await unit.jobs.get(child.id)
        except NotFound:
            return None

    async def _measurement(self, session: CoachSession, source: CoachMeasurement) -> Measurement:
        samples: list[Attempt] = []
        where = RolloutFilter(split=source.split, step=source.step)
        after, more = None, True
        while more and len(samples) < MAX_SAMPLES:
            async with self.database.tenant(self.files.tenant) as unit:
                page, more = await unit.rollouts.page(source.job_id, where, after=after, limit=200)
            after = page[-1].id if page else None
            samples += await asyncio.to_thread(samples_of, page)
        return Measurement(tuple(samples), _ranges(session))


def _ranges(session: CoachSession) -> ScoreRanges:
    """Returns the ranges of the scores; unknown ones of a method that is not valid any more."""
    kind = ReinforcementMethod.kind
    stored = StoredReinforcementMethod({"type": kind, kind: session.method[kind]})
    try:
        return ranges_of(stored.parse().grader)
    except ValidationError:
        return ScoreRanges()


def _missing(session: CoachSession) -> Evidence:
    if session.progress.child is None:
        return Evidence()
    return Evidence(child="failed", error=f"Job {session.progress.child.id} was deleted.")


def _measuring_status(job: Job) -> ChildStatus:
    """Returns `done` for a job that is paused at its cap, behind the baseline."""
    match job.status:
        case JobStatus.SUCCEEDED:
            return "done"
        case JobStatus.PAUSED:
            return "done" if job.caps.reached(job.usage) else "running"
        case JobStatus.FAILED:
            return "failed"
        case JobStatus.CANCELLED:
            return "cancelled"
        case JobStatus.VALIDATING_FILES | JobStatus.QUEUED | JobStatus.RUNNING | JobStatus.PAUSING:
            return "running"
        case _:
            assert_never(job.status)


def _error(job: Job) -> str | None:
    return None if job.error is None else job.error.message


def _usage(job: Job, status: ChildStatus) -> Usage | None:
    return None if status == "running" else job.usage


def _gain_of(report: dict[str, Any]) -> Gain | None:
    compared = target_comparison(report)
    if compared.difference is None:
        return None
    return Gain(compared.difference, compared.interval, compared.rows)
