"""Conditions for models in use, which may not be deleted, and whose checkpoints a job must retain.

Evaluated in the model's own project: another project can use the model only by a permission, which
counts as use.
"""

from typing import Any, Final

from sqlalchemy import ColumnElement, Select, and_, cast, exists, func, literal, or_, select
from sqlalchemy.dialects.postgresql import JSONPATH
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import InstrumentedAttribute

from app.domain.evals.evals import OPEN_RUNS
from app.domain.jobs.jobs import ENDED
from app.domain.models.exports import OPEN_EXPORTS
from app.domain.models.model_users import (
    ModelUser,
    using_export,
    using_job,
    using_run,
    using_student,
)
from app.store.schema.checkpoints import CheckpointTable as Checkpoint
from app.store.schema.eval_runs import EvalRunTable as Runs
from app.store.schema.evals import EvalTable as Evals
from app.store.schema.exports import ModelExportTable as Exports
from app.store.schema.jobs import FineTuningJobTable as Jobs
from app.store.schema.permissions import CheckpointPermissionTable as Permission
from app.store.schema.students import SkillTable as Skills
from app.store.schema.students import StudentTable as Students

_OPEN: Final = [status.value for status in OPEN_RUNS]
_GRADER: Final = "$.reinforcement.grader"
_CRITERIA: Final = "$[*]"


def checkpoint_in_use() -> ColumnElement[bool]:
    """Returns the condition on a row of checkpoints that the model is shared with another project,
    an unfinished job trains from it or is graded by it, a running eval samples it or is graded by
    it, or an unfinished export has it.
    """
    name = Checkpoint.model_name
    shared = exists().where(
        Permission.project_id == Checkpoint.project_id, Permission.model_name == name
    )
    job = exists().where(Jobs.project_id == Checkpoint.project_id, open_job_uses(name))
    run = exists().where(
        Runs.project_id == Checkpoint.project_id,
        Evals.project_id == Runs.project_id,
        Evals.id == Runs.eval_id,
        open_run_uses(name),
    )
    export = exists().where(
        Exports.project_id == Checkpoint.project_id,
        Exports.model == name,
        Exports.status.in_(OPEN_EXPORTS),
    )
    return shared | job | run | export | _current_skills(Checkpoint.project_id, name).exists()


async def users_of_model(session: AsyncSession, project_id: str, name: str) -> list[ModelUser]:
    """Returns the project's unfinished jobs, eval runs and exports that use a model."""
    jobs = select(Jobs.id).where(
        Jobs.project_id == project_id, Jobs.deleted_at.is_(None), open_job_uses(literal(name))
    )
    runs = (
        select(Runs.eval_id, Runs.id)
        .join(Evals, and_(Evals.project_id == Runs.project_id, Evals.id == Runs.eval_id))
        .where(Runs.project_id == project_id, open_run_uses(literal(name)))
    )
    exports = select(Exports.id).where(
        Exports.project_id == project_id, Exports.model == name, Exports.status.in_(OPEN_EXPORTS)
    )
    students = _current_skills(literal(project_id), literal(name)).order_by(Students.name)
    return [
        *(using_job(job_id) for job_id in await session.scalars(jobs.order_by(Jobs.id))),
        *(using_run(*ids) for ids in await session.execute(runs.order_by(Runs.id))),
        *(using_export(name, one) for one in await session.scalars(exports.order_by(Exports.id))),
        *(using_student(student) for student in await session.scalars(students)),
    ]


def open_job_uses(name: ColumnElement[str] | InstrumentedAttribute[str]) -> ColumnElement[bool]:
    """Returns the condition on a row of jobs that it has not ended, and trains from the model or is
    graded by it.
    """
    return and_(
        Jobs.status.not_in(ENDED), or_(Jobs.model == name, _names(Jobs.method, _GRADER, name))
    )


def open_run_uses(name: ColumnElement[str] | InstrumentedAttribute[str]) -> ColumnElement[bool]:
    """Returns the condition on a row of eval runs with its eval that it has not ended, and samples
    the model or is graded by it.
    """
    return and_(
        Runs.status.in_(_OPEN),
        or_(Runs.model == name, _names(Evals.testing_criteria, _CRITERIA, name)),
    )


def _current_skills(
    project_id: ColumnElement[str] | InstrumentedAttribute[str],
    name: ColumnElement[str] | InstrumentedAttribute[str],
) -> Select[str]:
    """Returns the query for the names of the students whose current skill is the model."""
    return (
        select(Students.name)
        .join(
            Skills,
            and_(Skills.project_id == Students.project_id, Skills.id == Students.current_skill),
        )
        .where(Students.project_id == project_id, Skills.model == name)
    )


def _names(
    document: InstrumentedAttribute[Any],
    path: str,
    model: ColumnElement[str] | InstrumentedAttribute[str],
) -> ColumnElement[bool]:
    """Returns the condition that a grader below `path`, at any depth, uses the model."""
    path_of_model = cast(f"{path}.**.model ? (@ == $model)", JSONPATH)
    return func.jsonb_path_exists(document, path_of_model, func.jsonb_build_object("model", model))
