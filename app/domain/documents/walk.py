"""Walks a customer's model by type: secrets, addresses, judges, unknown keys, with their paths.

Owns the one traversal behind sealing, redaction, address checks, preflight and the registry. It
follows the shapes of a model's fields (`app.domain.documents.field_annotations`), and works on
instances as well as on JSON, valid or not. Must not know any specific model.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, assert_never

from pydantic import BaseModel

from app.domain.documents.field_annotations import (
    Collection,
    FieldMark,
    FreeFormValue,
    MarkedValue,
    MixedUnion,
    ModelUnion,
    Shape,
    WalkPlan,
    plan_of,
)
from app.domain.documents.fields import (
    AddressMark,
    EmbeddingMark,
    JudgeMark,
    SecretMark,
    TemplateMark,
)
from app.domain.documents.pointers import Path


class FieldKind(Enum):
    SECRET = auto()
    """A text, or an object of texts such as headers."""
    ADDRESS = auto()
    JUDGE = auto()
    EMBEDDING = auto()
    """A choice that needs embeddings."""
    TEMPLATE = auto()
    FREE_FORM = auto()
    """JSON of no known schema under a known key."""
    UNKNOWN = auto()
    """The value of a key that the model does not know."""


@dataclass(frozen=True, slots=True)
class WalkedField:
    """A field that the walk found in a customer's document."""

    kind: FieldKind
    path: Path
    value: Any
    owner: Any
    """The object that holds the value: a model or JSON."""
    mark: FieldMark | None = None
    expected: str | None = None
    """Description of the only value of a documented key of kind `UNKNOWN`."""
    known: frozenset[str] = frozenset()
    """The known keys of the object with an `UNKNOWN` key."""
    closed: bool = False
    """True if the object accepts only the unknown keys that its model lists."""


Models = type[BaseModel] | tuple[type[BaseModel], ...]
"""A model class, or the members of a union."""


def walk_fields(models: Models, value: Any, path: Path = ()) -> Iterator[WalkedField]:
    """Yields the marked fields in a value of `models`: an instance, or JSON, even invalid.

    An instance is walked as its own class.
    """
    if isinstance(value, BaseModel):
        plan = plan_of(type(value))
        fields, extra = value.__dict__, value.__pydantic_extra__ or {}
    elif isinstance(value, dict):
        plan, fields = plan_of(_member(models, value)), value
        extra = {key: below for key, below in value.items() if key not in plan.known}
    else:
        return
    for name, shape in plan.shapes.items():
        if (below := fields.get(name)) is not None:
            yield from _below(shape, below, (*path, name), value)
    for name, below in extra.items() if plan.open else ():
        if below is not None:
            yield WalkedField(
                _kind_of_extra(plan, name, below),
                (*path, name),
                below,
                value,
                expected=plan.documented.get(name),
                known=plan.names,
                closed=plan.accepted is not None and name not in plan.accepted,
            )


def _below(shape: Shape, value: Any, path: Path, owner: Any) -> Iterator[WalkedField]:
    match shape:
        case ModelUnion():
            yield from walk_fields(shape.models, value, path)
        case MixedUnion():
            member = _member_shape(shape, value)
            if member is not None:
                yield from _below(member, value, path, owner)
        case Collection():
            for key, item in _items(value):
                yield from _below(shape.of, item, (*path, key), value)
        case FreeFormValue():
            yield WalkedField(FieldKind.FREE_FORM, path, value, owner)
        case MarkedValue():
            yield from _marked(shape.mark, value, path, owner)
        case _:
            assert_never(shape)


def _marked(mark: FieldMark, value: Any, path: Path, owner: Any) -> Iterator[WalkedField]:
    match mark:
        case SecretMark():
            yield WalkedField(FieldKind.SECRET, path, value, owner, mark)
            return
        case AddressMark():
            kind = FieldKind.ADDRESS
        case TemplateMark():
            kind = FieldKind.TEMPLATE
        case JudgeMark():
            if value_of(owner, mark.elsewhere) is not None:
                return
            kind = FieldKind.JUDGE
        case EmbeddingMark():
            if value != mark.value:
                return
            kind = FieldKind.EMBEDDING
        case _:
            assert_never(mark)
    if isinstance(value, str):
        yield WalkedField(kind, path, value, owner, mark)


def _member_shape(shape: MixedUnion, value: Any) -> Shape | None:
    if isinstance(value, list | tuple):
        return shape.each
    return shape.text if isinstance(value, str) else shape.models


def _items(value: Any) -> Iterable[tuple[str | int, Any]]:
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, list | tuple) else ()


def headers_of(field: WalkedField) -> dict[str, Any] | None:
    """Returns the headers of an address, which are those of its owner."""
    match field.mark:
        case AddressMark(headers=name):
            sent = value_of(field.owner, name)
            return sent if isinstance(sent, dict) else None
        case SecretMark() | JudgeMark() | EmbeddingMark() | TemplateMark() | None:
            return None
        case _:
            assert_never(field.mark)


def value_of(holder: Any, name: str) -> Any:
    """Returns a value of a model or of its JSON; `None` if it is absent."""
    return holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)


def _kind_of_extra(plan: WalkPlan, name: str, value: Any) -> FieldKind:
    """Returns the kind of an extra key: a documented key of one value counts as free-form JSON, an
    object below it as unknown.
    """
    if name in plan.free_form:
        return FieldKind.FREE_FORM
    documented = name in plan.documented and not isinstance(value, dict | list | tuple)
    return FieldKind.FREE_FORM if documented else FieldKind.UNKNOWN


def _member(models: Models, value: dict[str, Any]) -> type[BaseModel]:
    """Returns the member of a union to which a value belongs, or the most similar one.

    A member's `type` decides; without it, the number of shared keys.
    """
    if isinstance(models, type):
        return models
    if len(models) == 1:
        return models[0]
    sent = value.get("type")
    tagged = [model for model in models if sent is not None and sent in plan_of(model).tags]
    return max(tagged or models, key=lambda model: len(plan_of(model).known & value.keys()))
