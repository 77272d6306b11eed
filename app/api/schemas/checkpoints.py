"""Checkpoints on the wire. Source: the hosted API's `FineTuningJobCheckpoint`."""

from typing import Literal

from app.domain.documents.field_descriptions import DescribedModel
from app.domain.jobs.jobs import Checkpoint


class FineTuningJobCheckpoint(DescribedModel):
    """A checkpoint of a job: a model that can be called, with its metrics."""

    id: str
    object: Literal["fine_tuning.job.checkpoint"] = "fine_tuning.job.checkpoint"
    created_at: int
    fine_tuned_model_checkpoint: str
    """Name of the checkpoint's model, which chat, evals and new jobs take."""
    fine_tuning_job_id: str
    step_number: int
    """The committed step."""
    metrics: dict[str, float]
    """Values of the step, such as `full_valid_mean_reward`, by name; of the last step of a paused
    job that was not validated, only `step`.
    """

    @classmethod
    def of(cls, checkpoint: Checkpoint) -> "FineTuningJobCheckpoint":
        return cls(
            id=checkpoint.id,
            created_at=checkpoint.created_at,
            fine_tuned_model_checkpoint=checkpoint.model_name,
            fine_tuning_job_id=checkpoint.job_id,
            step_number=checkpoint.step,
            metrics={"step": float(checkpoint.step), **checkpoint.metrics},
        )
