"""Rollouts and the paired report on the wire (an extension)."""

from typing import Literal

from pydantic import BaseModel

from app.api.schemas.common import Json
from app.domain.ids import Split
from app.domain.rollouts.rollouts import RolloutRow


class Rollout(BaseModel):
    id: str
    object: Literal["fine_tuning.job.rollout"] = "fine_tuning.job.rollout"
    fine_tuning_job_id: str
    split: Split
    step: int
    prompt_index: int
    """Row number in the split's file, from 0."""
    sample_index: int
    trace_id: str
    reward: float | None
    """`null` when the rollout was discarded: a failure is never a reward."""
    failure_class: str | None
    failure_message: str | None
    stop_reason: str | None
    policy_version: int
    prompt_tokens: int
    completion_tokens: int
    reasoning_tokens: int
    tool_calls: int
    components: dict[str, float]
    trace: Json
    started_at: float
    finished_at: float

    @classmethod
    def of(cls, row: RolloutRow) -> "Rollout":
        return cls.model_validate(
            {
                **{name: getattr(row, name) for name in cls.model_fields if hasattr(row, name)},
                "fine_tuning_job_id": row.job_id,
            }
        )
