"""Shapes shared by every route: the error envelope, list pages, JSON maps."""

from typing import Any, Generic, Literal, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict

Row = TypeVar("Row")


class ErrorBody(BaseModel):
    message: str
    type: str
    param: str | None
    code: str | None


class ErrorEnvelope(BaseModel):
    """Shape of every error, as in the hosted API."""

    error: ErrorBody


class Page(BaseModel, Generic[Row]):
    """A list page. It always contains `has_more`, because the Node SDK stops without it."""

    object: Literal["list"] = "list"
    data: list[Row]
    has_more: bool
    first_id: str | None
    last_id: str | None


class Identified(Protocol):
    @property
    def id(self) -> str: ...


Listed = TypeVar("Listed", bound=Identified)


def paged(data: list[Listed], *, has_more: bool) -> "Page[Listed]":
    """Returns a page with the ids of its first and last object."""
    return paged_by(data, [row.id for row in data], has_more=has_more)


def paged_by(data: list[Row], cursors: list[str], *, has_more: bool) -> "Page[Row]":
    """Returns a page of objects that are paged by something else than their ids."""
    return Page(
        data=data,
        has_more=has_more,
        first_id=cursors[0] if cursors else None,
        last_id=cursors[-1] if cursors else None,
    )


def none_if_empty(cursor: object) -> object:
    """Reads an empty cursor as none: some clients send one for the first page."""
    return None if cursor == "" else cursor


class Deleted(BaseModel):
    id: str
    object: str
    deleted: bool


class WireModel(BaseModel):
    """A request body. Unknown keys are retained, as in the hosted API."""

    model_config = ConfigDict(extra="allow")


Json = dict[str, Any]
