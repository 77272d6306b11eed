"""What a run notes of itself beside its job's method, in the same column.

Which checkpoints it keeps, and why it ended early.

A run may not change rows of checkpoints and models, so one that fell out is told by what is noted
here. Owns the place of the notes and the condition that reads them.
"""

from typing import Any, Final

from sqlalchemy import ColumnElement, exists, func, literal, not_, select, true
from sqlalchemy.dialects.postgresql import JSONB

from app.store.schema.checkpoints import CheckpointTable
from app.store.schema.fine_tuning_jobs import FineTuningJobTable as Jobs
from app.store.schema.models import TunedModelTable

RUN: Final = "run"
KEPT: Final = "kept_checkpoints"
ENDED_EARLY: Final = "ended_early"
_CHECKPOINT_NAMES: Final = "%:ckpt-step-%"


def noted(notes: dict[str, Any]) -> ColumnElement[dict[str, Any]]:
    """The method of a job with further notes; those of the same name are replaced."""
    before = func.coalesce(Jobs.method[RUN], literal({}, JSONB))
    return Jobs.method.op("||")(
        func.jsonb_build_object(RUN, before.op("||")(literal(notes, JSONB)))
    )


def checkpoint_dropped() -> ColumnElement[bool]:
    """Of a row of checkpoints."""
    return _dropped(CheckpointTable, true())


def model_dropped() -> ColumnElement[bool]:
    """Of a row of tuned models: a checkpoint's own, never the one that a job published. False for
    a model of another project, whose job cannot be seen: what is shared is not dropped.
    """
    return _dropped(TunedModelTable, TunedModelTable.name.like(_CHECKPOINT_NAMES))


def _dropped(
    table: type[CheckpointTable] | type[TunedModelTable], is_checkpoint: ColumnElement[bool]
) -> ColumnElement[bool]:
    kept = Jobs.method[(RUN, KEPT)]
    return exists(
        select(Jobs.id)
        .where(
            Jobs.project_id == table.project_id,
            Jobs.id == table.job_id,
            is_checkpoint,
            kept.is_not(None),
            not_(kept.bool_op("@>")(func.to_jsonb(table.step))),
        )
        .correlate(table)
    )
