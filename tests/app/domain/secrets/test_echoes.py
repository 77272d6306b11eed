"""Credentials that a server repeats: they are hidden, words and the shape of JSON stay."""

import json

import pytest

from app.domain.secrets.echoes import Echoes

URL = "https://tools.example/mcp?api_key=query-secret&team=customers"
HEADERS = {
    "Authorization": "Bearer abcdefgh",
    "X-Scope": "customer",
    "X-MCP-Toolsets": "pull_requests",
    "X-Trace": "0123456789abcdef0123",
    "X-Quote": '"type": "string"',
    "X-Api-Key": 'a"b\\c-secret',
}


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("you sent Bearer abcdefgh", "you sent [redacted]"),
        ("the token abcdefgh", "the token [redacted]"),
        ("key=query-secret", "key=[redacted]"),
        ("trace 0123456789abcdef0123!", "trace [redacted]!"),
        ("lists pull_requests of a customer, and customers", None),
    ],
)
def test_credentials_are_hidden_and_words_stay(text: str, hidden: str | None) -> None:
    assert Echoes(HEADERS, URL).hidden_in(text) == (hidden or text)


def test_json_stays_json_and_keeps_its_names() -> None:
    schema = {
        "type": "object",
        "properties": {"customer": {"type": "string", "default": 'a"b\\c-secret'}},
        "required": ["customer"],
    }
    found = json.loads(Echoes(HEADERS, URL).hidden_in_json(json.dumps(schema)))
    schema["properties"]["customer"]["default"] = "[redacted]"  # type: ignore[index]  # a JSON value
    assert found == schema


def test_a_schema_without_a_credential_is_the_same_text() -> None:
    text = '{"type":  "object"}'
    assert Echoes(HEADERS, URL).hidden_in_json(text) == text
    assert Echoes({}, "https://tools.example/mcp").hidden_in_json("no JSON") == "no JSON"
