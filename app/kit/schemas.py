"""Shapes shared by every route: the error envelope, list pages, closed bodies."""

from collections.abc import Iterable, Iterator
from typing import Annotated, ClassVar, Final, Generic, Literal, Protocol, Self, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    StringConstraints,
    ValidationError,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, ErrorDetails
from typing_extensions import override

from app.kit.errors import InvalidRequest
from app.kit.faults import NOWHERE, KeyHints, refusal, unknown_key
from app.kit.fields import DescribedModel, parameter

Row = TypeVar("Row")
Order = Literal["asc", "desc"]
TableFormat = Literal["jsonl", "parquet"]
Metadata = Annotated[
    dict[
        Annotated[str, StringConstraints(max_length=64)],
        Annotated[str, StringConstraints(max_length=512)],
    ],
    Field(max_length=16),
]
FORMAT_TEXT: Final = "`jsonl`: a JSON object in each line; `parquet`: compressed by zstd"


class ErrorBody(DescribedModel):
    """The fault: a sentence, its class, the parameter at fault and a code."""

    message: str
    """The fault in a sentence, with the correction."""
    type: str
    """Class of the error, such as `invalid_request_error`."""
    param: str | None
    """The parameter at fault, as a path: `method.reinforcement.tools[0].server_url`."""
    code: str | None
    """The error in a word that programs can compare, such as `model_not_found`."""


class ErrorEnvelope(DescribedModel):
    """Shape of every error, as in the hosted API."""

    error: ErrorBody
    """The error."""


class DescribedByItem(DescribedModel):
    """A generic schema. The description of each of its types names the type of the items."""

    item_description: ClassVar[str]
    """The description, with `{}` for the name of the items' type."""

    @classmethod
    @override
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler, /
    ) -> JsonSchemaValue:
        schema = super().__get_pydantic_json_schema__(core_schema, handler)
        items: tuple[type[BaseModel], ...] = cls.__pydantic_generic_metadata__["args"]
        if items:
            description = cls.item_description.format(items[0].__name__)
            handler.resolve_ref_schema(schema)["description"] = description
        return schema


class Page(DescribedByItem, Generic[Row]):
    """A list page. It always contains `has_more`, because the Node SDK stops without it."""

    item_description: ClassVar[str] = "A page of `{}` objects."
    object: Literal["list"] = "list"
    data: list[Row]
    """The objects of this page."""
    has_more: bool
    """True if a further page follows; request it with `after` set to `last_id`."""
    first_id: str | None
    """Id of the first object; `null` on an empty page."""
    last_id: str | None
    """Id of the last object; `null` on an empty page."""


class ObjectWithId(Protocol):
    @property
    def id(self) -> str: ...


Listed = TypeVar("Listed", bound=ObjectWithId)


def object_page(data: list[Listed], *, has_more: bool) -> "Page[Listed]":
    return page_with_cursors(data, [row.id for row in data], has_more=has_more)


def page_with_cursors(data: list[Row], cursors: list[str], *, has_more: bool) -> "Page[Row]":
    return Page(
        data=data,
        has_more=has_more,
        first_id=cursors[0] if cursors else None,
        last_id=cursors[-1] if cursors else None,
    )


class Deleted(DescribedModel):
    """The confirmation that an object is deleted."""

    id: str
    object: str
    """Type of the deleted object."""
    deleted: bool


class WireModel(DescribedModel):
    """A request body. Unknown keys are read, so that a warning or a refusal names them."""

    model_config = ConfigDict(extra="allow")


class ClosedBody(WireModel):
    """A body that refuses unknown keys with a value, because its reply has no field for
    warnings.
    """

    @model_validator(mode="after")
    def _refuse_unknown_keys(self) -> Self:
        for key, value in (self.model_extra or {}).items():
            if value is not None:
                raise unknown_key(key, type(self).model_fields)
        return self


_SPELLINGS: Final = 8
"""Number of parameters of one reply that are compared with known keys, each for up to 5 ms."""
_UNION_MEMBERS = ("constrained-", "literal[", "function-", "nullable[", "[key]", "dict[", "list[")


def first_fault(
    root: str, error: ValidationError, *, elsewhere: KeyHints = NOWHERE
) -> InvalidRequest:
    return next(refusals(root, error.errors(include_url=False), elsewhere=elsewhere))


def refusals(
    root: str, faults: Iterable[ErrorDetails], *, elsewhere: KeyHints = NOWHERE
) -> Iterator[InvalidRequest]:
    """Yields an error for each parameter, lazily: a body can have thousands of faults. An unknown
    key may have been meant for a parameter `elsewhere`.
    """
    by_param: dict[str, list[ErrorDetails]] = {}
    for fault in _without_echoes(list(faults)):
        by_param.setdefault(dotted_path(root, fault["loc"]), []).append(fault)
    params = set[str | None]()
    for number, (param, found) in enumerate(by_param.items()):
        refused = refusal(param, found, compared=number < _SPELLINGS, elsewhere=elsewhere)
        # A misspelt key is the fault of the missing name and of its own; the first has the cure.
        if refused.param not in params:
            params.add(refused.param)
            yield refused


def _without_echoes(faults: list[ErrorDetails]) -> list[ErrorDetails]:
    """Drops that of a too short list with faulty entries, which pydantic does not count."""
    if not any(fault["type"] == "too_short" for fault in faults):
        return faults
    holders = {fault["loc"][:depth] for fault in faults for depth in range(len(fault["loc"]))}
    return [
        fault for fault in faults if fault["type"] != "too_short" or fault["loc"] not in holders
    ]


def dotted_path(root: str, location: tuple[int | str, ...]) -> str:
    """Returns `root.tools[0].server_url` for `("tools", 0, "server_url")`.

    pydantic appends the name of the tried member to the location of a union, and a mark to that of
    an invalid key; neither is a key of the body, so both are left out. Very long keys are cut.
    """
    if len(location) > 1 and str(location[-1]).startswith(_UNION_MEMBERS):
        location = location[:-1]
    return parameter(root, location)
