"""Deletes ended jobs: hides the row and the rows that only the job refers to, in one transaction.

The GPU plane removes the objects and the other rows later (`app.store.maintenance.ended_jobs`),
when no claim of the job can still run. A model that the job published stays callable, and the job's
row stays as long as that model.
"""

from sqlalchemy import delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.errors import WrongState
from app.domain.jobs.jobs import TERMINAL, JobStatus
from app.domain.models.model_users import used_by
from app.store.jobs.transitions import lock_job
from app.store.models.dropped_checkpoints import checkpoint_dropped, is_checkpoint_model
from app.store.models.models_in_use import checkpoint_in_use, users_of_model
from app.store.schema.checkpoints import CheckpointTable as Checkpoint
from app.store.schema.evals import EvalTable as Eval
from app.store.schema.files import FileTable as File
from app.store.schema.jobs import FineTuningJobTable as Table
from app.store.schema.models import TunedModelTable as Model


async def delete_job(session: AsyncSession, job_id: str) -> None:
    """Hides an ended job with its eval, its result files and the models of its checkpoints.

    Raises `NotFound`, and `WrongState` while the job has not ended or a checkpoint of it is in use.
    """
    row = await lock_job(session, job_id)
    status = JobStatus(row.status)
    if status not in TERMINAL:
        raise WrongState(
            f"Job {job_id} is {status.value}; only a job that has ended can be deleted. "
            "Cancel it first."
        )
    await _refuse_use(session, row)
    await session.execute(
        update(Model)
        .where(Model.job_id == job_id, is_checkpoint_model(), Model.deleted_at.is_(None))
        .values(deleted_at=func.now())
    )
    await session.execute(delete(Eval).where(Eval.job_id == job_id))
    await session.execute(
        update(File)
        .where(File.id.in_(row.result_files), File.deleted_at.is_(None))
        .values(expires_at=func.now())
    )
    await session.execute(
        update(Table)
        .where(Table.id == job_id)
        .values(
            deleted_at=func.now(),
            clean_after=func.now(),
            # Customers' values go at once; the row may stay for a published model.
            secrets=None,
            method={},
            mcp_listings=None,
            job_metadata=None,
            integrations=[],
            evals=[],
        )
    )


async def _refuse_use(session: AsyncSession, job: Table) -> None:
    used = await session.scalar(
        select(Checkpoint.model_name)
        .where(Checkpoint.job_id == job.id, ~checkpoint_dropped(), checkpoint_in_use())
        .limit(1)
    )
    if used is None:
        return
    users = await users_of_model(session, job.project_id, used)
    reason = (
        used_by(users)
        if users
        else (
            "is shared with another project. Revoke the permission: DELETE "
            f"/v1/fine_tuning/checkpoints/{used}/permissions/{{permission_id}}."
        )
    )
    raise WrongState(f"Job {job.id} cannot be deleted: its checkpoint {used} {reason}")
