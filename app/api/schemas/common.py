"""Shapes shared by every route: the error envelope, list pages, JSON maps."""

from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict

Row = TypeVar("Row")


class ErrorBody(BaseModel):
    message: str
    type: str
    param: str | None
    code: str | None


class ErrorEnvelope(BaseModel):
    """Every error of the API, as the hosted one writes it."""

    error: ErrorBody


class Page(BaseModel, Generic[Row]):
    """A list page; `has_more` is always there, because the Node SDK stops without it."""

    object: Literal["list"] = "list"
    data: list[Row]
    has_more: bool
    first_id: str | None = None
    last_id: str | None = None


class Deleted(BaseModel):
    id: str
    object: str
    deleted: bool


class WireModel(BaseModel):
    """A request body: unknown keys are kept, as the hosted API keeps them."""

    model_config = ConfigDict(extra="allow")


Json = dict[str, Any]
