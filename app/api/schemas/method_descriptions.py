"""Describes `method` in the specification, apart from the code that reads it.

A method is read as any JSON object and validated by the domain, so that unknown keys are retained
and each fault is reported with its path. This module describes each key with its type, range and
default to readers and to client generators. Must not validate anything.
"""

from typing import Any

from pydantic import BaseModel, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema
from pydantic_core.core_schema import definition_reference_schema, definitions_schema


class DescribedBy:
    """Annotation of a JSON object that the specification describes as `model`. The keys of the
    model and of its hyperparameters may be null there, which means absent.
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
    """Wraps the schema, so that pydantic writes it as a component of its own, not inline."""
    name = schema.get("ref")
    if schema["type"] not in {"model", "function-after"} or not isinstance(name, str):
        return schema
    return definitions_schema(definition_reference_schema(name), [schema])


def _nullable(schema: JsonSchemaValue) -> dict[str, Any]:
    """Returns the schema's properties; each one that is not required may also be null."""
    properties: dict[str, Any] = schema["properties"]
    required = schema.get("required", ())
    for name, described in properties.items():
        if name not in required and {"type": "null"} not in described.get("anyOf", ()):
            about = {
                key: described[key]
                for key in ("title", "description", "default")
                if key in described
            }
            rest = {key: value for key, value in described.items() if key not in about}
            if isinstance(about.get("default"), dict | list):
                # The parts have the same defaults, and client generators cannot read object
                # defaults.
                del about["default"]
            kinds = rest["anyOf"] if set(rest) == {"anyOf"} else [rest]
            properties[name] = {"anyOf": [*kinds, {"type": "null"}], **about}
    return properties
