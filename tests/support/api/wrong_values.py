"""Builds bodies with one wrong value each, at every place that a schema has."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

WRONG: tuple[Any, ...] = ({"zz": []}, -1.5)
"""A place that admits both is free text or JSON of any kind."""
_DEEPEST = 12


@dataclass(frozen=True, slots=True)
class Schemas:
    """The schemas of a specification, for look-ups of references."""

    components: Mapping[str, Any]

    def wrong_bodies(self, schema: Mapping[str, Any]) -> Iterator[Any]:
        """Yields values of the schema that are wrong in one place; some are right after all."""
        yield from WRONG
        yield from self._wrong(schema, 0)

    def valid(self, schema: Mapping[str, Any], depth: int = 0) -> Any:
        """Returns a value with what the schema requires."""
        schema = self._resolved(schema)
        choices = [schema["const"]] if "const" in schema else schema.get("enum", ())
        members = _members(schema)
        if members:
            return self.valid(members[0], depth)
        value: Any = choices[0] if choices else None
        match None if choices else schema.get("type"):
            case "object" if depth < _DEEPEST:
                required = schema.get("required", ())
                value = {
                    name: self.valid(schema["properties"][name], depth + 1) for name in required
                }
            case "array":
                one = self.valid(schema.get("items", {}), depth + 1)
                value = [one] if schema.get("minItems") else []
            case "string":
                value = "x"
            case "integer" | "number":
                value = schema.get("minimum", 1)
            case "boolean":
                value = True
            case _:
                pass
        return value

    def _wrong(self, schema: Mapping[str, Any], depth: int) -> Iterator[Any]:
        if depth > _DEEPEST:
            return
        schema = self._resolved(schema)
        for member in _members(schema):
            yield from self._wrong(member, depth + 1)
        if schema.get("properties"):
            base = self.valid(schema)
            for name, inner in schema["properties"].items():
                for value in (*WRONG, *self._wrong(inner, depth + 1)):
                    yield {**base, name: value}
        elif isinstance(schema.get("additionalProperties"), dict):
            for value in (*WRONG, *self._wrong(schema["additionalProperties"], depth + 1)):
                yield {"key": value}
        if schema.get("type") == "array":
            for value in (*WRONG, *self._wrong(schema.get("items", {}), depth + 1)):
                yield [value]

    def _resolved(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        while "$ref" in schema:
            schema = self.components[schema["$ref"].rpartition("/")[2]]
        return schema


def _members(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    members: list[Mapping[str, Any]] = [
        *schema.get("anyOf", ()),
        *schema.get("oneOf", ()),
        *schema.get("allOf", ()),
    ]
    return members
