"""Fields of customers' documents: their marks and descriptions, and the walk over them.

The walk follows the annotations of the models, whether the document is valid or not.
"""

import ast
import inspect
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache, lru_cache
from itertools import pairwise
from typing import (
    Annotated,
    Any,
    ClassVar,
    Final,
    Literal,
    Self,
    Union,
    assert_never,
    get_args,
    get_origin,
)

from pydantic import BaseModel, Field, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from app.kit.texts import module_of

Json = dict[str, Any]

Path = tuple[str | int, ...]
_SHOWN: Final = 400


def pointer(path: Path) -> str:
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in path)


def parameter(root: str, path: Path) -> str:
    """Returns `method.reinforcement.tools[0].server_url`; long keys and paths are cut."""
    text = root
    for part in path:
        shown = f"[{part}]" if isinstance(part, int) else part[:80]
        text += shown if isinstance(part, int) or not text else f".{shown}"
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN // 2]}…{text[-_SHOWN // 2 :]}"


def replace_at(document: Any, at: str, value: Any) -> None:
    parts = [part.replace("~1", "/").replace("~0", "~") for part in at.split("/")[1:]]
    holder = document
    try:
        for part in parts[:-1]:
            holder = holder[int(part)] if isinstance(holder, list) else holder[part]
        last = int(parts[-1]) if isinstance(holder, list) else parts[-1]
        holder[last]
        holder[last] = value
    except (IndexError, TypeError, ValueError) as error:
        raise KeyError(at) from error


@dataclass(frozen=True, slots=True)
class SecretMark:
    """Every text at or below the field is a secret."""


@dataclass(frozen=True, slots=True)
class AddressMark:
    """An URL of the customer's that the service calls; its query values are secrets."""

    called: Callable[[str], str] = str
    headers: str = "headers"
    """Name of the sibling field whose headers are sent to the address."""


@dataclass(frozen=True, slots=True)
class JudgeMark:
    elsewhere: str = "base_url"


@dataclass(frozen=True, slots=True)
class EmbeddingMark:
    value: str


@dataclass(frozen=True, slots=True)
class TemplateMark:
    """A text with placeholders, filled for each sample."""


def chat_url(base_url: str) -> str:
    """Returns the URL as OpenAI's clients build it: the base contains the version, e.g. `…/v1`."""
    return base_url.rstrip("/") + "/chat/completions"


SecretHeaders = Annotated[dict[str, str], SecretMark()]
SecretString = Annotated[str, Field(min_length=1, max_length=4000), SecretMark()]
"""One text that is a secret as a whole, such as a token."""
CustomerUrl = Annotated[str, Field(min_length=1, max_length=2048), AddressMark()]
CustomerBaseUrl = Annotated[str, Field(min_length=1, max_length=2000), AddressMark(chat_url)]
JudgeName = Annotated[str, Field(min_length=1, max_length=256), JudgeMark()]

_NO_KEYS: Final[Mapping[str, str]] = {}


class OpenKeys:
    """A mixin for models that accept unknown keys, and document some of them."""

    documented_keys: ClassVar[Mapping[str, str]] = _NO_KEYS
    """Documented keys with one value each, with the description of that value."""
    free_form_keys: ClassVar[frozenset[str]] = frozenset()
    """Documented keys whose value may be any JSON."""
    accepted_keys: ClassVar[frozenset[str] | None] = None
    """The only unknown keys that an object may have; `None` permits any, and drops it."""


LEFT_OUT: Final = "x-left-out"
"""Marks a field that a reply may lack; it is removed when the specification is complete."""
COMMON_FIELDS: Final[Mapping[str, str]] = {
    "id": "Id of the object.",
    "object": "Type of the object; each type has one constant value.",
    "created_at": "Unix seconds at which the object was made.",
    "updated_at": "Unix seconds of the last change.",
    "metadata": "Up to 16 pairs of text of the user's own; the service does not read them.",
    "name": "Name for readers; it need not be unique.",
    "type": "Selects the kind of the object.",
    "version": "Number of the version, from 1.",
    "expires_at": "Unix seconds at which it expires; `null`: it does not expire.",
    "prompt_tokens": "Tokens of prompts.",
    "completion_tokens": "Tokens that were sampled.",
    "deleted": "True: the object is deleted.",
    "fine_tuning_job_id": "Id of the job.",
    "eval_id": "Id of the eval.",
    "run_id": "Id of the eval run.",
    "project_id": "Id of the project.",
    "shared_with_openai": "Always false.",
}


class DescribedFields:
    """A mixin for models and dataclasses; gives their fields descriptions in the specification."""

    __slots__ = ()

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler, /
    ) -> JsonSchemaValue:
        schema = handler(core_schema)
        properties = handler.resolve_ref_schema(schema).get("properties", {})
        fields = cls.model_fields if issubclass(cls, BaseModel) else {}
        for name, described in properties.items():
            text = field_text(cls, name) or COMMON_FIELDS.get(name)
            if text is not None:
                described.setdefault("description", text)
            if name in fields and fields[name].exclude_if is not None:
                described[LEFT_OUT] = True
        return schema


class DescribedModel(DescribedFields, BaseModel):
    @classmethod
    def read(cls, *values: object, **given: Any) -> Self:
        """Makes the reply of domain values: each field that is not given from the attribute of its
        name, of the first value that has it; a field without one keeps its default. Values inside
        become nested replies alike.
        """
        found = {
            name: getattr(each, name)
            for each in reversed(values)
            for name in cls.model_fields
            if hasattr(each, name)
        }
        return cls.model_validate({**found, **given}, from_attributes=True)


def field_text(owner: type, field: str) -> str | None:
    for base in owner.__mro__:
        if base.__module__.startswith("app."):
            text = _texts(base.__module__).get((base.__qualname__, field))
            if text is not None:
                return text
    return None


@cache
def _texts(module: str) -> Mapping[tuple[str, str], str]:
    texts = {}
    tree = module_of(inspect.getsource(sys.modules[module]))
    for node in (each for each in tree.body if isinstance(each, ast.ClassDef)):
        for statement, following in pairwise(node.body):
            match statement, following:
                case (
                    ast.AnnAssign(target=ast.Name(id=field)),
                    ast.Expr(value=ast.Constant(value=str() as text)),
                ):
                    texts[node.name, field] = " ".join(text.split())
                case _:
                    pass
    return texts


_MARKS: Final = (SecretMark, AddressMark, JudgeMark, EmbeddingMark, TemplateMark)
FieldMark = SecretMark | AddressMark | JudgeMark | EmbeddingMark | TemplateMark


@dataclass(frozen=True, slots=True)
class Shape:
    """What the values of a field may be; the value decides between the members of a union."""

    mark: FieldMark | None = None
    models: tuple[type[BaseModel], ...] = ()
    each: "Shape | None" = None


@dataclass(frozen=True, slots=True)
class WalkPlan:
    shapes: dict[str, Shape]
    known: frozenset[str]
    free_form: frozenset[str]
    documented: Mapping[str, str]
    accepted: frozenset[str] | None
    open: bool
    tags: tuple[Any, ...]

    @property
    def names(self) -> frozenset[str]:
        return self.known | self.free_form | self.documented.keys()


@lru_cache(maxsize=256)
def plan_of(model: type[BaseModel]) -> WalkPlan:
    shapes = {
        name: shape
        for name, field in model.model_fields.items()
        if (shape := _shape(field.annotation, tuple(field.metadata))) is not None
    }
    keys = model if issubclass(model, OpenKeys) else OpenKeys
    kind = model.model_fields.get("type")
    return WalkPlan(
        shapes=shapes,
        known=frozenset(model.model_fields),
        free_form=keys.free_form_keys,
        documented=keys.documented_keys,
        accepted=keys.accepted_keys,
        open=model.model_config.get("extra") == "allow",
        tags=get_args(kind.annotation) if kind and get_origin(kind.annotation) is Literal else (),
    )


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
        members = [shape for member in arguments if (shape := _shape(member)) is not None]
        return (
            Shape(
                next((shape.mark for shape in members if shape.mark is not None), None),
                tuple(model for shape in members for model in shape.models),
                next((shape.each for shape in members if shape.each is not None), None),
            )
            if members
            else None
        )
    if origin in (tuple, list, dict):
        below = _shape(arguments[1] if origin is dict else arguments[0])
        return None if below is None else Shape(each=below)
    return None


class FieldKind(Enum):
    SECRET = auto()
    """A text, or an object of texts such as headers."""
    ADDRESS = auto()
    JUDGE = auto()
    EMBEDDING = auto()
    TEMPLATE = auto()
    UNKNOWN = auto()
    """The value of a key that the model does not know, which is never stored."""


@dataclass(frozen=True, slots=True)
class WalkedField:
    kind: FieldKind
    path: Path
    value: Any
    owner: Any
    mark: FieldMark | None = None
    expected: str | None = None
    known: frozenset[str] = frozenset()
    closed: bool = False
    """True if the object accepts only the unknown keys that its model lists."""


Models = type[BaseModel] | tuple[type[BaseModel], ...]


def walk_fields(models: Models, value: Any, path: Path = ()) -> Iterator[WalkedField]:
    """Yields the marked fields of an instance, by its own class, or of JSON, even invalid."""
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
        one_value = name in plan.documented and not isinstance(below, dict | list | tuple)
        if not one_value and name not in plan.free_form:
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
        items = enumerate(value) if isinstance(value, list | tuple) else ()
        for key, item in value.items() if isinstance(value, dict) else items:
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


def headers_of(field: WalkedField) -> dict[str, Any] | None:
    mark = field.mark
    sent = value_of(field.owner, mark.headers) if isinstance(mark, AddressMark) else None
    return sent if isinstance(sent, dict) else None


def value_of(holder: Any, name: str) -> Any:
    return holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)


def _member(models: Models, value: dict[str, Any]) -> type[BaseModel]:
    if isinstance(models, type):
        return models
    sent = value.get("type")
    tagged = [model for model in models if sent is not None and sent in plan_of(model).tags]
    return max(tagged or models, key=lambda model: len(plan_of(model).known & value.keys()))
