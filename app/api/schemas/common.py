"""Shapes shared by every route: the error envelope, list pages, JSON maps."""

from typing import Any, Generic, Literal, Protocol, TypeVar

from pydantic import ConfigDict

from app.domain.described import Described

Row = TypeVar("Row")


class ErrorBody(Described):
    message: str
    """The fault in a sentence, with its cure."""
    type: str
    """Class of the error, such as `invalid_request_error`."""
    param: str | None
    """The parameter at fault, as a path: `method.reinforcement.tools[0].server_url`."""
    code: str | None
    """The error in a word that programs can compare, such as `model_not_found`."""


class ErrorEnvelope(Described):
    """Shape of every error, as in the hosted API."""

    error: ErrorBody
    """The error."""


class Page(Described, Generic[Row]):
    """A list page. It always contains `has_more`, because the Node SDK stops without it."""

    object: Literal["list"] = "list"
    data: list[Row]
    """The objects of this page."""
    has_more: bool
    """True if a further page follows; ask for it with `after` set to `last_id`."""
    first_id: str | None
    """Id of the first object; `null` on an empty page."""
    last_id: str | None
    """Id of the last object; `null` on an empty page."""


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


class Deleted(Described):
    id: str
    object: str
    """Type of the deleted object."""
    deleted: bool


class WireModel(Described):
    """A request body. Unknown keys are retained, as in the hosted API."""

    model_config = ConfigDict(extra="allow")


Json = dict[str, Any]
