import copy
from typing import Any

import pytest

from app.domain.secrets.free_form import secrets_in
from app.domain.secrets.urls import shown_url

HIDDEN = "[redacted]"


def shown(value: Any) -> Any:
    """The value with every secret replaced."""
    root = {"root": copy.deepcopy(value)}
    for path, _, text in list(secrets_in(root, ())):
        holder: Any = root
        for part in path[:-1]:
            holder = holder[part]
        holder[path[-1]] = text
    return root["root"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"token": "c"}, {"token": "[redacted]"}),
        ({"a": [{"b": {"Api-Key": "c"}, "n": 1}]}, {"a": [{"b": {"Api-Key": HIDDEN}, "n": 1}]}),
        ({"auth": {"x": ["c", {"y": "d"}]}}, {"auth": {"x": [HIDDEN, {"y": HIDDEN}]}}),
        ({"password": 12345, "secret": True}, {"password": HIDDEN, "secret": True}),
        ({"max_tokens": 5, "note": "token"}, {"max_tokens": 5, "note": "token"}),
        ({"u": "https://a.example/x?key=c&p="}, {"u": "https://a.example/x?key=[redacted]&p="}),
        ({"u": "postgres://me:pw@db/x"}, {"u": "postgres://[redacted]@db/x"}),
        ({"u": "see https://a.example/?q=1"}, {"u": "see https://a.example/?q=[redacted]"}),
        ({"u": "see https://a.example/ or a@b.c?"}, {"u": "see https://a.example/ or a@b.c?"}),
        ({"u": "https://a.example/?key=c d"}, {"u": "https://a.example/?key=[redacted]"}),
        ({"u": "//u:c@h"}, {"u": "//[redacted]@h"}),
        ({"u": "u:c@h/x?token=c"}, {"u": "[redacted]@h/x?token=[redacted]"}),
        ({"u": 'go: {"token": "c"}'}, {"u": 'go: {"token": "c"}'}),
        ({"u": '{"token": "c"}'}, {"u": HIDDEN}),
        ({"u": ' [{"a": "https://h/?q=c"}]'}, {"u": HIDDEN}),
        ({"u": '{"max_tokens": 5}'}, {"u": '{"max_tokens": 5}'}),
        ({"token_budget": 5, "pin": 5}, {"token_budget": 5, "pin": HIDDEN}),
        ({"session": {"id": "c", "n": 5}}, {"session": {"id": HIDDEN, "n": 5}}),
        ({"x" * 600: "c"}, {"x" * 600: HIDDEN}),
    ],
)  # fmt: skip
def test_values_below_credential_names_are_hidden(value: Any, expected: Any) -> None:
    assert shown(value) == expected


def test_a_property_of_a_schema_is_no_credential() -> None:
    schema = {
        "type": "object",
        "properties": {
            "token": {"type": "string", "description": "The token.", "minLength": 3},
            "query": {"type": "string", "default": "all", "enum": ["all", "none"]},
            "headers": {"type": "object", "properties": {"cookie": {"type": "string"}}},
        },
        "required": ["token"],
        "$defs": {"secret": {"type": "string"}},
    }
    assert shown(schema) == schema


def test_values_inside_such_a_property_are_hidden() -> None:
    token = {"type": "string", "default": "c", "const": "c", "enum": ["c"], "examples": ["c"]}
    schema = {"properties": {"token": token, "password": "c", "plain": {"token": "c"}}}
    hidden = dict.fromkeys(("default", "const"), "[redacted]")
    lists = {key: ["[redacted]"] for key in ("enum", "examples")}
    assert shown(schema) == {
        "properties": {
            "token": {"type": "string", **hidden, **lists},
            "password": "[redacted]",
            "plain": {"token": "[redacted]"},
        }
    }


@pytest.mark.parametrize(
    "schema",
    [
        {"anyOf": [{"const": "canary"}, {"type": "null"}]},
        {"oneOf": [{"allOf": [{"enum": ["canary"]}]}]},
        {"not": {"const": "canary"}},
        {"type": "array", "items": {"type": "string", "default": "canary", "enum": ["canary"]}},
        {"prefixItems": [{"examples": ["canary"]}]},
        {"type": "object", "properties": {"plain": {"default": "canary"}}},
        {"additionalProperties": {"default": "canary"}},
        {"title": {"x": "canary"}},
    ],
)
def test_values_deep_inside_such_a_property_are_hidden(schema: dict[str, Any]) -> None:
    for name in ("password", "api_key", "github_token_prod"):
        hidden = repr(shown({"properties": {name: schema}}))
        assert "canary" not in hidden
        assert hidden.count("type") == repr(schema).count("type")
    assert shown({"properties": {"plain": schema}}) == {"properties": {"plain": schema}}


def test_a_value_too_deep_is_hidden_whole() -> None:
    deep: Any = {"x": "canary"}
    for _ in range(400):
        deep = {"a": deep}
    assert "canary" not in repr(shown(deep))


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://a.example/x", "https://a.example/x"),
        ("https://a.example/x?a=1&b=2", "https://a.example/x?a=[redacted]&b=[redacted]"),
        ("https://a.example/?bare", "https://a.example/?[redacted]"),
        ("https://a.example/?a=1=2;b=3", "https://a.example/?a=[redacted]"),
        ("https://a.example/#t=1", "https://a.example/#[redacted]"),
        ("https://a.example/?a=1#t", "https://a.example/?a=[redacted]#[redacted]"),
        ("https://u:p@a.example/@b", "https://[redacted]@a.example/@b"),
        ("https://a.example/?" + "&".join(["a=1"] * 300), "https://a.example/?[redacted]"),
    ],
)
def test_an_url_shows_no_value(url: str, expected: str) -> None:
    assert shown_url(url) == expected
    assert shown_url(expected) == expected


@pytest.mark.parametrize(
    "schema",
    [
        {"dependentRequired": {"token": ["q"]}},
        {"$id": "https://s.example/a#b", "$schema": "https://s.example/draft#x"},
        {"properties": {"token": {"$ref": "https://s.example/a#b"}}},
        {"properties": {"tokens": {"type": "integer", "enum": [1, 2]}}},
        {"tokens": 100},
    ],
)
def test_names_and_counts_of_a_schema_are_no_secrets(schema: dict[str, Any]) -> None:
    assert list(secrets_in(schema, ())) == []


@pytest.mark.parametrize(
    "schema",
    [{"$ref": "https://s.example/a?key=c"}, {"dependentRequired": {"token": "c"}}],
)
def test_a_secret_below_a_keyword_of_names_is_found(schema: dict[str, Any]) -> None:
    assert len(list(secrets_in(schema, ()))) == 1
