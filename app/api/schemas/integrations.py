"""Integrations of a job. Source of `wandb`: the hosted API's `FineTuningJobWandbIntegration`."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from app.api.schemas.common import WireModel
from app.domain.documents.json_object import Json
from app.domain.jobs.integrations import DEFAULT_TRACES, MAX_TRACES
from app.domain.methods.loss import one_of

Name = Annotated[str, StringConstraints(min_length=1, max_length=256)]


class Wandb(WireModel):
    """Project and run of the job in Weights & Biases; nothing is sent there."""

    project: Name
    """Name of the project there."""
    name: Name | None = None
    """Name of the run there."""
    entity: Name | None = None
    """User or team there."""
    tags: list[Name] | None = None
    """Labels of the run there."""


class WandbIntegration(WireModel):
    """An integration whose known keys are stored and echoed; nothing is sent to it."""

    type: Literal["wandb"]
    """Weights & Biases."""
    wandb: Wandb
    """Project and run to which the hosted service would send the curves."""

    def kept(self) -> Json:
        """Returns the known keys that were sent. Other keys are dropped, because they may be
        credentials.
        """
        wandb = self.wandb.model_dump(include=set(Wandb.model_fields), exclude_unset=True)
        return {"type": self.type, "wandb": wandb}


class Tensorboard(WireModel):
    """Options of the event files, which always have curves, settings and report."""

    traces_per_step: Annotated[int, Field(ge=0, le=MAX_TRACES, strict=True)] = DEFAULT_TRACES
    """Rollouts of each training step whose messages are written: those of the highest and of the
    lowest rewards; 0 writes none."""


class TensorboardIntegration(WireModel):
    """Event files for TensorBoard, in the installation's directory of trackers (an extension)."""

    type: Literal["tensorboard"]
    """TensorBoard."""
    tensorboard: Tensorboard = Field(default_factory=Tensorboard)
    """Options of the event files."""

    def kept(self) -> Json:
        """Returns the known keys, with the defaults of those that were not sent."""
        known = self.tensorboard.model_dump(include=set(Tensorboard.model_fields))
        return {"type": self.type, "tensorboard": known}


Integration = Annotated[
    WandbIntegration | TensorboardIntegration,
    Field(discriminator="type"),
    one_of(WandbIntegration, TensorboardIntegration, noun="integration"),
]
