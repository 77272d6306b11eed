"""Use cases of students: creation, deletion, proposals of skills, promotion, roll-back.

Promises that a skill becomes current only after the gate let it pass.
"""

from contextlib import suppress
from typing import assert_never

from app.domain.accounts.tenants import Tenant
from app.domain.errors import InvalidRequest, NotFound, WrongState
from app.domain.ids import new_id
from app.domain.jobs.jobs import JobStatus, StopRequest
from app.domain.models.models import BaseModelSpec, find_base_model, unknown_model
from app.domain.students.students import Skill, SkillStatus, Student
from app.gateways.job_queue import JobQueue
from app.services.students.gate import close_gates, open_gate, regression_sets, settled_skill
from app.store.database import Database
from app.store.unit_of_work import UnitOfWork


class StudentService:
    def __init__(
        self,
        database: Database,
        queue: JobQueue,
        *,
        base_models: tuple[BaseModelSpec, ...],
        tenant: Tenant,
    ) -> None:
        self._database = database
        self._queue = queue
        self._base_models = base_models
        self._tenant = tenant

    async def create(
        self, name: str, base_model: str, regression_evals: tuple[str, ...]
    ) -> Student:
        """Raises `InvalidRequest` for an unknown base model, an eval without rows, a used name,
        and `QuotaExceeded`.
        """
        base = find_base_model(self._base_models, base_model)
        if base is None:
            raise InvalidRequest(
                unknown_model(base_model, self._base_models),
                param="base_model",
                code="model_not_found",
            )
        async with self._database.tenant(self._tenant) as unit:
            sets = await regression_sets(unit, regression_evals)
            student = Student(name=name, base_model=base.name, regression_sets=sets)
            await unit.quotas.check_student()
            await unit.students.insert(student)
            return await unit.students.get(name)

    async def update(self, name: str, regression_evals: tuple[str, ...]) -> Student:
        """Chooses the regression sets of the skills that are proposed from now on."""
        async with self._database.tenant(self._tenant) as unit:
            await unit.students.get(name, locked=True)
            sets = await regression_sets(unit, regression_evals)
            await unit.students.set_regression_sets(name, sets)
            return await unit.students.get(name)

    async def get(self, name: str) -> Student:
        async with self._database.tenant(self._tenant) as unit:
            return await unit.students.get(name)

    async def page(self, *, after: str | None, limit: int) -> tuple[list[Student], bool]:
        async with self._database.tenant(self._tenant) as unit:
            return await unit.students.page(after=after, limit=limit)

    async def delete(self, name: str) -> None:
        """Deletes a student with its history; jobs and models stay. Cancels the eval runs of open
        gates, because nobody would read their decision.
        """
        async with self._database.tenant(self._tenant) as unit:
            await unit.students.get(name, locked=True)
            await close_gates(unit, await unit.skills.running(name))
            await _end_coaching(unit, name)
            unit.after_end(self._queue.enqueue_deliveries)
            await unit.students.delete(name)

    async def propose(self, name: str, job_id: str) -> Skill:
        """Opens the gate for the model of a succeeded job, or returns the skill whose gate is open
        for it already. Raises `InvalidRequest`.
        """
        async with self._database.tenant(self._tenant) as unit:
            student = await unit.students.get(name, locked=True)
            baseline = await unit.students.answering_model(name) or student.base_model
            model = await self._learned(unit, student, job_id, baseline)
            for open_skill in await unit.skills.running(name):
                settled = await settled_skill(unit, open_skill)
                if settled.status is SkillStatus.RUNNING and settled.job_id == job_id:
                    return settled
            skill = Skill(
                id=new_id("skill_"),
                student=name,
                job_id=job_id,
                model=model,
                baseline=baseline,
                status=SkillStatus.RUNNING,
            )
            await open_gate(unit, self._queue, skill, student.regression_sets)
            return await settled_skill(unit, await unit.skills.get(name, skill.id))

    async def skills(self, name: str, *, after: str | None, limit: int) -> tuple[list[Skill], bool]:
        async with self._database.tenant(self._tenant) as unit:
            await unit.students.get(name)
            page, more = await unit.skills.page(name, after=after, limit=limit)
            return [await settled_skill(unit, skill) for skill in page], more

    async def skill(self, name: str, skill_id: str) -> Skill:
        """Returns a skill with the gate's decision, if its runs have ended."""
        async with self._database.tenant(self._tenant) as unit:
            return await settled_skill(unit, await unit.skills.get(name, skill_id))

    async def promote(self, name: str, skill_id: str) -> Student:
        """Makes a skill current. Raises `WrongState` unless the gate let it pass against the model
        that answers now, or it was current before.
        """
        async with self._database.tenant(self._tenant) as unit:
            await unit.students.get(name, locked=True)
            skill = await settled_skill(unit, await unit.skills.get(name, skill_id))
            refused = _refusal(skill, await unit.students.answering_model(name))
            if refused is None:
                return await _set_current(unit, name, skill)
        raise refused  # behind the transaction, so that the gate's decision is committed

    async def roll_back(self, name: str, skill_id: str | None) -> Student:
        """Makes an earlier skill current again; `None` means the base model. Raises `WrongState`
        for a skill that never was current.
        """
        async with self._database.tenant(self._tenant) as unit:
            await unit.students.get(name, locked=True)
            skill = None if skill_id is None else await unit.skills.get(name, skill_id)
            if skill is not None and skill.promoted_at is None:
                raise WrongState(
                    f"Skill {skill_id} was never current, so there is nothing to go back to. "
                    f"Promote it: POST /v1/students/{name}/promote.",
                    param="skill",
                    code="skill_never_current",
                )
            return await _set_current(unit, name, skill)

    async def _learned(self, unit: UnitOfWork, student: Student, job_id: str, baseline: str) -> str:
        """Returns the model that a job published, if the student may learn it: the report of a job
        compares with the model that it trained from, so that one must be the baseline.
        """
        try:
            job = await unit.jobs.get(job_id)
        except NotFound as error:
            raise InvalidRequest(error.message, param="job", code="job_not_found") from error
        published = job.fine_tuned_model if job.status is JobStatus.SUCCEEDED else None
        if published is None:
            raise _unfit(f"Job {job_id} is {job.status.value}: only a succeeded job has a model.")
        tuned = await unit.models.get(published)
        if tuned is None:
            raise _unfit(f"The model of job {job_id} was deleted.")
        base = find_base_model(self._base_models, tuned.base_model)
        if base is None or base.name != student.base_model:
            raise _unfit(
                f"Job {job_id} trained '{tuned.base_model}', but the base model of student "
                f"'{student.name}' is '{student.base_model}'."
            )
        if job.model != baseline:
            raise _unfit(
                f"Job {job_id} trained from '{job.model}', so its report does not compare with "
                f"'{baseline}', which answers for student '{student.name}' now. Train a job whose "
                f"`model` is 'student:{student.name}'."
            )
        return published


async def _end_coaching(unit: UnitOfWork, student: str) -> None:
    """Cancels the jobs of Coach sessions, which are deleted with the student."""
    for session in await unit.coach_sessions.open_of(student):
        child = session.progress.child
        if child is not None and child.kind == "job":
            # A job that ended or was deleted meanwhile needs no end.
            with suppress(NotFound, WrongState):
                await unit.jobs.request_stop(child.id, StopRequest.CANCEL)


def _refusal(skill: Skill, answering: str | None) -> WrongState | None:
    """Returns the error of a skill that may not be promoted."""
    match skill.status:
        case SkillStatus.RUNNING:
            reason, code = "is still at the gate: wait for its eval runs.", "gate_running"
        case SkillStatus.HELD:
            reason, code = f"was held by the gate. {skill.reason}", "gate_held"
        case SkillStatus.PASSED:
            if skill.promoted_at is not None or skill.baseline in (answering, skill.model):
                return None
            reason = (
                f"passed the gate against '{skill.baseline}', but '{answering}' answers now. "
                f"Train from 'student:{skill.student}', and propose that job."
            )
            code = "gate_outdated"
        case _:
            assert_never(skill.status)
    return WrongState(f"Skill {skill.id} {reason}", param="skill", code=code)


async def _set_current(unit: UnitOfWork, name: str, skill: Skill | None) -> Student:
    """Lets a skill, or the base model, answer. Raises `WrongState` for a deleted model."""
    if skill is not None:
        if not await unit.models.lock(skill.model):
            raise WrongState(
                f"The model '{skill.model}' of skill {skill.id} was deleted.",
                param="skill",
                code="model_not_found",
            )
        await unit.skills.mark_promoted(skill)
    await unit.students.set_current(name, None if skill is None else skill.id)
    return await unit.students.get(name)


def _unfit(message: str) -> InvalidRequest:
    return InvalidRequest(message, param="job", code="job_not_proposable")
