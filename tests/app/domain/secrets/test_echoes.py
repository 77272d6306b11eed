"""Credentials that a server repeats: they are hidden, words and the shape of JSON stay."""

import base64
import json
import sys
from collections import Counter
from types import FrameType
from typing import Any
from urllib.parse import quote

import pytest

from app.kit.secret_echoes import Echoes

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


TOKEN = "s3cr3t/+tok?en~x9"


@pytest.mark.parametrize(
    "form",
    [
        TOKEN.upper(),
        quote(TOKEN, safe=""),
        quote(TOKEN, safe="").lower(),
        quote(quote(TOKEN, safe=""), safe=""),
        "".join(f"%{byte:02X}" for byte in TOKEN.encode()),
        TOKEN.encode().hex(),
        TOKEN.encode().hex(":").upper(),
        TOKEN.encode().hex(" "),
        base64.b64encode(TOKEN.encode()).decode(),
        quote(base64.b64encode(TOKEN.encode()), safe=""),
    ],
)
def test_the_usual_encodings_are_hidden(form: str) -> None:
    hidden = Echoes({"X-Token": TOKEN}, "https://tools.example/").hidden_in(f"<{form}>")
    assert hidden == "<[redacted]>"


@pytest.mark.parametrize("before", ["", "a", "ab", "Authorization: Bearer "])
@pytest.mark.parametrize("after", ["", "x", "xy"])
def test_base64_is_hidden_wherever_the_credential_begins_in_it(before: str, after: str) -> None:
    echoes = Echoes({"Authorization": f"Bearer {TOKEN}"}, "https://tools.example/")
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        encoded = encode(f"{before}{TOKEN}{after}".encode()).decode()
        hidden = echoes.hidden_in(f"({encoded})")
        start, _, end = hidden.partition("[redacted]")
        # The rest encodes the text around the token, and too few of its bits for a letter.
        assert len(start) <= 1 + 4 * len(before) / 3
        assert len(end) <= 1 + 4 * (len(after) + 2) / 3
        assert hidden.count("[redacted]") == 1


def test_the_password_of_basic_is_hidden_when_the_server_decodes_it() -> None:
    sent = base64.b64encode(b"user:pa55word!").decode()
    echoes = Echoes({"Authorization": f"Basic {sent}"}, "https://tools.example/")
    assert echoes.hidden_in(f"{sent} is user:pa55word!, so pa55word!") == (
        "[redacted] is [redacted], so [redacted]"
    )


def escaped(letter: str) -> str:
    return "".join(f"\\u{unit:04X}" for unit in memoryview(letter.encode("utf-16")).cast("H")[1:])


@pytest.mark.parametrize(
    ("escape", "times"),
    [("/", 1), ("+", 1), ("s3cr3t/+tok?en~x9", 1), ("x9", 2), ("?", 3)],
    ids=["slash", "plus", "all", "end", "nested"],
)
def test_letters_that_json_escapes_are_hidden(escape: str, times: int) -> None:
    form = "".join(escaped(letter) if letter in escape else letter for letter in TOKEN)
    for _ in range(times - 1):
        form = json.dumps(form)[1:-1]
    text = f'a "C:\\new" <{form}> \\u00fc'
    hidden = Echoes({"X-Token": TOKEN}, "https://tools.example/").hidden_in(text)
    assert hidden == 'a "C:\\new" <[redacted]> \\u00fc'


def test_a_letter_of_two_escapes_is_hidden() -> None:
    echoes = Echoes({}, "https://tools.example/?token=caf\u00e9-\U0001f511-key/1")
    token = "".join(map(escaped, "caf\u00e9-\U0001f511-key/1"))
    assert echoes.hidden_in(f"<{token}>") == "<[redacted]>"


def test_a_text_in_another_alphabet_keeps_its_letters() -> None:
    echoes = Echoes({"X-Token": TOKEN}, "https://tools.example/")
    assert echoes.hidden_in(f"İİ {TOKEN.upper()} ß") == "İİ [redacted] ß"


def calls(of: Echoes, text: str) -> int:
    """Returns how many functions of Python and of C one search calls."""
    made = Counter[str]()

    def count(_: FrameType, event: str, __: Any) -> None:
        made[event] += 1

    sys.setprofile(count)
    try:
        of.hidden_in(text)
    finally:
        sys.setprofile(None)
    return made["call"] + made["c_call"]


def test_a_search_does_not_grow_with_the_number_of_credentials() -> None:
    one, many = (
        Echoes({f"x-secret-{at}": f"Basic {at:05d}-pa55word" for at in range(number)}, URL)
        for number in (1, 500)
    )
    text = "lists the records of a customer, and their orders; " * 20
    assert calls(many, text) == calls(one, text)
    assert many.hidden_in("so 00499-pa55word!") == "so [redacted]!"


def test_of_two_credentials_that_begin_alike_the_whole_is_hidden() -> None:
    echoes = Echoes({"X-Token": "abcdefgh", "X-Key": "abcdefgh-and-more"}, "https://tools.example/")
    assert echoes.hidden_in("abcdefgh-and-more, abcdefgh-and") == "[redacted], [redacted]-and"


def test_a_text_that_would_take_long_to_read_is_hidden_whole() -> None:
    """It has no credential: each place begins like all of them, and ends like none."""
    sent = {f"X-Api-Key-{number}": "a" * (3900 + number) + "b" for number in range(32)}
    echoes = Echoes(sent, URL)
    assert echoes.hidden_in("a" * 50_000) == "[redacted]"
    assert echoes.hidden_in(f"few: {'a' * 100}") == f"few: {'a' * 100}"
    assert echoes.hidden_in(f"it is {sent['X-Api-Key-3'][:20]}") != "[redacted]"


def test_a_text_with_very_many_beginnings_is_hidden_whole() -> None:
    """Each place of it ends a credential too, and takes as long as all of an ordinary text."""
    echoes = Echoes({"Authorization": f"Bearer {'a' * 64}"}, URL)
    assert echoes.hidden_in(f"{'a' * 64} " * 2_000) == "[redacted]"
    assert echoes.hidden_in(f"few: {'a' * 1_000}.") == "few: [redacted]."


KEY = "CANARY!'()*12345=abcdef/+&"


@pytest.mark.parametrize(
    "form",
    [
        # encodeURIComponent of JavaScript, and of a library that escapes more letters
        "CANARY!'()*12345%3Dabcdef%2F%2B%26",
        "CANARY%21'()%2A12345%3dabcdef%2f+%26",
        # html.escape of Python, Go and Flask, PHP, and by hexadecimal numbers
        "CANARY!&#x27;()*12345=abcdef/+&amp;",
        "CANARY!&#39;()*12345=abcdef/+&amp;",
        "CANARY!&#039;()*12345=abcdef/+&#38;",
        "CANARY!&apos;()*12345&#x3D;abcdef/+&amp;",
        # an escaped text that is escaped again
        "CANARY!&amp;#39;()*12345=abcdef/+&amp;amp;",
        "CANARY!%2527()*12345%253Dabcdef%252F%252B%2526",
        "CANARY!\\u0026#39;()*12345=abcdef/+\\u0026amp;",
        KEY.encode().hex("-"),
    ],
)
def test_letters_that_urls_and_html_escape_are_hidden(form: str) -> None:
    text = f"100% of <{form}> &c. 5 %zz %e4 &#x110000;"
    hidden = Echoes({"X-Api-Key": KEY}, "https://tools.example/").hidden_in(text)
    assert hidden == "100% of <[redacted]> &c. 5 %zz %e4 &#x110000;"


@pytest.mark.parametrize("letter", ["é", "\u20ac", "\U0001f511", "\ud800"])
def test_letters_of_several_bytes_are_hidden(letter: str) -> None:
    token = f"key-{letter}-{letter}{letter}-1/2"
    echoes = Echoes({}, f"https://tools.example/?token={quote(token, errors='surrogatepass')}")
    sent = quote(token, errors="surrogatepass", safe="/").replace("1/2", "1%2F2")
    if letter != "\ud800":  # no text in UTF-8 has it
        assert echoes.hidden_in(f"({sent})") == "([redacted])"
        # No list of forms has the one in which one of the letters is escaped.
        for sent in (quote(letter), quote(letter).lower()):
            assert echoes.hidden_in(f"({token.replace(letter, sent, 1)})") == "([redacted])"


def test_a_credential_in_latin_1_is_hidden() -> None:
    echoes = Echoes({"X-Api-Key": "clé-très-secrète"}, "https://tools.example/")
    sent = "clé-très-secrète".encode("latin-1")
    for form in (quote(sent), sent.hex(), base64.b64encode(sent).decode().rstrip("=")):
        assert echoes.hidden_in(f"<{form}>") == "<[redacted]>"


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


def test_base64_of_several_lines_is_hidden() -> None:
    token = "0123456789abcdef" * 12
    echoes = Echoes({"Authorization": f"Bearer {token}"}, "https://tools.example/")
    encoded = base64.encodebytes(token.encode()).decode()
    for lines in (encoded, encoded.replace("\n", "\r\n")):
        assert echoes.hidden_in(f"a b\nc {lines}").split() == ["a", "b", "c", "[redacted]"]


def test_a_text_of_escapes_is_hidden_whole() -> None:
    echoes = Echoes({"X-Token": TOKEN}, "https://tools.example/")
    for escape in ('\\"', "%20", "&lt;"):
        assert echoes.hidden_in(escape * 250_001) == "[redacted]"
        assert echoes.hidden_in(escape * 1000) == escape * 1000
