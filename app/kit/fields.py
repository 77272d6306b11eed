"""The type of a JSON object whose keys this project does not fix."""

import ast
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Final, Self

from pydantic import BaseModel, Field, GetJsonSchemaHandler
from pydantic.fields import FieldInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from app.kit.texts import module_of

Json = dict[str, Any]


Path = tuple[str | int, ...]
_SHOWN_KEY: Final = 80
_SHOWN: Final = 400


def pointer(path: Path) -> str:
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in path)


def parameter(root: str, path: Path) -> str:
    """Returns the dotted form that errors name: `method.reinforcement.tools[0].server_url`.

    Long keys are cut, and so is the middle of a long path.
    """
    text = root
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part[:_SHOWN_KEY]}" if text else part[:_SHOWN_KEY]
    if len(text) <= _SHOWN:
        return text
    half = _SHOWN // 2
    return f"{text[:half]}…{text[-half:]}"


def replace_at(document: Any, at: str, value: Any) -> None:
    """Replaces the value at a pointer. Raises `KeyError` when the document has no such field."""
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
    """Converts the field's value to the URL that is called."""
    headers: str = "headers"
    """Name of the sibling field whose headers are sent to the address."""


@dataclass(frozen=True, slots=True)
class JudgeMark:
    """The name of a model that scores."""

    elsewhere: str = "base_url"
    """Name of the sibling field with another server; without it the service finds the model."""


@dataclass(frozen=True, slots=True)
class EmbeddingMark:
    """A choice, one value of which needs embeddings."""

    value: str


@dataclass(frozen=True, slots=True)
class TemplateMark:
    """A text with placeholders, filled for each sample."""


def chat_url(base_url: str) -> str:
    """Returns the URL as OpenAI's clients build it: the base contains the version, e.g. `…/v1`."""
    return base_url.rstrip("/") + "/chat/completions"


SecretHeaders = Annotated[dict[str, str], SecretMark()]
"""Headers that are sent to the address of the same object."""
SecretString = Annotated[str, Field(min_length=1, max_length=4000), SecretMark()]
"""One text that is a secret as a whole, such as a token."""
CustomerUrl = Annotated[str, Field(min_length=1, max_length=2048), AddressMark()]
CustomerBaseUrl = Annotated[str, Field(min_length=1, max_length=2000), AddressMark(chat_url)]
"""The base URL of an OpenAI-compatible server."""
JudgeName = Annotated[str, Field(min_length=1, max_length=256), JudgeMark()]


_NO_KEYS: Final[Mapping[str, str]] = MappingProxyType({})


class OpenKeys:
    """A mixin for models that accept unknown keys; it lists keys that are documented although they
    are not fields.
    """

    documented_keys: ClassVar[Mapping[str, str]] = _NO_KEYS
    """Documented keys with one value each, with the description of that value."""
    free_form_keys: ClassVar[frozenset[str]] = frozenset()
    """Documented keys whose value may be any JSON."""
    accepted_keys: ClassVar[frozenset[str] | None] = None
    """The only unknown keys that an object may have; `None` permits any, and drops it."""


LEFT_OUT: Final = "x-left-out"
"""Marks a field that a reply may lack; it is removed when the specification is complete."""
COMMON_FIELDS: Final[Mapping[str, str]] = MappingProxyType(
    {
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
)


class DescribedFields:
    """A mixin for models and dataclasses; gives their fields descriptions in the specification."""

    __slots__ = ()

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler, /
    ) -> JsonSchemaValue:
        schema = handler(core_schema)
        properties = handler.resolve_ref_schema(schema).get("properties", {})
        omitted = {name for name, field in _fields(cls).items() if field.exclude_if is not None}
        for name, described in properties.items():
            text = field_text(cls, name) or COMMON_FIELDS.get(name)
            if text is not None:
                described.setdefault("description", text)
            if name in omitted:
                described[LEFT_OUT] = True
        return schema


class DescribedModel(DescribedFields, BaseModel):
    """A model whose fields have descriptions in the specification."""

    @classmethod
    def read(cls, value: object, /, **given: Any) -> Self:
        """Makes the reply of a domain value: each field that is not given from the attribute of its
        name; a field without one keeps its default.
        """
        names = [name for name in cls.model_fields if name not in given and hasattr(value, name)]
        return cls(**{name: getattr(value, name) for name in names}, **given)


def _fields(owner: type) -> Mapping[str, FieldInfo]:
    """Returns the fields of a model, with their marks; empty for a dataclass, which leaves no field
    out.
    """
    return owner.model_fields if issubclass(owner, BaseModel) else {}


def field_text(owner: type, field: str) -> str | None:
    """Returns the text under a field in the most derived class that has it; `None` without one."""
    for base in owner.__mro__:
        if base.__module__.startswith("app."):
            text = _texts(base.__module__).get((base.__qualname__, field))
            if text is not None:
                return text
    return None


@cache
def _texts(module: str) -> Mapping[tuple[str, str], str]:
    """Returns the texts of a module by class and field."""
    tree = module_of(inspect.getsource(sys.modules[module]))
    return {
        (node.name, field): text
        for node in tree.body
        if isinstance(node, ast.ClassDef)
        for field, text in _texts_in(node)
    }


def _texts_in(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for statement, following in zip(node.body, node.body[1:], strict=False):
        match statement, following:
            case (
                ast.AnnAssign(target=ast.Name(id=field)),
                ast.Expr(value=ast.Constant(value=str() as text)),
            ):
                yield field, " ".join(text.split())
            case _:
                pass
