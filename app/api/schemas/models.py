"""Models on the wire. Source: the hosted API's `Model`."""

from typing import Literal

from pydantic import BaseModel


class Model(BaseModel):
    id: str
    object: Literal["model"] = "model"
    created: int
    owned_by: str


class ModelList(BaseModel):
    """All models on one page without a cursor, as in the hosted API."""

    object: Literal["list"] = "list"
    data: list[Model]
