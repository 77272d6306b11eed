"""Walks a customer's document by the annotations of its models, whether it is valid or not."""

import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache
from typing import Annotated, Any, Final, Literal, Union, assert_never, get_args, get_origin

from pydantic import BaseModel

from app.kit.fields import (
    AddressMark,
    EmbeddingMark,
    JudgeMark,
    OpenKeys,
    Path,
    SecretMark,
    TemplateMark,
)

_MARKS: Final = (SecretMark, AddressMark, JudgeMark, EmbeddingMark, TemplateMark)
FieldMark = SecretMark | AddressMark | JudgeMark | EmbeddingMark | TemplateMark


@dataclass(frozen=True, slots=True)
class Shape:
    """What the values of a field may be; the value decides between the members of a union."""

    mark: FieldMark | None = None
    models: tuple[type[BaseModel], ...] = ()
    each: "Shape | None" = None
    """The shape of the values of a list or a map."""


@dataclass(frozen=True, slots=True)
class WalkPlan:
    """The walk of one model class."""

    shapes: dict[str, Shape]
    """Fields that may contain a marked value."""
    known: frozenset[str]
    free_form: frozenset[str]
    documented: Mapping[str, str]
    accepted: frozenset[str] | None
    open: bool
    """True if the model accepts unknown keys."""
    tags: tuple[Any, ...]
    """Values of `type` that belong to the model."""

    @property
    def names(self) -> frozenset[str]:
        return self.known | self.free_form | self.documented.keys()


@lru_cache(maxsize=256)
def plan_of(model: type[BaseModel]) -> WalkPlan:
    shapes = {}
    for name, field in model.model_fields.items():
        shape = _shape(field.annotation, tuple(field.metadata))
        if shape is not None:
            shapes[name] = shape
    keys = model if issubclass(model, OpenKeys) else OpenKeys
    return WalkPlan(
        shapes=shapes,
        known=frozenset(model.model_fields),
        free_form=keys.free_form_keys,
        documented=keys.documented_keys,
        accepted=keys.accepted_keys,
        open=model.model_config.get("extra") == "allow",
        tags=_tags(model),
    )


def _tags(model: type[BaseModel]) -> tuple[Any, ...]:
    field = model.model_fields.get("type")
    if field is None or get_origin(field.annotation) is not Literal:
        return ()
    return get_args(field.annotation)


def _shape(annotation: Any, metadata: tuple[Any, ...] = ()) -> Shape | None:
    """Returns the shape of values of this annotation; `None` if the walk need not visit them."""
    mark = next((note for note in metadata if isinstance(note, _MARKS)), None)
    if mark is not None:
        return Shape(mark)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        plan = plan_of(annotation)
        return Shape(models=(annotation,)) if plan.open or plan.shapes else None
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _shape(arguments[0], arguments[1:])
    if origin in (Union, types.UnionType):
        return _union([shape for member in arguments if (shape := _shape(member)) is not None])
    if origin in (tuple, list, dict):
        below = _shape(arguments[1] if origin is dict else arguments[0])
        return None if below is None else Shape(each=below)
    return None


def _union(members: list[Shape]) -> Shape | None:
    if not members:
        return None
    return Shape(
        next((shape.mark for shape in members if shape.mark is not None), None),
        tuple(model for shape in members for model in shape.models),
        next((shape.each for shape in members if shape.each is not None), None),
    )


class FieldKind(Enum):
    SECRET = auto()
    """A text, or an object of texts such as headers."""
    ADDRESS = auto()
    JUDGE = auto()
    EMBEDDING = auto()
    """A choice that needs embeddings."""
    TEMPLATE = auto()
    UNKNOWN = auto()
    """The value of a key that the model does not know, which is never stored."""


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
    for field in walk_with_nulls(models, value, path):
        if field.value is not None:
            yield field


def walk_with_nulls(models: Models, value: Any, path: Path = ()) -> Iterator[WalkedField]:
    """Does the same, and yields unknown keys that are null too."""
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
        if not _is_documented(plan, name, below):
            yield WalkedField(
                FieldKind.UNKNOWN,
                (*path, name),
                below,
                value,
                expected=plan.documented.get(name),
                known=plan.names,
                closed=plan.accepted is not None and name not in plan.accepted,
            )


def _below(shape: Shape, value: Any, path: Path, owner: Any) -> Iterator[WalkedField]:
    if shape.mark is not None and (isinstance(value, str) or not (shape.models or shape.each)):
        yield from _marked(shape.mark, value, path, owner)
    elif shape.each is not None and (isinstance(value, list | tuple) or not shape.models):
        for key, item in _items(value):
            yield from _below(shape.each, item, (*path, key), value)
    elif shape.models:
        yield from walk_with_nulls(shape.models, value, path)


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


def _is_documented(plan: WalkPlan, name: str, value: Any) -> bool:
    """Returns whether a key beside the fields is stored as sent; one with an object in place of its
    one value is not.
    """
    if name in plan.free_form:
        return True
    return name in plan.documented and not isinstance(value, dict | list | tuple)


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
