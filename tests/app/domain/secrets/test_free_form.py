import copy
from collections.abc import Iterator
from typing import Any

import pytest
from typing_extensions import override

from app.kit import secret_finding as free_form
from app.kit.fields import Path
from app.kit.secret_echoes import shown_url
from app.kit.secret_finding import Found, secrets_in
from app.kit.secrets import SecretNameClass

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


@pytest.mark.parametrize(
    ("reference", "elsewhere"),
    [
        ("#/$defs/K", {"$defs": {"K": {"type": "string", "default": "canary"}}}),
        ("#/definitions/K", {"definitions": {"K": {"enum": ["canary"], "description": "Why."}}}),
        ("#/$defs/a~1b%20~0c", {"$defs": {"a/b ~c": {"const": "canary"}}}),
        ("#/$defs/all/anyOf/1", {"$defs": {"all": {"anyOf": [{}, {"const": "canary"}]}}}),
        ("https://s.example/x#/$defs/K", {"$defs": {"K": {"default": "canary"}}}),
        ("#K", {"$defs": {"x": {"$anchor": "K", "default": "canary"}}}),
        ("k.json", {"$defs": {"x": {"$id": "k.json", "default": "canary"}}}),
        (
            "#/$defs/one",
            {"$defs": {"one": {"allOf": [{"$ref": "#/$defs/two"}]}, "two": {"const": "canary"}}},
        ),
        (
            "#/$defs/one",
            {
                "$defs": {
                    "one": {"$ref": "#/$defs/two", "default": "canary"},
                    "two": {"$ref": "#/$defs/one", "examples": ["canary"]},
                }
            },
        ),
    ],
)
@pytest.mark.parametrize("wrapped", [False, True])
def test_a_schema_that_a_credential_refers_to_is_the_credentials(
    reference: str, elsewhere: dict[str, Any], *, wrapped: bool
) -> None:
    schema = {"properties": {"api_key": {"$ref": reference}, "plain": {"const": "p"}}, **elsewhere}
    document = {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}
    document = document if wrapped else schema
    hidden = shown(document)
    assert "canary" not in repr(hidden)
    assert repr(hidden).replace(HIDDEN, "canary") == repr(document)
    innocent = {"properties": {"plain": {"$ref": reference}}, **elsewhere}
    assert shown(innocent) == innocent


@pytest.mark.parametrize(
    "reference", ["#", "#/", "#/$defs/none", "#/$defs/K/1", "x#", "#/\x00", ""]
)
def test_a_reference_to_nothing_of_the_document_changes_nothing(reference: str) -> None:
    schema = {
        "properties": {"token": {"$ref": reference}, "plain": {"const": "p"}},
        "$defs": {"K": ["p"]},
    }
    assert shown(schema) == schema


def test_schemas_that_refer_to_one_another_are_walked_a_bounded_number_of_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = [f"k{number}" for number in range(100)]
    every = [{"$ref": f"#/$defs/{name}"} for name in names]
    schema = {
        "properties": {"token": {"anyOf": every}},
        "$defs": {name: {"anyOf": every, "const": "canary"} for name in names},
    }
    visits = 0
    in_schema = free_form._SecretWalk.in_schema

    def counted(*arguments: Any) -> Any:
        nonlocal visits
        visits += 1
        assert visits < 2 * len(names) * len(every)
        return in_schema(*arguments)

    monkeypatch.setattr(free_form._SecretWalk, "in_schema", counted)
    assert "canary" not in repr(shown(schema))
    assert visits > len(names)


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


def test_schemas_that_contain_one_another_are_walked_once_per_level() -> None:
    """A document of nested schemas, each of which a credential refers to."""
    depth, leaves = 60, 200
    nested: Any = {"default": "c", "enum": ["c"] * leaves}
    for _ in range(depth):
        nested = {"d": nested}
    references = [{"$ref": "#" + "/d" * level} for level in range(1, depth + 1)]
    schema = {
        "d": nested["d"],
        "properties": {"token": {"allOf": references}, "token_budget": {"allOf": references}},
    }
    found = list(secrets_in(schema, ()))
    assert len(found) == leaves + 1

    visits = _visits(schema)
    assert visits < 4 * (_values(schema) + 2 * len(references))


def _visits(schema: Any) -> int:
    count = 0

    class Counted(free_form._SecretWalk):
        @override
        def below(self, value: Any, path: Path, credential: SecretNameClass) -> Iterator[Found]:
            nonlocal count
            count += 1
            yield from super().below(value, path, credential)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(free_form, "_SecretWalk", Counted)
        list(secrets_in(schema, ()))
    return count


def _values(value: Any) -> int:
    below = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(_values(item) for item in below)
