"""Describes `method` in the specification, beside the code that reads it.

A method is read as any JSON object and judged by the domain, so that unknown keys are kept and each
fault is named with its path. This says the same to readers and to generators of clients: each key,
its type, range and default. Must not check anything.
"""

from typing import Any

from pydantic import BaseModel, Field, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema
from pydantic_core.core_schema import definition_reference_schema, definitions_schema

from app.domain.graders.graders import Grader
from app.domain.methods.reinforcement import MAX_TOOLS, ReinforcementMethod
from app.domain.tools.tools import ToolSpec


class RegisteredReference(BaseModel):
    """A registered object in place of its definition."""

    id: str
    version: int | None = None
    """The newest when absent."""


class ReinforcementBody(ReinforcementMethod):
    """`method.reinforcement` of a create call."""

    grader: Grader | RegisteredReference  # type: ignore[assignment]  # wider before it is resolved
    tools: tuple[ToolSpec | RegisteredReference, ...] = Field(  # type: ignore[assignment]  # as above
        default=(), max_length=MAX_TOOLS
    )


class DescribedBy:
    """Annotation of a JSON object: in the specification it is `model`, whose own keys and those of
    its hyperparameters may be null, which is to leave them out.
    """

    def __init__(self, model: type[BaseModel]) -> None:
        self._model = model

    def __get_pydantic_json_schema__(
        self,
        core: CoreSchema,
        handler: GetJsonSchemaHandler,
    ) -> JsonSchemaValue:
        described = handler(_by_name(self._model.__pydantic_core_schema__))
        properties = _nullable(handler.resolve_ref_schema(described))
        if inner := properties.get("hyperparameters"):
            _nullable(handler.resolve_ref_schema(inner["anyOf"][0]))
        return described


def _by_name(schema: CoreSchema) -> CoreSchema:
    """So that it is a component of its own; alone, a model's schema is written out in its place."""
    if schema["type"] != "model":
        return schema
    return definitions_schema(definition_reference_schema(schema["ref"]), [schema])


def _nullable(schema: JsonSchemaValue) -> dict[str, Any]:
    """Its properties, each of which may be null too unless it is required."""
    properties: dict[str, Any] = schema["properties"]
    required = schema.get("required", ())
    for name, one in properties.items():
        if name not in required and {"type": "null"} not in one.get("anyOf", ()):
            about = {key: one[key] for key in ("title", "description", "default") if key in one}
            rest = {key: value for key, value in one.items() if key not in about}
            if isinstance(about.get("default"), dict | list):
                # Its own parts say as much, and generators of clients know no such defaults.
                del about["default"]
            kinds = rest["anyOf"] if set(rest) == {"anyOf"} else [rest]
            properties[name] = {"anyOf": [*kinds, {"type": "null"}], **about}
    return properties
