"""Credentials that a server repeats: they are hidden, words and the shape of JSON stay."""

import base64
import json
import time
from urllib.parse import quote

import pytest

from app.kit.redaction import Echoes

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


@pytest.mark.parametrize("blank", ["", " ", "\t  "])
@pytest.mark.parametrize("name", ["Authorization", "X-Api-Key"])
def test_a_blank_credential_hides_nothing(name: str, blank: str) -> None:
    text = "a server that repeats no credential, and blanks:   "
    assert Echoes({name: blank}, "https://a.example/?token=%20&api_key=+").hidden_in(text) == text


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


KEY = "CANARY!'()*12345=abcdef/+&"


@pytest.mark.parametrize(
    "form",
    [
        KEY,
        quote(KEY),
        quote(KEY, safe=""),
        "CANARY!'()*12345%3Dabcdef%2F%2B%26",  # encodeURIComponent of JavaScript
        "CANARY!&#x27;()*12345=abcdef/+&amp;",  # html.escape of Python
        "CANARY!'()*12345=abcdef\\/+&",  # json_encode of PHP
    ],
)
def test_what_urls_html_and_json_escape_is_hidden(form: str) -> None:
    hidden = Echoes({"X-Api-Key": KEY}, "https://tools.example/").hidden_in(f"100% of <{form}> &c.")
    assert hidden == "100% of <[redacted]> &c."


def test_the_password_of_basic_is_hidden_when_the_server_decodes_it() -> None:
    sent = base64.b64encode(b"user:pa55word!").decode()
    echoes = Echoes({"Authorization": f"Basic {sent}"}, "https://tools.example/")
    assert echoes.hidden_in(f"{sent} is user:pa55word!, so pa55word!") == (
        "[redacted] is [redacted], so [redacted]"
    )


def test_letters_that_json_escapes_are_hidden_and_the_rest_is_the_same_json() -> None:
    form = "".join(f"\\u{ord(letter):04X}" for letter in KEY)
    text = f'["C:\\\\u0041", "\\u00fc", "\\u0022", "<{form}>"]'
    hidden = Echoes({"X-Token": KEY}, "https://tools.example/").hidden_in(text)
    assert json.loads(hidden) == ["C:\\u0041", "\u00fc", '"', "<[redacted]>"]


def test_of_two_credentials_that_begin_alike_the_whole_is_hidden() -> None:
    echoes = Echoes({"X-Token": "abcdefgh", "X-Key": "abcdefgh-and-more"}, "https://tools.example/")
    assert echoes.hidden_in("abcdefgh-and-more, abcdefgh-and") == "[redacted], [redacted]-and"


def test_many_long_credentials_are_searched_for_in_linear_time() -> None:
    """Each place of the text begins like all of them, and ends like none."""
    sent = {f"X-Api-Key-{number}": "a" * (3900 + number) + "b" for number in range(32)}
    started = time.process_time()
    assert Echoes(sent, URL).hidden_in("a" * 1_000_000) == "a" * 1_000_000
    assert time.process_time() - started < 5


@pytest.mark.parametrize("letter", ["é", "\u20ac", "\U0001f511", "\ud800"])
def test_letters_of_several_bytes_are_hidden(letter: str) -> None:
    token = f"key-{letter}-{letter}{letter}-1/2"
    echoes = Echoes({}, f"https://tools.example/?token={quote(token, errors='surrogatepass')}")
    if letter != "\ud800":  # no text in UTF-8 has it
        for form in (token, quote(token), json.dumps(token)[1:-1]):
            assert echoes.hidden_in(f"({form})") == "([redacted])"


@pytest.mark.parametrize(
    ("value", "echo"),
    [
        ('"CANARY-12345" ', '"CANARY-12345"'),
        ("Bearer\tCANARY-12345", "CANARY-12345"),
        ("Bearer  CANARY-12345", "CANARY-12345"),
        ('Token token="CANARY-12345", nonce="x"', "CANARY-12345"),
        ("ApiKey name:CANARY-12345", "CANARY-12345"),
        ("Basic " + base64.b64encode(b"user:CANARY-1234").decode().rstrip("="), "CANARY-1234"),
    ],
)
def test_the_credential_within_a_value_is_hidden(value: str, echo: str) -> None:
    echoes = Echoes({"Authorization": value}, "https://tools.example/")
    assert echoes.hidden_in(f"<{echo}>") == "<[redacted]>"


def test_a_query_that_is_only_a_credential_is_hidden() -> None:
    echoes = Echoes({}, "https://tools.example/hook?0123456789abcdef0123&verbose")
    assert echoes.hidden_in("0123456789abcdef0123 verbose") == "[redacted] verbose"
