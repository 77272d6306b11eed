"""Takes one step of a session: look, decide, act, write.

Each job and skill of a session is made exactly once: it is inserted in the transaction that writes
its id into the session's row, which is locked at the fence of the step's claim. A step whose
process was killed has written nothing, and the next claim takes it again.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import Context
from dataclasses import dataclass, replace
from typing import Final, assert_never

import structlog

from app.database import CoachClaim, Database, UnitOfWork
from app.jobs.service import JobService
from app.kit.callers import Tenant
from app.kit.errors import LeaseLost, NotFound, QuotaExceeded, RequestError, Unavailable, WrongState
from app.teaching.coach import logbook
from app.teaching.coach.evidence import EvidenceReader
from app.teaching.coach.session_files import ChildJobs
from app.teaching.coach.sessions import (
    POLL_S,
    CoachChild,
    CoachOutcome,
    CoachSession,
    CoachStatus,
    LogbookEntry,
    SessionProgress,
)
from app.teaching.coach.steps import (
    Continue,
    EndSession,
    Pause,
    Promote,
    Propose,
    RunMeasurement,
    SessionStep,
    Train,
    Wait,
    next_step,
)
from app.teaching.students.service import StudentService

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
        """Takes a step. Raises `LeaseLost` for a session that moved on meanwhile, `Unavailable`."""
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
                at_gate = replace(step.progress, child=CoachChild("skill", skill.id))
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
        children, spent = self._ports.children, progress.spent
        progress = replace(progress, spent=replace(spent, jobs=spent.jobs + 1))
        match action:
            case RunMeasurement(prompt=prompt):
                job = await children.measure(session, sealed, prompt)
                return replace(progress, child=CoachChild("job", job.id))
            case Train(keys=keys, caps=caps):
                job = await children.train(session, sealed, keys=keys, caps=caps)
                return replace(progress, child=CoachChild("job", job.id), job_id=job.id)
            case _:
                assert_never(action)

    async def _end_job(self, session: CoachSession, progress: SessionProgress) -> None:
        child = session.progress.child
        if child is not None and child.kind == "job" and child != progress.child:
            with suppress(NotFound, WrongState):
                await self._ports.jobs.cancel(child.id)

    async def _refused(self, claim: CoachClaim, session: CoachSession, error: RequestError) -> None:
        log.info("coach refused", session_id=session.id, error=error.message)
        change = _Change(CoachStatus.FAILED, replace(session.progress, child=None))
        await self._write(claim, change, [logbook.refused_entry(error.message)])

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


LEASE_S: Final = 120.0
"""Seconds of a claim, more than a step takes, and the longest delay of a killed process."""
AT_ONCE: Final = 2


class CoachRunner:
    def __init__(
        self,
        database: Database,
        driver_of: Callable[[Tenant], CoachDriver],
        *,
        poll_s: float,
        lease_s: float = LEASE_S,
    ) -> None:
        """`poll_s`: seconds between looks for due sessions while there are none; 0 takes none."""
        self._database = database
        self._driver_of = driver_of
        self._poll_s = poll_s
        self._lease_s = lease_s
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        if self._poll_s:
            self._task = asyncio.create_task(self._run(), context=Context())

    async def aclose(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def take_due_steps(self) -> int:
        claims = await self._database.claim_coach_sessions(AT_ONCE, self._lease_s)
        await asyncio.gather(*(self._step(claim) for claim in claims))
        return len(claims)

    async def _run(self) -> None:
        while True:
            taken = 0
            try:
                taken = await self.take_due_steps()
            except Unavailable as error:
                log.warning("sessions of the coach not claimed", error=str(error))
            except Exception:  # such as a database that is not migrated yet
                log.exception("sessions of the coach not claimed")
            if not taken:
                await asyncio.sleep(self._poll_s)

    async def _step(self, claim: CoachClaim) -> None:
        named = {"session_id": claim.lease.id, "project_id": claim.lease.project_id}
        try:
            await self._driver_of(claim.tenant).step(claim)
        except LeaseLost:
            log.info("session of the coach gone", **named)
        except Unavailable as error:
            # The lease ends, and the step is taken again.
            log.warning("step of the coach not taken", error=str(error), **named)
        except Exception:  # a fault of one session must not end the steps of others
            log.exception("step of the coach failed", **named)
