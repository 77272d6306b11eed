"""Use cases of sessions of the Coach: creation, lists, pause, resumption, end, logbook."""

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import assert_never

from app.database import Database, UnitOfWork
from app.jobs.creation import RegisteredReferences
from app.jobs.jobs import JobRequest, NewJob
from app.jobs.reinforcement import ReinforcementMethod
from app.jobs.results import redact_method
from app.jobs.service import JobService
from app.jobs.supervised import DpoMethod, SupervisedMethod
from app.kit.callers import Tenant
from app.kit.errors import InvalidRequest, NotFound, WrongState, refused_value
from app.kit.ids import new_id
from app.kit.sealing import SecretBox
from app.teaching.coach import logbook
from app.teaching.coach.evidence import MAX_SAMPLES, check_reach
from app.teaching.coach.session_files import SessionFiles
from app.teaching.coach.sessions import CoachOptions, CoachSession, CoachStatus, LogbookEntry
from app.teaching.students.service import close_gates
from app.teaching.students.students import SkillStatus


@dataclass(frozen=True, slots=True)
class CoachSessionPorts:
    references: RegisteredReferences
    files: SessionFiles
    jobs: JobService
    secret_box: SecretBox


class CoachSessionService:
    def __init__(self, database: Database, ports: CoachSessionPorts, tenant: Tenant) -> None:
        self._database = database
        self._ports = ports
        self._tenant = tenant

    async def create(
        self,
        student: str,
        request: JobRequest,
        options: CoachOptions,
        *,
        metadata: dict[str, str] | None,
    ) -> CoachSession:
        """Raises `InvalidRequest`, `QuotaExceeded`, and `WrongState` beside another session."""
        async with self._ports.references.resolved(request) as new:
            session, secrets = self._session(student, new, options, metadata)
            await self._check_samples(session)
            sealed = None
            if secrets:
                project_id = self._tenant.project_id
                box = self._ports.secret_box
                sealed = box.seal(secrets, project_id=project_id, row_id=session.id)
            async with self._database.tenant(self._tenant) as unit:
                known = await unit.students.get(student, locked=True)
                await unit.quotas.check_coach_session()
                await unit.coach_sessions.insert(session, self._tenant, secrets=sealed)
                has_sets = bool(known.regression_sets)
                entry = logbook.started_entry(session, has_regression_sets=has_sets)
                await unit.coach_sessions.append(session.id, [entry])
                return await unit.coach_sessions.get(session.id)

    async def get(self, session_id: str) -> CoachSession:
        async with self._database.tenant(self._tenant) as unit:
            return await unit.coach_sessions.get(session_id)

    async def page(
        self, *, student: str | None, after: str | None, limit: int
    ) -> tuple[list[CoachSession], bool]:
        async with self._database.tenant(self._tenant) as unit:
            return await unit.coach_sessions.page(student=student, after=after, limit=limit)

    async def logbook(
        self, session_id: str, *, after: int, limit: int
    ) -> tuple[list[LogbookEntry], bool]:
        async with self._database.tenant(self._tenant) as unit:
            await unit.coach_sessions.get(session_id)
            return await unit.coach_sessions.logbook(session_id, after=after, limit=limit)

    async def pause(self, session_id: str) -> CoachSession:
        """Lets a session take no further step; the job that it waits for continues to its end."""
        return await self._move(session_id, CoachStatus.PAUSED, logbook.paused_entry())

    async def resume(self, session_id: str) -> CoachSession:
        return await self._move(session_id, CoachStatus.RUNNING, logbook.resumed_entry())

    async def cancel(self, session_id: str) -> CoachSession:
        return await self._move(session_id, CoachStatus.CANCELLED, logbook.cancelled_entry())

    async def _move(self, session_id: str, to: CoachStatus, entry: LogbookEntry) -> CoachSession:
        async with self._database.tenant(self._tenant) as unit:
            known = await unit.coach_sessions.get(session_id)
            # The student first, as its deletion does: the other order can deadlock.
            await unit.students.get(known.student, locked=True)
            session = await unit.coach_sessions.get(session_id, locked=True)
            session.check_move(to)
            progress = session.progress
            if to is CoachStatus.CANCELLED:
                await self._cancel_child(unit, session)
                progress = replace(progress, child=None)
            stopped = to is not CoachStatus.RUNNING
            await unit.coach_sessions.write(
                session_id, status=to, progress=progress, reason=entry.text if stopped else None
            )
            await unit.coach_sessions.append(session_id, [entry])
            return await unit.coach_sessions.get(session_id)

    async def _cancel_child(self, unit: UnitOfWork, session: CoachSession) -> None:
        child = session.progress.child
        if child is None:
            return
        with suppress(NotFound, WrongState):
            match child.kind:
                case "job":
                    await self._ports.jobs.cancel(child.id)
                case "skill":
                    skill = await unit.skills.get(session.student, child.id)
                    if skill.status is SkillStatus.RUNNING:
                        await close_gates(unit, [skill])

    def _session(
        self, student: str, new: NewJob, options: CoachOptions, metadata: dict[str, str] | None
    ) -> tuple[CoachSession, dict[str, object]]:
        match new.method:
            case ReinforcementMethod(kind=kind):
                check_reach(options, new.method.grader)
                validation = str(new.validation_file)  # this method requires one
            case SupervisedMethod() | DpoMethod():
                raise refused_value(
                    "method",
                    "the Coach practises by reinforcement, because it needs the score of each "
                    f"attempt; POST /v1/students/{student}/improve makes a job of another method",
                )
            case _:
                assert_never(new.method)
        sent = {"type": kind, kind: new.method.model_dump(mode="json", exclude_none=False)}
        secrets = redact_method(sent)
        session = CoachSession(
            id=new_id("coach_"),
            student=student,
            options=options,
            training_file=new.training_file,
            validation_file=validation,
            method=sent,
            metadata=metadata,
        )
        return session, dict(secrets)

    async def _check_samples(self, session: CoachSession) -> None:
        held_out = await self._ports.files.held_out(session.validation_file)
        attempts = held_out.count * session.options.samples
        if attempts > MAX_SAMPLES:
            raise InvalidRequest(
                f"{session.options.samples} attempts at each of {held_out.count:,} held-out rows "
                f"are {attempts:,}, and a measurement has at most {MAX_SAMPLES:,}: send a smaller "
                "validation file, or fewer samples.",
                param="samples",
                code="invalid_value",
            )
