"""Integrations of a job. Source: the hosted API's `FineTuningJobWandbIntegration`."""

from typing import Annotated, Literal

from pydantic import StringConstraints

from app.api.schemas.common import WireModel

Name = Annotated[str, StringConstraints(min_length=1, max_length=256)]


class Wandb(WireModel):
    project: Name
    name: Name | None = None
    entity: Name | None = None
    tags: list[Name] | None = None


class WandbIntegration(WireModel):
    """An integration, which is stored and echoed."""

    type: Literal["wandb"]
    wandb: Wandb
