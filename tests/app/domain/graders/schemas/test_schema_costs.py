"""Tests that a JSON Schema's checks are counted along its paths and that explosions are refused."""

import json
from typing import Any

import pytest

from app.graders.json_schemas import (
    MAX_CHECK_WORK,
    MAX_COMPILED_BYTES,
    MAX_PATTERN_WORK,
    JsonSchemaFault,
    TooMuchWork,
    compile_pattern,
    compile_schema,
    pattern_size,
)
from app.graders.schema_costs import MAX_CHECKS
from tests.support.cases import cases

Schema = dict[str, Any]
SELF: Schema = {"$ref": "#"}
TWICE: Schema = {"allOf": [SELF, SELF]}


def chained(length: int, **root: Any) -> Schema:
    links: Schema = {f"a{i}": {"allOf": [{"$ref": f"#/$defs/a{i + 1}"}] * 2} for i in range(length)}
    return {"$ref": "#/$defs/a0", "$defs": {**links, f"a{length}": {"type": "object"}}, **root}


@cases(
    "schema",
    [
        chained(25),
        chained(17, unevaluatedProperties=False),
        chained(10_000),
        {"items": chained(25)["$defs"]["a24"], "$defs": chained(25)["$defs"], "$ref": "#/$defs/a0"},
        {
            "$defs": {
                "a": {"$anchor": "x", "anyOf": [{"$dynamicRef": "#y"}] * 50},
                "b": {"$dynamicAnchor": "y", "oneOf": [{"type": "null"}] * 50},
            },
            "$ref": "#x",
        },
    ],
)
def test_a_schema_whose_references_multiply_is_refused(schema: Schema) -> None:
    with pytest.raises(JsonSchemaFault, match=f"more than {MAX_CHECKS} checks"):
        compile_schema(schema)


@cases(
    "schema",
    [
        {"properties": {"c": TWICE}},
        {"items": SELF, "contains": SELF},
        {"prefixItems": [SELF], "contains": SELF},
        {"properties": {"c": SELF}, "patternProperties": {"c": SELF}},
        {"anyOf": [{"properties": {"c": SELF}}, {"additionalProperties": SELF}]},
        {"$defs": {"b": {"items": {"$ref": "#"}}}, "oneOf": [{"$ref": "#/$defs/b"}] * 2},
        {"anyOf": [{"properties": {"c": SELF}}, {"properties": {"c": {"items": SELF}}}]},
    ],
)
def test_recursion_that_doubles_with_depth_is_refused(schema: Schema) -> None:
    with pytest.raises(JsonSchemaFault, match="more than once for the same value"):
        compile_schema(schema)


def test_recursion_within_one_value_is_refused() -> None:
    with pytest.raises(JsonSchemaFault, match="refers back to itself without descending"):
        compile_schema({"allOf": [SELF]})


@cases(
    ("schema", "checks"),
    [
        ({"properties": {"c": SELF}}, 2),
        ({"properties": {"left": SELF, "right": SELF}, "additionalProperties": SELF}, 4),
        ({"anyOf": [{"items": SELF}, {"additionalProperties": SELF}, {"type": "string"}]}, 6),
        ({"items": {"$ref": "#/$defs/a"}, "$defs": {"a": {"type": "null"}}}, 3),
        (chained(2), 10 + 4),
        ({"$id": "https://a/b", "properties": {"c": {"$ref": "https://a/b#"}}}, 2),
    ],
)
def test_trees_and_shared_definitions_are_taken(schema: Schema, checks: int) -> None:
    parsed = json.loads(json.dumps(schema))  # no two places share an object
    assert compile_schema(parsed).cost.checks == checks


@cases(
    "schema",
    [
        {"$ref": "https://json-schema.org/draft/2020-12/schema"},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$id": "https://x/y"}}},
        {"$defs": {"a": {"$anchor": "x"}, "b": {"$anchor": "x"}}, "$ref": "#x"},
    ],
)
def test_references_whose_paths_cannot_be_counted_are_refused(schema: Schema) -> None:
    with pytest.raises(JsonSchemaFault):
        compile_schema(schema)


def test_the_sizes_of_patterns_are_summed_along_the_paths() -> None:
    size = pattern_size("^[0-9]{4}$")
    shared = {"$ref": "#/$defs/a"}
    schema: Schema = {
        "properties": {"x": shared, "y": shared},
        "patternProperties": {"^[0-9]{4}$": True},
        "$defs": {"a": {"pattern": "^[0-9]{4}$"}},
    }
    assert compile_schema(schema).cost.pattern_bytes == 3 * size


def test_patterns_that_are_too_large_together_are_refused() -> None:
    schema = {"allOf": [{"pattern": f".{{1,200}}{i}"} for i in range(20)]}
    with pytest.raises(JsonSchemaFault, match="too large together"):
        compile_schema(schema)


def test_a_text_with_too_many_values_is_too_much() -> None:
    compiled = compile_schema({"items": {"allOf": [{}] * 1_000}})
    values = MAX_CHECK_WORK // compiled.cost.checks
    compiled.check_work("," * (values - 1))
    with pytest.raises(TooMuchWork, match="values"):
        compiled.check_work("," * values)


def test_a_text_that_is_too_long_for_a_pattern_is_too_much() -> None:
    pattern = compile_pattern("[ab]{0,1000}c")
    longest = MAX_PATTERN_WORK // pattern.size
    assert longest < 20_000
    with pytest.raises(TooMuchWork, match=str(longest)):
        pattern.matches("x" * (longest + 1))
    with pytest.raises(TooMuchWork, match="too long"):
        pattern.matches("é" * (longest // 2 + 1))
    assert not pattern.matches("x" * longest)


@cases("schema", [{"pattern": "[ab]{0,4000}c"}, {"patternProperties": {"[ab]{0,4000}c": {}}}])
def test_a_pattern_that_is_too_large_is_refused(schema: Schema) -> None:
    assert MAX_COMPILED_BYTES <= 2**18
    with pytest.raises(JsonSchemaFault):
        compile_schema(schema)
    with pytest.raises(JsonSchemaFault, match="too large"):
        compile_pattern("[ab]{0,4000}c")


@cases(("text", "matches"), [("a", True), ("ab", False), ("a\n", False), ("a # c", False)])
def test_a_comment_at_the_end_may_stand_in_a_whole_pattern(text: str, *, matches: bool) -> None:
    assert compile_pattern("(?x)a # c", whole=True).matches(text) is matches


@cases(
    ("pattern", "text", "matches"),
    [
        (r"^\d$", "\u0663", False),
        (r"^\w$", "é", False),
        (r"^\W$", "é", True),
        (r"^\s$", "\u2003", True),
        (r"^\p{L}$", "é", True),
        (r"\bé", "aé", False),
    ],
)
def test_classes_are_as_the_page_lists(pattern: str, text: str, *, matches: bool) -> None:
    assert compile_pattern(pattern).matches(text) is matches
