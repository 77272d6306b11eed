"""Reads the annotations of a customer's model: the shapes of the fields that a walk visits.

Must not know values. `app.domain.documents.walk` applies the shapes to instances and to JSON.
"""

import types
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Final, Literal, Union, assert_never, get_args, get_origin

from pydantic import BaseModel

from app.domain.documents.fields import (
    AddressMark,
    EmbeddingMark,
    JudgeMark,
    OpenKeys,
    SecretMark,
    TemplateMark,
)

_MARKS: Final = (SecretMark, AddressMark, JudgeMark, EmbeddingMark, TemplateMark)
FieldMark = SecretMark | AddressMark | JudgeMark | EmbeddingMark | TemplateMark


@dataclass(frozen=True, slots=True)
class MarkedValue:
    mark: FieldMark


@dataclass(frozen=True, slots=True)
class FreeFormValue:
    pass


@dataclass(frozen=True, slots=True)
class Collection:
    """A list or a map, whose values have one shape."""

    of: "Shape"


@dataclass(frozen=True, slots=True)
class ModelUnion:
    """One model, or one of several."""

    models: tuple[type[BaseModel], ...]


@dataclass(frozen=True, slots=True)
class MixedUnion:
    """A union of a text, an object of known models and a list; the value decides."""

    text: MarkedValue | None
    models: ModelUnion
    each: Collection | None


Shape = MarkedValue | FreeFormValue | Collection | ModelUnion | MixedUnion


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
    """True if the model keeps unknown keys."""
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
        return MarkedValue(mark)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        plan = plan_of(annotation)
        return ModelUnion((annotation,)) if plan.open or plan.shapes else None
    return FreeFormValue() if annotation is Any else _shape_of_generic(annotation)


def _shape_of_generic(annotation: Any) -> Shape | None:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _shape(arguments[0], arguments[1:])
    if origin in (Union, types.UnionType):
        return _union([shape for member in arguments if (shape := _shape(member)) is not None])
    if origin in (tuple, list, dict):
        below = _shape(arguments[1] if origin is dict else arguments[0])
        match below:
            case None | FreeFormValue():
                return below
            case MarkedValue() | Collection() | ModelUnion() | MixedUnion():
                return Collection(below)
            case _:
                assert_never(below)
    return None


def _union(members: list[Shape]) -> Shape | None:
    """Returns the shape of a union. Values decide between models, and between models, texts and
    lists; otherwise the first member of the union counts.
    """
    models: list[type[BaseModel]] = []
    text: MarkedValue | None = None
    each: Collection | None = None
    for shape in members:
        match shape:
            case ModelUnion():
                models.extend(shape.models)
            case MarkedValue():
                text = text or shape
            case Collection():
                each = each or shape
            case FreeFormValue() | MixedUnion():
                pass
            case _:
                assert_never(shape)
    if not models:
        return members[0] if members else None
    if text is None and each is None:
        return ModelUnion(tuple(models))
    return MixedUnion(text, ModelUnion(tuple(models)), each)
