"""Conditions for checkpoints that a job has dropped, and for their models.

A run may not change rows of checkpoints and models, so the job's row lists the steps that it
retains. A checkpoint of an ended job is dropped with its model, too.
"""

from sqlalchemy import ColumnElement, and_, exists, func, not_, or_, select, true

from app.domain.jobs.jobs import ENDED
from app.domain.models.models import CHECKPOINT_NAMES
from app.store.schema.checkpoints import CheckpointTable
from app.store.schema.jobs import FineTuningJobTable as Jobs
from app.store.schema.models import TunedModelTable


def checkpoint_dropped() -> ColumnElement[bool]:
    """Returns the condition for a row of checkpoints."""
    model_deleted = exists(
        select(TunedModelTable.name)
        .join(
            Jobs,
            and_(Jobs.project_id == TunedModelTable.project_id, Jobs.id == TunedModelTable.job_id),
        )
        .where(
            TunedModelTable.project_id == CheckpointTable.project_id,
            TunedModelTable.name == CheckpointTable.model_name,
            TunedModelTable.deleted_at.is_not(None),
            Jobs.status.in_(ENDED),
        )
        .correlate(CheckpointTable)
    )
    return or_(_dropped(CheckpointTable, true()), model_deleted)


def is_checkpoint_model() -> ColumnElement[bool]:
    """Returns the condition for the model of a checkpoint, which is not the published one."""
    return TunedModelTable.name.regexp_match(CHECKPOINT_NAMES)


def model_dropped() -> ColumnElement[bool]:
    """Returns the condition for the model of a dropped checkpoint; false for the model that a job
    published.

    Also false for a model of another project, whose job row-level security hides: a shared
    model is not dropped.
    """
    return _dropped(TunedModelTable, is_checkpoint_model())


def _dropped(
    table: type[CheckpointTable] | type[TunedModelTable], is_checkpoint: ColumnElement[bool]
) -> ColumnElement[bool]:
    return exists(
        select(Jobs.id)
        .where(
            Jobs.project_id == table.project_id,
            Jobs.id == table.job_id,
            is_checkpoint,
            Jobs.kept_checkpoints.is_not(None),
            not_(Jobs.kept_checkpoints.bool_op("@>")(func.to_jsonb(table.step))),
        )
        .correlate(table)
    )
