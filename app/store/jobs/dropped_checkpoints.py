"""Conditions that find checkpoints which a job no longer keeps.

A run may not change rows of checkpoints and models, so the job's own row tells what stays.
"""

from typing import Final

from sqlalchemy import ColumnElement, exists, func, not_, select, true

from app.store.schema.checkpoints import CheckpointTable
from app.store.schema.fine_tuning_jobs import FineTuningJobTable as Jobs
from app.store.schema.models import TunedModelTable

_CHECKPOINT_NAMES: Final = "%:ckpt-step-%"


def checkpoint_dropped() -> ColumnElement[bool]:
    """Returns the condition on a row of checkpoints."""
    return _dropped(CheckpointTable, true())


def model_dropped() -> ColumnElement[bool]:
    """Returns the condition on a checkpoint's model, never the one that a job published. False for
    a model of another project, whose job cannot be seen: what is shared is not dropped.
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
