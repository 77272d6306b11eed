"""The base of models that the published specification shows.

Owns the rule for the description of a field (the text under it in its class, else the common
meaning of its name in `COMMON_FIELDS`) and the mark of fields that a reply may leave out. The texts
are read from the source when the specification is built, not at the import of the class, which
would take a second. Must not know the models of the specification.
"""

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from pydantic import BaseModel, GetJsonSchemaHandler
from pydantic.fields import FieldInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from app.domain.texts.python_syntax import module_of

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
