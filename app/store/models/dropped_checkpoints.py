"""Conditions for checkpoints that a job has dropped, and for their models.

A run may not change rows of checkpoints and models, so the job's row lists the steps that it
retains.
"""

from typing import Final

from sqlalchemy import ColumnElement, exists, func, not_, select, true

from app.store.schema.checkpoints import CheckpointTable
from app.store.schema.fine_tuning_jobs import FineTuningJobTable as Jobs
from app.store.schema.models import TunedModelTable

_CHECKPOINT_NAMES: Final = "%:ckpt-step-%"


def checkpoint_dropped() -> ColumnElement[bool]:
    """Returns the condition for a row of checkpoints."""
    return _dropped(CheckpointTable, true())


def model_dropped() -> ColumnElement[bool]:
    """Returns the condition for the model of a dropped checkpoint; false for the model that a job
    published.

    Also false for a model of another project, whose job row-level security hides: a shared
    model is not dropped.
    """
    return _dropped(TunedModelTable, TunedModelTable.name.like(_CHECKPOINT_NAMES))


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
