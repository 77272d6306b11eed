"""Opens the gate of a proposed skill, and reads its decision once the eval runs have ended.

The runs are inserted in the skill's transaction and are leased work, so a killed process loses
nothing. The decision is a pure function of committed rows: the first request that reads the skill
after the runs have ended writes it, and it never changes after that.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final, assert_never

from app.database import Database, UnitOfWork
from app.evals.data_sources import DATA_SOURCE, asked_of_student, planned_items
from app.evals.evals import OPEN_RUNS, EvalRun, EvalRunStatus
from app.files.row_files import Inspections
from app.jobs.jobs import JobStatus, StopRequest
from app.kit.callers import Tenant
from app.kit.errors import InvalidRequest, NotFound, WrongState
from app.kit.ids import new_id
from app.kit.job_queue import JobQueue
from app.models.models import BaseModelSpec, StudentVersion, find_base_model, unknown_model
from app.teaching.students.students import (
    Comparison,
    GateRuns,
    RegressionRows,
    Skill,
    SkillStatus,
    Student,
    StudentChanges,
    common_instructions,
    eval_comparison,
    row_scores,
    target_comparison,
    uncompared,
    verdict,
)

_PARAM: Final = "regression_evals"


async def regression_sets(unit: UnitOfWork, eval_ids: Sequence[str]) -> tuple[RegressionRows, ...]:
    return tuple([await _regression_set(unit, each) for each in dict.fromkeys(eval_ids)])


async def _regression_set(unit: UnitOfWork, eval_id: str) -> RegressionRows:
    try:
        of = await unit.evals.get(eval_id)
    except NotFound as error:
        raise InvalidRequest(error.message, param=_PARAM, code="eval_not_found") from error
    if of.job_id is not None:
        raise InvalidRequest(
            f"Eval {eval_id} belongs to job {of.job_id}: its runs are the job's validations, and "
            "no other run can be started. Create an eval of your own: POST /v1/evals.",
            param=_PARAM,
            code="eval_without_rows",
        )
    of_gates = await unit.skills.gate_runs(eval_id)
    async for run in _newest_runs(unit, eval_id):
        own = run.model is not None and run.id not in of_gates
        if own and run.status is not EvalRunStatus.CANCELED:
            return RegressionRows(eval_id, run.id)
    raise InvalidRequest(
        f"Eval {eval_id} has no run that samples a model, so the gate does not know its rows. "
        f"Start one of a data source with a model: POST /v1/evals/{eval_id}/runs.",
        param=_PARAM,
        code="eval_without_rows",
    )


async def open_gate(unit: UnitOfWork, queue: JobQueue, skill: Skill, student: Student) -> None:
    """Asks both versions as a chat would, each with its instructions."""
    before = StudentVersion(skill.baseline, student.instructions)
    after = StudentVersion(skill.model, skill.instructions)
    pairs = []
    for each in student.regression_sets:
        try:
            sampled = await unit.eval_runs.get(each.eval_id, each.run_id)
        except NotFound as error:
            raise InvalidRequest(
                f"Run {each.run_id} of eval {each.eval_id} was deleted, and with it the rows of "
                f"the regression set. Choose others: POST /v1/students/{skill.student} with "
                "'regression_evals'.",
                param=_PARAM,
                code="regression_set_deleted",
            ) from error
        runs = [await _start(unit, queue, sampled, skill, side) for side in (before, after)]
        pairs.append(GateRuns(each.eval_id, *runs))
    await unit.skills.insert(replace(skill, runs=tuple(pairs)))


async def close_gates(unit: UnitOfWork, skills: Sequence[Skill]) -> None:
    for pair in (pair for skill in skills for pair in skill.runs):
        for run_id in (pair.before, pair.after):
            # A run that ended or was deleted meanwhile needs no end.
            with suppress(NotFound, WrongState):
                await unit.eval_runs.cancel(pair.eval_id, run_id)


async def settled_skill(unit: UnitOfWork, skill: Skill) -> Skill:
    if skill.status is not SkillStatus.RUNNING:
        return skill
    compared = []
    for pair in skill.runs:
        comparison = await _comparison(unit, pair)
        if comparison is None:
            return skill
        compared.append(comparison)
    target = target_comparison(await unit.reports.get(skill.job_id))
    passed, reason = verdict(target, compared)
    status = SkillStatus.PASSED if passed else SkillStatus.HELD
    return await unit.skills.decide(skill, status, reason, [target, *compared])


async def _start(
    unit: UnitOfWork, queue: JobQueue, sampled: EvalRun, skill: Skill, version: StudentVersion
) -> str:
    asked = {key: sent for key, sent in sampled.data_source.items() if key != "instructions"}
    data_source = asked_of_student(asked, version)
    planned = planned_items(DATA_SOURCE.validate_python(data_source))
    run = EvalRun(
        id=new_id("evalrun_"),
        eval_id=sampled.eval_id,
        name=f"Gate of {skill.student}",
        status=EvalRunStatus.QUEUED,
        model=version.model,
        data_source=data_source,
        metadata={"student": skill.student, "skill": skill.id},
    )
    await unit.quotas.check_eval_run(planned)
    await unit.quotas.check_bytes(len(await asyncio.to_thread(json.dumps, data_source)))
    await unit.eval_runs.insert(run, planned_items=planned)
    unit.after_commit(lambda: queue.enqueue_eval(run.id))
    return run.id


async def _comparison(unit: UnitOfWork, pair: GateRuns) -> Comparison | None:
    scores, unscored = [], 0
    for run_id in (pair.before, pair.after):
        try:
            run = await unit.eval_runs.get(pair.eval_id, run_id)
        except NotFound:
            return uncompared(pair.eval_id, "a run of the gate is deleted")
        if run.status in OPEN_RUNS:
            return None
        if run.status is not EvalRunStatus.COMPLETED:
            return uncompared(pair.eval_id, f"a run of the gate is {run.status.value}")
        done = await unit.eval_items.done(run_id)
        results = [
            (position // run.samples_per_item, of_criteria)
            for position, _, of_criteria, _ in sorted(done, key=lambda item: item[0])
        ]
        of_run, lost = row_scores(results)
        scores.append(of_run)
        unscored += lost
    return eval_comparison(pair.eval_id, *scores, unscored=unscored)


async def _newest_runs(unit: UnitOfWork, eval_id: str) -> AsyncIterator[EvalRun]:
    after, more = None, True
    while more:
        page, more = await unit.eval_runs.page(
            eval_id, status=None, after=after, limit=100, descending=True
        )
        for run in page:
            yield run
            after = run.id


class StudentService:
    def __init__(
        self,
        database: Database,
        queue: JobQueue,
        *,
        inspections: Inspections,
        base_models: tuple[BaseModelSpec, ...],
        tenant: Tenant,
    ) -> None:
        self._database = database
        self._queue = queue
        self._inspections = inspections
        self._base_models = base_models
        self._tenant = tenant

    async def create(
        self, name: str, base_model: str, regression_evals: tuple[str, ...]
    ) -> Student:
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

    async def update(self, name: str, changes: StudentChanges) -> Student:
        async with self._database.tenant(self._tenant) as unit:
            await unit.students.get(name, locked=True)
            if "regression_evals" in changes:
                sets = await regression_sets(unit, changes["regression_evals"])
                await unit.students.set_regression_sets(name, sets)
            if "instructions" in changes:
                await unit.students.instruct(name, changes["instructions"])
            return await unit.students.get(name)

    async def get(self, name: str) -> Student:
        async with self._database.tenant(self._tenant) as unit:
            return await unit.students.get(name)

    async def page(self, *, after: str | None, limit: int) -> tuple[list[Student], bool]:
        async with self._database.tenant(self._tenant) as unit:
            return await unit.students.page(after=after, limit=limit)

    async def delete(self, name: str) -> None:
        """Deletes a student, not its jobs and models, and cancels the eval runs of open gates."""
        async with self._database.tenant(self._tenant) as unit:
            await unit.students.get(name, locked=True)
            await close_gates(unit, await unit.skills.running(name))
            await _end_coaching(unit, name)
            unit.after_end(self._queue.enqueue_deliveries)
            await unit.students.delete(name)

    async def propose(self, name: str, job_id: str) -> Skill:
        instructions = await self._taught(job_id)
        async with self._database.tenant(self._tenant) as unit:
            student = await unit.students.get(name, locked=True)
            version = await unit.students.answering(name)
            baseline = student.base_model if version is None else version.model
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
                instructions=instructions,
                status=SkillStatus.RUNNING,
            )
            await open_gate(unit, self._queue, skill, student)
            return await settled_skill(unit, await unit.skills.get(name, skill.id))

    async def skills(self, name: str, *, after: str | None, limit: int) -> tuple[list[Skill], bool]:
        async with self._database.tenant(self._tenant) as unit:
            await unit.students.get(name)
            page, more = await unit.skills.page(name, after=after, limit=limit)
            return [await settled_skill(unit, skill) for skill in page], more

    async def skill(self, name: str, skill_id: str) -> Skill:
        async with self._database.tenant(self._tenant) as unit:
            return await settled_skill(unit, await unit.skills.get(name, skill_id))

    async def promote(self, name: str, skill_id: str) -> Student:
        async with self._database.tenant(self._tenant) as unit:
            await unit.students.get(name, locked=True)
            skill = await settled_skill(unit, await unit.skills.get(name, skill_id))
            refused = _refusal(skill, await unit.students.answering(name))
            if refused is None:
                return await _set_current(unit, name, skill)
        raise refused  # behind the transaction, so that the gate's decision is committed

    async def roll_back(self, name: str, skill_id: str | None) -> Student:
        """Goes back to a skill, or with `None` to the base model. Raises `WrongState`."""
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

    async def _taught(self, job_id: str) -> str | None:
        """Returns the instructions of a job's examples; `None` if their file is deleted."""
        try:
            async with self._database.tenant(self._tenant) as unit:
                job = await unit.jobs.get(job_id)
                file = await unit.files.get(job.training_file)
        except NotFound:
            return None
        async with self._inspections.copy(file.object_key) as path:
            return await self._inspections.run(
                self._tenant, common_instructions, path, job.method.kind
            )

    async def _learned(self, unit: UnitOfWork, student: Student, job_id: str, baseline: str) -> str:
        """Returns a job's model. Its report compares with the model it began from: the baseline."""
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
    for session in await unit.coach_sessions.open_of(student):
        child = session.progress.child
        if child is not None and child.kind == "job":
            # A job that ended or was deleted meanwhile needs no end.
            with suppress(NotFound, WrongState):
                await unit.jobs.request_stop(child.id, StopRequest.CANCEL)


def _refusal(skill: Skill, answering: StudentVersion | None) -> WrongState | None:
    match skill.status:
        case SkillStatus.RUNNING:
            reason, code = "is still at the gate: wait for its eval runs.", "gate_running"
        case SkillStatus.HELD:
            reason, code = f"was held by the gate. {skill.reason}", "gate_held"
        case SkillStatus.PASSED:
            model = None if answering is None else answering.model
            if skill.promoted_at is not None or skill.baseline in (model, skill.model):
                return None
            reason = (
                f"passed the gate against '{skill.baseline}', but '{model}' answers now. "
                f"Train from 'student:{skill.student}', and propose that job."
            )
            code = "gate_outdated"
        case _:
            assert_never(skill.status)
    return WrongState(f"Skill {skill.id} {reason}", param="skill", code=code)


async def _set_current(unit: UnitOfWork, name: str, skill: Skill | None) -> Student:
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
