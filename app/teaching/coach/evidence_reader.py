"""Reads what a step of a session decides on: its job, skill, report and measurements."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, assert_never

from pydantic import ValidationError

from app.database import Database
from app.jobs.intervals import Gain
from app.jobs.jobs import Job, JobStatus, Usage
from app.jobs.methods import StoredReinforcementMethod
from app.jobs.reinforcement import ReinforcementMethod
from app.jobs.score_ranges import ScoreRanges, ranges_of
from app.kit.errors import NOTHING_TO_LEARN, NotFound
from app.rollouts.rollouts import RolloutFilter, RolloutRow
from app.teaching.coach.evidence import ChildStatus, Evidence, SkillEvidence
from app.teaching.coach.session_files import SessionFiles
from app.teaching.coach.sessions import CoachSession, MeasuredRollouts, Phase
from app.teaching.coach.statistics import Attempt, Measurement, sample_of
from app.teaching.students.service import StudentService
from app.teaching.students.students import target_comparison

_PAGE: Final = 200
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
        source = MeasuredRollouts(job.id, "valid", 0)
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
        status = _training_status(job)
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
        """Adds the paired gain of a job's report, and the attempts of the model that it trained."""
        async with self.database.tenant(self.files.tenant) as unit:
            report = await unit.reports.get(job_id)
        if report is None:
            return evidence
        source = MeasuredRollouts(job_id, "report", int(report["step"]))
        return replace(
            evidence,
            gain=_gain(report),
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

    async def _measurement(self, session: CoachSession, source: MeasuredRollouts) -> Measurement:
        samples: list[Attempt] = []
        where = RolloutFilter(split=source.split, step=source.step)
        after, more = None, True
        while more and len(samples) < MAX_SAMPLES:
            async with self.database.tenant(self.files.tenant) as unit:
                page, more = await unit.rollouts.page(
                    source.job_id, where, after=after, limit=_PAGE
                )
            after = page[-1].id if page else None
            samples += await asyncio.to_thread(_samples, page)
        return Measurement(tuple(samples), _ranges(session))


def _samples(rows: Sequence[RolloutRow]) -> list[Attempt]:
    return [sample_of(row) for row in rows]


def _ranges(session: CoachSession) -> ScoreRanges:
    """Returns the ranges of the scores; unknown ones of a method that is not valid any more."""
    kind = ReinforcementMethod.kind
    stored = StoredReinforcementMethod({"type": kind, kind: session.method[kind]})
    try:
        return ranges_of(stored.parse().grader)
    except ValidationError:
        return ScoreRanges()


def _missing(session: CoachSession) -> Evidence:
    """Returns the evidence without a job: none was made yet, or it was deleted."""
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


def _training_status(job: Job) -> ChildStatus:
    if job.status is JobStatus.PAUSED and job.caps.reached(job.usage):
        return "capped"
    return _measuring_status(job)


def _error(job: Job) -> str | None:
    return None if job.error is None else job.error.message


def _usage(job: Job, status: ChildStatus) -> Usage | None:
    return None if status == "running" else job.usage


def _gain(report: dict[str, Any]) -> Gain | None:
    compared = target_comparison(report)
    if compared.difference is None:
        return None
    return Gain(compared.difference, compared.interval, compared.rows)
