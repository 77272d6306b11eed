"""Walks a customer's model by type: secrets, addresses, judges, unknown keys, with their paths.

Owns the one traversal behind sealing, redaction, address checks, preflight and the registry. It
reads a model's annotations, and works on instances as well as on JSON, valid or not. Must not know
any particular model.
"""

import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache
from typing import Annotated, Any, Final, Literal, Union, assert_never, get_args, get_origin

from pydantic import BaseModel

from app.domain.documents.fields import AddressMark, JudgeMark, OpenKeys, SecretMark, TemplateMark
from app.domain.documents.pointers import Path

_MARKS: Final = (SecretMark, AddressMark, JudgeMark, TemplateMark)
_Mark = SecretMark | AddressMark | JudgeMark | TemplateMark


class Kind(Enum):
    SECRET = auto()
    """A text, or an object of texts such as headers."""
    ADDRESS = auto()
    JUDGE = auto()
    TEMPLATE = auto()
    FREE_FORM = auto()
    """JSON of no known schema under a known key."""
    UNKNOWN = auto()
    """The value of a key that the model does not know."""


@dataclass(frozen=True, slots=True)
class WalkedField:
    """A field that a walk found in a customer's document."""

    kind: Kind
    path: Path
    value: Any
    owner: Any
    """The object that holds the value: a model or JSON."""
    mark: _Mark | None = None
    expected: str | None = None
    """The words for the one value that a documented key of kind `UNKNOWN` takes."""
    known: frozenset[str] = frozenset()
    """The keys that the object beside an `UNKNOWN` one may have."""
    closed: bool = False
    """The object takes no unknown key but those that its model lists."""


@dataclass(frozen=True, slots=True)
class _Marked:
    mark: _Mark


@dataclass(frozen=True, slots=True)
class _FreeForm:
    pass


@dataclass(frozen=True, slots=True)
class _Each:
    """A list or a map, whose values have one shape."""

    of: "_Shape"


@dataclass(frozen=True, slots=True)
class _OneOf:
    """One model, or one of several."""

    models: tuple[type[BaseModel], ...]


@dataclass(frozen=True, slots=True)
class _Either:
    """A union of a text, an object of known models and a list; the value decides."""

    text: _Marked | None
    models: _OneOf
    each: _Each | None


_Shape = _Marked | _FreeForm | _Each | _OneOf | _Either


@dataclass(frozen=True, slots=True)
class _Plan:
    """The walk of one model class."""

    shapes: dict[str, _Shape]
    """Fields that may hold anything of interest."""
    known: frozenset[str]
    free_form: frozenset[str]
    documented: Mapping[str, str]
    accepted: frozenset[str] | None
    open: bool
    """Keeps unknown keys."""

    @property
    def names(self) -> frozenset[str]:
        return self.known | self.free_form | self.documented.keys()


Models = type[BaseModel] | tuple[type[BaseModel], ...]
"""A model class, or the members of a union."""


def walk_fields(models: Models, value: Any, path: Path = ()) -> Iterator[WalkedField]:
    """Yields the fields that need care in a value of `models`: an instance, or JSON however wrong.

    An instance is walked as the class it is of.
    """
    if isinstance(value, BaseModel):
        plan = _plan(type(value))
        fields, extra = value.__dict__, value.__pydantic_extra__ or {}
    elif isinstance(value, dict):
        plan, fields = _plan(_member(models, value)), value
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


def _below(shape: _Shape, value: Any, path: Path, owner: Any) -> Iterator[WalkedField]:
    match shape:
        case _OneOf():
            yield from walk_fields(shape.models, value, path)
        case _Either():
            member = _member_shape(shape, value)
            if member is not None:
                yield from _below(member, value, path, owner)
        case _Each():
            for key, item in _items(value):
                yield from _below(shape.of, item, (*path, key), value)
        case _FreeForm():
            yield WalkedField(Kind.FREE_FORM, path, value, owner)
        case _Marked():
            yield from _marked(shape.mark, value, path, owner)
        case _:
            assert_never(shape)


def _marked(mark: _Mark, value: Any, path: Path, owner: Any) -> Iterator[WalkedField]:
    match mark:
        case SecretMark():
            yield WalkedField(Kind.SECRET, path, value, owner, mark)
            return
        case AddressMark():
            kind = Kind.ADDRESS
        case TemplateMark():
            kind = Kind.TEMPLATE
        case JudgeMark():
            if _beside(owner, mark.elsewhere) is not None:
                return
            kind = Kind.JUDGE
        case _:
            assert_never(mark)
    if isinstance(value, str):
        yield WalkedField(kind, path, value, owner, mark)


def _member_shape(shape: _Either, value: Any) -> _Shape | None:
    if isinstance(value, list | tuple):
        return shape.each
    return shape.text if isinstance(value, str) else shape.models


def _items(value: Any) -> Iterable[tuple[str | int, Any]]:
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, list | tuple) else ()


def headers_of(field: WalkedField) -> dict[str, Any] | None:
    """Returns the headers that an address receives: those of its owner."""
    sent = _beside(field.owner, field.mark.headers) if isinstance(field.mark, AddressMark) else None
    return sent if isinstance(sent, dict) else None


def _beside(owner: Any, name: str) -> Any:
    return owner.get(name) if isinstance(owner, dict) else getattr(owner, name, None)


def _kind_of_extra(plan: _Plan, name: str, value: Any) -> Kind:
    """A documented key of one value counts as free-form JSON, an object below it as unknown."""
    if name in plan.free_form:
        return Kind.FREE_FORM
    documented = name in plan.documented and not isinstance(value, dict | list | tuple)
    return Kind.FREE_FORM if documented else Kind.UNKNOWN


def _member(models: Models, value: dict[str, Any]) -> type[BaseModel]:
    """Returns the member of a union that a value is of, or the likeliest where it is none.

    A member's `type` decides; without it, the number of the member's keys that the value has.
    """
    if isinstance(models, type):
        return models
    if len(models) == 1:
        return models[0]
    sent = value.get("type")
    tagged = [model for model in models if sent is not None and sent in _tags(model)]
    return max(tagged or models, key=lambda model: len(_plan(model).known & value.keys()))


def _tags(model: type[BaseModel]) -> tuple[Any, ...]:
    field = model.model_fields.get("type")
    return () if field is None else _literals(field.annotation)


def _literals(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if get_origin(annotation) is Literal else ()


@lru_cache(maxsize=256)
def _plan(model: type[BaseModel]) -> _Plan:
    shapes = {}
    for name, field in model.model_fields.items():
        shape = _shape(field.annotation, tuple(field.metadata))
        if shape is not None:
            shapes[name] = shape
    keys = model if issubclass(model, OpenKeys) else OpenKeys
    return _Plan(
        shapes=shapes,
        known=frozenset(model.model_fields),
        free_form=keys.free_form_keys,
        documented=keys.documented_keys,
        accepted=keys.accepted_keys,
        open=model.model_config.get("extra") == "allow",
    )


def _shape(annotation: Any, metadata: tuple[Any, ...] = ()) -> _Shape | None:
    """Returns the shape of values of this annotation; `None` where the walk finds nothing."""
    mark = next((note for note in metadata if isinstance(note, _MARKS)), None)
    if mark is not None:
        return _Marked(mark)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        plan = _plan(annotation)
        return _OneOf((annotation,)) if plan.open or plan.shapes else None
    return _FreeForm() if annotation is Any else _shape_of_generic(annotation)


def _shape_of_generic(annotation: Any) -> _Shape | None:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _shape(arguments[0], arguments[1:])
    if origin in (Union, types.UnionType):
        return _union([shape for member in arguments if (shape := _shape(member)) is not None])
    if origin in (tuple, list, dict):
        below = _shape(arguments[1] if origin is dict else arguments[0])
        return below if below is None or isinstance(below, _FreeForm) else _Each(below)
    return None


def _union(members: list[_Shape]) -> _Shape | None:
    """Values decide between models, and between models, texts and lists; otherwise the first member
    of the union counts.
    """
    models = tuple(
        model for shape in members if isinstance(shape, _OneOf) for model in shape.models
    )
    if not models:
        return members[0] if members else None
    text = next((shape for shape in members if isinstance(shape, _Marked)), None)
    each = next((shape for shape in members if isinstance(shape, _Each)), None)
    if text is None and each is None:
        return _OneOf(models)
    return _Either(text, _OneOf(models), each)
