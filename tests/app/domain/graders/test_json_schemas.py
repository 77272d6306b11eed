"""Patterns and JSON Schemas are compiled and compared in a process that is ended in time."""

from typing import Any

import pytest

from app.graders import json_schemas
from app.graders.json_schemas import (
    JsonSchemaFault,
    TooMuchWork,
    check_pattern,
    check_schema,
    matches,
    schema_fault,
)

Schema = dict[str, Any]
SELF: Schema = {"$ref": "#"}


def doubling(length: int) -> Schema:
    """Each definition refers to the next one twice."""
    links: Schema = {f"a{i}": {"allOf": [{"$ref": f"#/$defs/a{i + 1}"}] * 2} for i in range(length)}
    return {"$ref": "#/$defs/a0", "$defs": {**links, f"a{length}": {"type": "string"}}}


def nested(depth: int) -> Schema:
    return {} if depth == 0 else {"c": nested(depth - 1)}


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short limits, for a process that has already started."""
    matches("a", "a", whole=False, ignore_case=False)
    monkeypatch.setattr(json_schemas, "CHECK_LIMIT_S", 0.5)
    monkeypatch.setattr(json_schemas, "LIMIT_S", 0.5)


@pytest.mark.usefixtures("quick")
def test_a_schema_whose_references_multiply_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(JsonSchemaFault, match=r"it takes more than 0\.5 s"):
        check_schema(doubling(40))
    monkeypatch.setattr(json_schemas, "LIMIT_S", 60.0)
    assert schema_fault({"type": "object"}, 1) is not None  # the next process answers


def test_a_comparison_that_takes_too_long_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = {"properties": {"a": doubling(40)["$defs"]["a0"]}, "$defs": doubling(40)["$defs"]}
    check_schema(schema)
    monkeypatch.setattr(json_schemas, "LIMIT_S", 0.5)
    with pytest.raises(TooMuchWork, match=r"longer than 0\.5 s"):
        schema_fault(schema, {"a": "x"})
    monkeypatch.setattr(json_schemas, "LIMIT_S", 60.0)
    assert schema_fault(schema, {"b": "x"}) is None


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"type": "objekt"}, "it is not a JSON schema"),
        ({"pattern": "[ab]{0,4000}c"}, "it is not a JSON schema"),
        ({"$ref": "https://json-schema.org/draft/2020-12/schema#/a"}, "it is not a JSON schema"),
        ({"$ref": "https://example.com/schema"}, "external schemas are not fetched"),
    ],
)
def test_a_schema_that_does_not_compile_is_refused(schema: Schema, why: str) -> None:
    with pytest.raises(JsonSchemaFault, match=why):
        check_schema(schema)


def test_a_fault_has_its_place_and_no_value() -> None:
    schema = {"properties": {"a": {"items": {"type": "string"}}}}
    assert schema_fault(schema, {"a": ["x"]}) is None
    assert schema_fault(schema, {"a": ["x", 9_876]}) == (
        ("a", 1),
        'the value is not of type "string"',
    )
    assert schema_fault({"properties": {"c": SELF}, "maxProperties": 1}, nested(100)) is None


@pytest.mark.parametrize(
    ("pattern", "fault"),
    [
        ("a(", "syntax of Rust's `regex`: missing ), unterminated subpattern at character 2"),
        ("[b-a]", "bad character range b-a at character 2"),
        ("ö(?=b)", "'(?=' at character 2 is not available: look-around"),
        (r"(a)\1", r"'\1' at character 4 is not available"),
        (r"a\p{Town}", "bad escape"),
        ("[ab]{0,4000}c", "or is too large: compiled, it may have 262144 bytes"),
        ("a)|(b", "unbalanced parenthesis at character 2"),
    ],
)
def test_a_refused_expression_names_its_fault(pattern: str, fault: str) -> None:
    with pytest.raises(JsonSchemaFault) as refused:
        check_pattern(pattern, whole=True, ignore_case=False)
    assert fault in str(refused.value)


@pytest.mark.parametrize(
    ("pattern", "text", "whole", "found"),
    [
        (r"^\d$", "\u0663", False, False),
        (r"^\w$", "é", False, False),
        (r"^\W$", "é", False, True),
        (r"^\s$", "\u2003", False, True),
        (r"^\p{L}$", "é", False, True),
        (r"\bé", "aé", False, False),
        ("a|b", "ab", True, False),
        ("(?x)a # c", "a", True, True),
        ("(?x)a # c", "ab", True, False),
        ("a", "a\n", True, False),
    ],
)
def test_classes_and_ends_are_as_the_page_lists(
    pattern: str, text: str, *, whole: bool, found: bool
) -> None:
    assert matches(pattern, text, whole=whole, ignore_case=False) is found


def test_a_text_is_never_compared_with_a_refused_pattern() -> None:
    with pytest.raises(JsonSchemaFault):
        matches("a(", "a", whole=False, ignore_case=False)
