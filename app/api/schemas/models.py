"""Models on the wire. Source: the hosted API's `Model`."""

from typing import Literal

from pydantic import BaseModel


class Model(BaseModel):
    id: str
    object: Literal["model"] = "model"
    created: int
    owned_by: str


class ModelList(BaseModel):
    """One page, no cursor, as the hosted API answers."""

    object: Literal["list"] = "list"
    data: list[Model]
