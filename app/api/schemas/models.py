"""Models on the wire. Source: the hosted API's `Model`."""

from typing import Literal

from app.domain.documents.described import DescribedModel


class Model(DescribedModel):
    """A model that can be called."""

    id: str
    """Name of the model, for chat, evals and jobs."""
    object: Literal["model"] = "model"
    created: int
    """Unix seconds at which the model was made."""
    owned_by: str
    """`system` for a base model, else the id of its project."""


class ModelList(DescribedModel):
    """All models on one page."""

    object: Literal["list"] = "list"
    data: list[Model]
    """All models."""
