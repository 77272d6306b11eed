"""Takes one step of a session: look, decide, act, write.

Promises that each job and skill of a session is made exactly once: it is inserted in the
transaction that writes its id into the session's row, which is locked at the fence of the step's
claim. A step whose process was killed has written nothing, and the next claim takes it again.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final, assert_never

import structlog

from app.domain.accounts.tenants import Tenant
from app.domain.coach import logbook_entries
from app.domain.coach.actions import (
    Continue,
    EndSession,
    Pause,
    Promote,
    Propose,
    RunMeasurement,
    SessionStep,
    Train,
    Wait,
)
from app.domain.coach.sessions import (
    POLL_S,
    AwaitedObject,
    CoachOutcome,
    CoachSession,
    CoachStatus,
    LogbookEntry,
    SessionProgress,
)
from app.domain.coach.steps import next_step
from app.domain.errors import NotFound, QuotaExceeded, RequestError, Unavailable, WrongState
from app.services.coach.child_jobs import ChildJobs
from app.services.coach.evidence_reader import EvidenceReader
from app.services.jobs.jobs import JobService
from app.services.students.students import StudentService
from app.store.database import CoachClaim, Database
from app.store.unit_of_work import UnitOfWork

log = structlog.get_logger()

_FULL_S: Final = 30.0
"""Seconds until the next look while a quota of the project is used up."""


@dataclass(frozen=True, slots=True)
class CoachPorts:
    evidence: EvidenceReader
    children: ChildJobs
    jobs: JobService
    students: StudentService


@dataclass(frozen=True, slots=True)
class _Change:
    """The columns that a step writes into its session."""

    status: CoachStatus
    progress: SessionProgress
    wait_s: float = 0.0
    outcome: CoachOutcome | None = None


class CoachDriver:
    def __init__(self, database: Database, ports: CoachPorts, tenant: Tenant) -> None:
        self._database = database
        self._ports = ports
        self._tenant = tenant

    async def step(self, claim: CoachClaim) -> None:
        """Takes a step under the claim. Raises `LeaseLost` when the session was paused, ended,
        deleted or claimed again, and `Unavailable`.
        """
        async with self._database.tenant(self._tenant) as unit:
            session = await unit.coach_sessions.held(claim.lease)
        try:
            evidence = await self._ports.evidence.of(session)
            step = await asyncio.to_thread(next_step, session, evidence)
            await self._take(claim, session.student, step)
        except QuotaExceeded as error:
            log.info("coach waits for a quota", session_id=session.id, error=error.message)
            await self._write(claim, _Change(CoachStatus.RUNNING, session.progress, _FULL_S))
        except Unavailable:
            raise
        except RequestError as error:
            await self._refused(claim, session, error)

    async def _take(self, claim: CoachClaim, student: str, step: SessionStep) -> None:
        request = self._database.request(self._tenant)
        async with request as unit:
            leave = request.begin_request_transaction()
            try:
                # The student first, as its deletion does: the other order can deadlock.
                await unit.students.get(student, locked=True)
                session = await unit.coach_sessions.held(claim.lease)
                change = await self._act(unit, session, step)
                await self._end_job(session, change.progress)
                await _store(unit, session, change, step.entries)
            finally:
                leave()

    async def _act(self, unit: UnitOfWork, session: CoachSession, step: SessionStep) -> _Change:
        """Carries out the action; services that it calls join the transaction of `unit`."""
        change = _Change(CoachStatus.RUNNING, step.progress)
        match step.action:
            case Wait():
                change = replace(change, wait_s=POLL_S)
            case Continue():
                pass
            case RunMeasurement() | Train() as action:
                sealed = await unit.coach_sessions.secrets(session.id)
                change = replace(
                    change,
                    progress=await self._with_job(session, step.progress, action, sealed=sealed),
                    wait_s=POLL_S,
                )
            case Propose(job_id=job_id):
                skill = await self._ports.students.propose(session.student, job_id)
                at_gate = replace(step.progress, child=AwaitedObject("skill", skill.id))
                change = replace(change, progress=at_gate)
            case Promote(skill_id=skill_id):
                await self._ports.students.promote(session.student, skill_id)
            case Pause():
                change = replace(change, status=CoachStatus.PAUSED)
            case EndSession(status=status, outcome=outcome):
                change = replace(change, status=status, outcome=outcome)
            case _:
                assert_never(step.action)
        return change

    async def _with_job(
        self,
        session: CoachSession,
        progress: SessionProgress,
        action: RunMeasurement | Train,
        *,
        sealed: bytes | None,
    ) -> SessionProgress:
        """Makes a job. Returns the progress of a session that waits for it."""
        children, spent = self._ports.children, progress.spent
        progress = replace(progress, spent=replace(spent, jobs=spent.jobs + 1))
        match action:
            case RunMeasurement(prompt=prompt):
                job = await children.measure(session, sealed, prompt)
                return replace(progress, child=AwaitedObject("job", job.id))
            case Train(keys=keys, caps=caps):
                job = await children.train(session, sealed, keys=keys, caps=caps)
                return replace(progress, child=AwaitedObject("job", job.id), job_id=job.id)
            case _:
                assert_never(action)

    async def _end_job(self, session: CoachSession, progress: SessionProgress) -> None:
        """Cancels the job that the session has no more use for; one that has ended needs no end."""
        child = session.progress.child
        if child is not None and child.kind == "job" and child != progress.child:
            with suppress(NotFound, WrongState):
                await self._ports.jobs.cancel(child.id)

    async def _refused(self, claim: CoachClaim, session: CoachSession, error: RequestError) -> None:
        """Ends a session whose action the service refuses, such as a job on a deleted file."""
        log.info("coach refused", session_id=session.id, error=error.message)
        change = _Change(CoachStatus.FAILED, replace(session.progress, child=None))
        await self._write(claim, change, [logbook_entries.refused_entry(error.message)])

    async def _write(
        self, claim: CoachClaim, change: _Change, entries: Sequence[LogbookEntry] = ()
    ) -> None:
        async with self._database.tenant(self._tenant) as unit:
            session = await unit.coach_sessions.held(claim.lease)
            await _store(unit, session, change, entries)


async def _store(
    unit: UnitOfWork, session: CoachSession, change: _Change, entries: Sequence[LogbookEntry]
) -> None:
    stopped = change.status is not CoachStatus.RUNNING
    await unit.coach_sessions.write(
        session.id,
        status=change.status,
        progress=change.progress,
        outcome=change.outcome,
        reason=entries[-1].text if stopped and entries else None,
        wait_s=change.wait_s,
    )
    await unit.coach_sessions.append(session.id, entries)
