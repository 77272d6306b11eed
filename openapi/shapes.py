"""Reads a JSON Schema flat: types, closed values, fields, variants, items.

Both checkers of the specification use it. It resolves references inside one document.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Schema = Mapping[str, Any]
ANY = "any"
_TAGS = ("type", "object", "role")
_PLAIN = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


@dataclass(frozen=True, slots=True)
class Shape:
    types: frozenset[str]
    """JSON types, including `null`; `any` without a type. A number includes integers."""
    values: frozenset[str] | None
    """The only strings allowed, or None when every string is."""
    fields: Mapping[str, Schema]
    required: frozenset[str]
    variants: Mapping[str, Schema]
    """Objects tagged by a constant (`type`, `object` or `role`); then `fields` is empty."""
    items: Schema | None


@dataclass(slots=True)
class Reader:
    document: Mapping[str, Any]
    _shapes: dict[int, tuple[Schema, Shape]] = field(default_factory=dict)

    def shape(self, schema: Schema) -> Shape:
        known = self._shapes.get(id(schema))
        if known is None:
            known = (schema, self._read(list(self._alternatives(schema))))
            self._shapes[id(schema)] = known
        return known[1]

    def resolved(self, node: Mapping[str, Any]) -> Mapping[str, Any]:
        """Returns the node itself, or the target of its reference."""
        while "$ref" in node:
            found: Any = self.document
            for part in node["$ref"].removeprefix("#/").split("/"):
                found = found[part.replace("~1", "/").replace("~0", "~")]
            node = found
        return node

    def _alternatives(self, schema: Schema) -> Iterator[Schema]:
        schema = self.resolved(schema)
        unions = schema.get("anyOf", schema.get("oneOf"))
        if unions is not None:
            for union in unions:
                yield from self._alternatives(union)
        elif "allOf" in schema:
            yield self._merged([*schema["allOf"], {**schema, "allOf": None}])
        elif isinstance(schema.get("type"), list):
            for name in schema["type"]:
                yield {**schema, "type": name}
        else:
            yield schema

    def _merged(self, parts: Sequence[Schema]) -> Schema:
        whole: dict[str, Any] = {"properties": {}, "required": []}
        for part in parts:
            found: list[Schema]
            if part.get("allOf", ...) is None:
                part = {key: value for key, value in part.items() if key != "allOf"}  # noqa: PLW2901 - the rest of the schema itself
                found = [part]
            else:
                found = list(self._alternatives(part))
            for schema in found:
                whole["properties"].update(schema.get("properties", {}))
                whole["required"] += schema.get("required", [])
                whole |= {k: v for k, v in schema.items() if k not in {"properties", "required"}}
        if not whole["properties"]:
            del whole["properties"]
        return whole

    def _read(self, found: Sequence[Schema]) -> Shape:
        objects = [schema for schema in found if "properties" in schema]
        tagged = [(self.tag(schema), schema) for schema in objects]
        if len(objects) > 1 and all(tag is not None for tag, _ in tagged):
            variants = {
                tag: _either([schema for name, schema in tagged if name == tag])
                for tag in dict.fromkeys(str(tag) for tag, _ in tagged)
            }
            fields: dict[str, Schema] = {}
            required: frozenset[str] = frozenset()
        else:
            variants = {}
            names = dict.fromkeys(name for schema in objects for name in schema["properties"])
            fields = {
                name: _either(
                    [
                        schema["properties"][name]
                        for schema in objects
                        if name in schema["properties"]
                    ]
                )
                for name in names
            }
            sets = [frozenset(schema.get("required", ())) for schema in objects]
            required = frozenset.intersection(*sets) if sets else frozenset()
        arrays = [schema["items"] for schema in found if "items" in schema]
        return Shape(
            types=_types(found),
            values=_values(found),
            fields=fields,
            required=required,
            variants=variants,
            items=_either(arrays) if arrays else None,
        )

    def tag(self, schema: Schema) -> str | None:
        """Returns the constant that distinguishes an object from its alternatives."""
        properties = self.resolved(schema).get("properties", {})
        for name in _TAGS:
            if name in properties:
                values = self.shape(properties[name]).values
                if values is not None and len(values) == 1:
                    return next(iter(values))
        return None


def _either(schemas: Sequence[Schema]) -> Schema:
    return schemas[0] if len(schemas) == 1 else {"anyOf": list(schemas)}


def _types(found: Sequence[Schema]) -> frozenset[str]:
    names = {name for schema in found for name in _types_of(schema)}
    if "number" in names:
        names.discard("integer")
    return frozenset({ANY} if ANY in names else names)


def _types_of(schema: Schema) -> set[str]:
    if "type" in schema:
        return {schema["type"]}
    if "const" in schema or "enum" in schema:
        return {_PLAIN[type(value)] for value in [schema.get("const")] if "const" in schema} or {
            _PLAIN[type(value)] for value in schema["enum"]
        }
    if "properties" in schema:
        return {"object"}
    return {"array"} if "items" in schema else {ANY}


def _values(found: Sequence[Schema]) -> frozenset[str] | None:
    strings = [schema for schema in found if "string" in _types_of(schema)]
    if not strings or any("enum" not in schema and "const" not in schema for schema in strings):
        return None
    values = [value for schema in strings for value in schema.get("enum", [schema.get("const")])]
    return frozenset(value for value in values if isinstance(value, str))
