"""Counts the work of validating by a JSON Schema, before the schema is compiled.

The validator follows each path of references separately: in a chain of definitions that each refer
to the next one twice, every link doubles the work. The count covers each definition once per path,
in time proportional to the schema. A schema may be recursive if it applies to each value of a
sample once, as in a tree; otherwise the work would double with the depth of the sample. Pure.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote

MAX_CHECKS: Final = 2_000
"""Largest number of checks of one schema, along all paths of its references."""
MAX_PATTERN_BYTES: Final = 2**22
_ENTRIES_PER_CHECK: Final = 8
_MAX_STEPS: Final = 50_000
"""Largest number of steps of the search in recursive definitions."""
_MAX_SUM: Final = 2**62
_INDEX: Final = re.compile("[0-9]{1,7}")
_LISTS: Final = ("allOf", "anyOf", "oneOf")
_SINGLE: Final = ("not", "if", "then", "else")
_MAPS: Final = ("dependentSchemas", "dependencies")
_REFERENCES: Final = ("$ref", "$dynamicRef")
_OBJECT_REST: Final = ("additionalProperties", "unevaluatedProperties")
_ARRAY_EVERY: Final = ("contains", "unevaluatedItems")

Schema = dict[str, Any]


class SchemaCostFault(ValueError):
    """Reports why a schema could take too much work. The text is for its author."""


@dataclass(frozen=True, slots=True)
class SchemaCost:
    checks: int
    """Subschemas, once per path that leads to them."""
    pattern_bytes: int
    """Sizes of the compiled patterns, once per path that leads to them."""


@dataclass(slots=True)
class _Node:
    schema: Schema
    here: list[int]
    """Subschemas that apply to the same value."""
    below: list[int]
    """Subschemas that apply to values inside the value."""

    def all(self) -> list[int]:
        return self.here + self.below


def schema_cost(root: Schema, pattern_size: Callable[[str], int]) -> SchemaCost:
    """Returns the cost. Raises `SchemaCostFault`."""
    nodes = _graph(root)
    live = _left_by_peeling({key: node.all() for key, node in nodes.items()})
    before: dict[int, list[int]] = {key: [] for key in live}
    for key in live:
        for target in nodes[key].all():
            if target in live:
                before[target].append(key)
    core = _left_by_peeling(before)
    _check_loops(nodes, core)
    checks = _sum_of_paths(
        nodes, core, id(root), {key: _own_checks(node.schema) for key, node in nodes.items()}
    )
    if checks > MAX_CHECKS:
        raise SchemaCostFault(
            f"its references lead to more than {MAX_CHECKS} checks; name each definition less often"
        )
    sizes = dict.fromkeys(nodes, 0)
    left = MAX_PATTERN_BYTES
    for key, node in nodes.items():
        for pattern in _patterns(node.schema):
            sizes[key] += pattern_size(pattern)
        left -= sizes[key]
        if left < 0:
            raise SchemaCostFault("its patterns are too large together")
    return SchemaCost(checks, _sum_of_paths(nodes, core, id(root), sizes))


def _own_checks(schema: Schema) -> int:
    lists = (schema.get(key) for key in ("enum", "required"))
    entries = sum(len(each) for each in lists if isinstance(each, list))
    return 1 + entries // _ENTRIES_PER_CHECK + len(_map(schema, "patternProperties"))


def _patterns(schema: Schema) -> Iterator[str]:
    pattern, keyed = schema.get("pattern"), schema.get("patternProperties")
    if isinstance(pattern, str):
        yield pattern
    if isinstance(keyed, dict):
        yield from keyed


def _graph(root: Schema) -> dict[int, _Node]:
    """Returns the subschemas that can be reached, by identity."""
    anchors = _anchors(root)
    nodes = dict[int, _Node]()
    waiting: list[Schema] = [root]
    while waiting:
        schema = waiting.pop()
        if id(schema) in nodes:
            continue
        here = [*_here(schema), *_referred(root, schema, anchors)]
        if "unevaluatedProperties" in schema or "unevaluatedItems" in schema:
            here *= 2  # the engine asks each of them once more for what it has evaluated
        below = list(_below(schema))
        nodes[id(schema)] = _Node(schema, [id(each) for each in here], [id(each) for each in below])
        waiting += here + below
    return nodes


def _schemas(values: Any) -> list[Schema]:
    return [each for each in values if isinstance(each, dict)]


def _here(schema: Schema) -> Iterator[Schema]:
    for key in _LISTS:
        if isinstance(schema.get(key), list):
            yield from _schemas(schema[key])
    for key in _MAPS:
        if isinstance(schema.get(key), dict):
            yield from _schemas(schema[key].values())
    yield from _schemas(schema.get(key) for key in _SINGLE)


def _below(schema: Schema) -> Iterator[Schema]:
    for key in ("properties", "patternProperties"):
        if isinstance(schema.get(key), dict):
            yield from _schemas(schema[key].values())
    if isinstance(schema.get("prefixItems"), list):
        yield from _schemas(schema["prefixItems"])
    yield from _schemas(
        schema.get(key) for key in (*_OBJECT_REST, *_ARRAY_EVERY, "items", "propertyNames")
    )


def _anchors(root: Schema) -> dict[str, Schema]:
    """Returns the objects by anchor."""
    found = dict[str, Schema]()
    refers, inner = False, False
    waiting: list[Any] = [root]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += value
        if not isinstance(value, dict):
            continue
        waiting += value.values()
        for key in ("$anchor", "$dynamicAnchor"):
            name = value.get(key)
            if isinstance(name, str) and found.setdefault(name, value) is not value:
                raise SchemaCostFault("an anchor's name occurs twice")
        refers = refers or any(isinstance(value.get(key), str) for key in _REFERENCES)
        inner = inner or (value is not root and isinstance(value.get("$id"), str))
    if refers and inner:
        raise SchemaCostFault("an '$id' below its root is not allowed next to a '$ref'")
    return found


def _referred(root: Schema, schema: Schema, anchors: dict[str, Schema]) -> Iterator[Schema]:
    for key in _REFERENCES:
        reference = schema.get(key)
        if isinstance(reference, str):
            yield from _targets(root, reference, anchors)


def _targets(root: Schema, reference: str, anchors: dict[str, Schema]) -> list[Schema]:
    base, _, fragment = reference.partition("#")
    if base and base != str(root.get("$id", "")).removesuffix("#"):
        raise SchemaCostFault(
            "a '$ref' points outside the schema; external schemas are not fetched"
        )
    fragment = unquote(fragment)
    if fragment and not fragment.startswith("/"):
        return _schemas([anchors.get(fragment)])
    value: Any = root
    for part in fragment.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list) and _INDEX.fullmatch(name):
            value = value[int(name)] if int(name) < len(value) else None
        else:
            value = value.get(name) if isinstance(value, dict) else None
    return _schemas([value])


def _left_by_peeling(targets: dict[int, list[int]]) -> set[int]:
    """Returns the nodes from which a path leads to a loop."""
    return targets.keys() - set(_leaves_first(targets))


def _leaves_first(targets: dict[int, list[int]]) -> list[int]:
    """Returns the nodes outside loops in topological order, targets first."""
    open_targets = {key: len(each) for key, each in targets.items()}
    sources = dict[int, list[int]]()
    for key, each in targets.items():
        for target in each:
            sources.setdefault(target, []).append(key)
    order = [key for key, count in open_targets.items() if count == 0]
    for key in order:  # grows meanwhile
        for source in sources.get(key, ()):
            open_targets[source] -= 1
            if open_targets[source] == 0:
                order.append(source)
    return order


def _sum_of_paths(nodes: dict[int, _Node], core: set[int], root: int, own: dict[int, int]) -> int:
    """Returns the sum over all paths from the root. The nodes of all loops together count once,
    since only one of them applies to each value.
    """
    outside = {
        key: [target for target in node.all() if target not in core] for key, node in nodes.items()
    }
    order = _leaves_first(outside)
    sums = dict[int, int]()

    def add(keys: list[int], looped: int) -> None:
        for key in keys:
            entries = 0 if key in core else len(nodes[key].all()) - len(outside[key])
            total = own[key] + entries * looped + sum(sums[each] for each in outside[key])
            sums[key] = min(total, _MAX_SUM)

    add(order, 0)  # right for what a loop leads to
    looped = sum(sums[key] for key in core)
    add(order, looped)
    return looped if root in core else sums[root]


def _check_loops(nodes: dict[int, _Node], core: set[int]) -> None:
    """Raises `SchemaCostFault` if a recursive definition could apply to a value more than once."""
    here = {key: [each for each in nodes[key].here if each in core] for key in core}
    order = _leaves_first(here)
    if len(order) < len(core):
        raise SchemaCostFault(
            "a '$ref' in it refers back to itself without descending into the value"
        )
    together = dict[int, Counter[int]]()
    steps = 0
    for key in order:
        met = together[key] = Counter([key])
        for target in here[key]:
            met.update(together[target])
        steps += sum(count + len(nodes[each].below) for each, count in met.items())
        if steps > _MAX_STEPS:
            raise SchemaCostFault("it has too many recursive references")
        schemas = [(nodes[each].schema, count) for each, count in met.items()]
        if _most_met(schemas, core) > 1:
            raise SchemaCostFault(
                "it refers to itself more than once for the same value, so that the work would "
                "double with the depth of a sample"
            )


def _most_met(schemas: list[tuple[Schema, int]], core: set[int]) -> int:
    """Returns the largest number of recursive definitions that apply to one value below a value."""

    def count(parts: Iterable[Any]) -> int:
        return sum(isinstance(part, dict) and id(part) in core for part in parts)

    every, named = Counter[str](), Counter[tuple[str, Any]]()
    for schema, times in schemas:
        rest = count(schema.get(key) for key in _OBJECT_REST)
        every["object"] += times * (rest + count(_map(schema, "patternProperties").values()))
        for key, part in _map(schema, "properties").items():
            named["object", key] += times * (count([part]) - rest)
        rest = count([schema.get("items")])
        every["array"] += times * (rest + count(schema.get(key) for key in _ARRAY_EVERY))
        prefix = schema.get("prefixItems")
        for index, part in enumerate(prefix if isinstance(prefix, list) else []):
            named["array", index] += times * (count([part]) - rest)
    counts = [every[kind] + more for (kind, _), more in named.items()]
    return max(every["object"], every["array"], *counts, 0)


def _map(schema: Schema, key: str) -> Schema:
    value = schema.get(key)
    return value if isinstance(value, dict) else {}
