"""Integrations of a job. Source: the hosted API's `FineTuningJobWandbIntegration`."""

from typing import Annotated, Literal

from pydantic import StringConstraints

from app.api.schemas.common import WireModel
from app.domain.documents.json_object import Json

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
    """An integration, whose known keys are stored and echoed."""

    type: Literal["wandb"]
    """The only kind that is accepted; nothing is sent to it."""
    wandb: Wandb
    """Project and run to which the hosted service would send the curves."""

    def kept(self) -> Json:
        """Returns the known keys that were sent. Other keys are dropped, because they may be
        credentials.
        """
        wandb = self.wandb.model_dump(include=set(Wandb.model_fields), exclude_unset=True)
        return {"type": self.type, "wandb": wandb}
