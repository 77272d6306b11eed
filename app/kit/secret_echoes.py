"""The shown form of an URL, and the credentials that a server repeats in its replies."""

import json
import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any, Final
from urllib.parse import parse_qsl, quote, quote_plus, urlsplit

REDACTED: Final = "[redacted]"
MAX_SHOWN: Final = 2000
"""Largest length of a shown URL that includes the names of its query; a longer one hides them too.
"""
_USER: Final = re.compile(r"^([^/?#]*//)?[^/?#]*@")
_PLACEHOLDER: Final = re.compile(r"\[redacted\]|%5Bredacted%5D", re.IGNORECASE)


def shown_url(url: str) -> str:
    """Returns the URL with each query value, the fragment and user information as `[redacted]`.

    Names in the query stay. An URL without such parts is returned unchanged.
    """
    if "?" not in url and "#" not in url and "@" not in url:
        return url
    rest, hash_mark, fragment = url.partition("#")
    rest, question_mark, query = rest.partition("?")
    rest = _USER.sub(rf"\g<1>{REDACTED}@", rest)
    tail = f"#{REDACTED}" if fragment else hash_mark
    shown = "&".join(_shown_pair(pair) for pair in query.split("&"))
    whole = f"{rest}{question_mark}{shown}{tail}"
    return whole if len(whole) <= MAX_SHOWN else f"{rest}?{REDACTED}{tail}"


def _shown_pair(pair: str) -> str:
    name, equals, value = pair.partition("=")
    if equals:
        return f"{name}={REDACTED}" if value else pair
    return REDACTED if pair else pair


def has_placeholder(text: str) -> bool:
    """Returns whether a text contains `[redacted]`, in any letter case, percent-encoded or not."""
    return _PLACEHOLDER.search(text) is not None


def is_placeholder(text: str) -> bool:
    return _PLACEHOLDER.fullmatch(text.strip()) is not None


def url_has_placeholder(url: str) -> bool:
    """Returns whether a secret part of an URL is `[redacted]`."""
    masked = _PLACEHOLDER.sub("x", url)
    return masked != url and shown_url(masked) != masked


LEAST: Final = 8
"""Smallest number of characters of a credential to search for: a shorter one may be an ordinary
word.
"""
MAX_CREDENTIALS: Final = 32
"""Largest number of different credentials that a definition may send to one address: a reply is
searched for each.
"""
_LONG: Final = 20
"""Number of characters from which a value with a digit and no space counts as a credential under
any name.
"""
_NAMES: Final = re.compile(
    "auth|cookie|credential|key|passw|pwd|secret|session|signature|token", re.IGNORECASE
)
"""Headers whose values are searched for, however short. All headers are sealed; but a reply may
repeat the value of `X-Toolset` because it is a word.
"""
_ESCAPED: Final = re.compile(r"(?<!\\)((?:\\\\)*)\\u00([2-7][0-9A-Fa-f])")
"""A letter of ASCII as JSON may escape it."""
_PARAMETER: Final = re.compile(r"(?<=[=:])[\"']?([^\s\"',;]+)")


class Echoes:
    """Searches replies for the credentials in the headers and the URL query that were sent: as they
    are, and escaped for JSON, HTML or an URL. Of a value with a scheme, such as `Bearer …`, the
    part after the scheme counts too, and so does the password of `Basic`.
    """

    def __init__(self, headers: Mapping[str, str], url: str) -> None:
        sent = credentials_of(headers, url)
        parts = {part for value in sent for part in _parts(value) if len(part) >= LEAST}
        forms = {form for part in parts for form in _forms(part)}
        self._forms = sorted(forms, key=len, reverse=True)

    def hidden_in(self, text: str) -> str:
        """Returns the text with each credential replaced by `[redacted]`."""
        shown = self._replaced(text)
        if "\\u" in shown:  # a reader of JSON would restore the letters
            plain = _ESCAPED.sub(_with_letter, shown)
            hidden = self._replaced(plain)
            return shown if hidden == plain else hidden
        return shown

    def _replaced(self, text: str) -> str:
        for form in self._forms:
            text = text.replace(form, REDACTED)
        return text

    def hidden_in_json(self, text: str) -> str:
        """Returns a text of JSON in which every string and key is as `hidden_in` returns it. A text
        without a credential is returned unchanged.
        """
        if not self._forms:
            return text
        read = json.loads(text)
        hidden = self._hidden(read)
        return text if hidden == read else json.dumps(hidden, ensure_ascii=False)

    def _hidden(self, value: Any) -> Any:
        match value:
            case str():
                return self.hidden_in(value)
            case dict():
                return {self.hidden_in(key): self._hidden(inner) for key, inner in value.items()}
            case list():
                return [self._hidden(inner) for inner in value]
            case _:
                return value


def credentials_of(headers: Mapping[str, str], url: str) -> set[str]:
    """Returns the values of headers and of a URL's query that count as credentials; a query may be
    a value without a name.
    """
    query = parse_qsl(urlsplit(url).query, keep_blank_values=True)
    sent = [*headers.items(), *((name, value) if value else ("", name) for name, value in query)]
    return {value for name, value in sent if _NAMES.search(name) or _is_long(value)}


def _with_letter(found: re.Match[str]) -> str:
    letter = chr(int(found[2], 16))
    return found[0] if letter in '"\\' else found[1] + letter


def _is_long(value: str) -> bool:
    return len(value) >= _LONG and " " not in value and any(char.isdigit() for char in value)


def _parts(value: str) -> Iterator[str]:
    """Yields the credentials in a value: all of it, the part after a scheme, and the values of its
    parameters, as in `Token token="…"` and `ApiKey id:key`.
    """
    yield value.strip()
    scheme, *rest = value.split(maxsplit=1) or [""]
    for credential in rest:
        yield credential.strip()
        yield from _PARAMETER.findall(credential)
        if scheme.lower() == "basic":
            yield from _user_and_password(credential.strip().rstrip("="))


def _user_and_password(encoded: str) -> Iterator[str]:
    """Yields user and password together, and the password alone."""
    try:
        pair = b64decode(encoded + "=" * (-len(encoded) % 4), validate=True).decode()
    except (NotBase64, ValueError):
        return
    yield pair
    yield pair.partition(":")[2]


def _forms(value: str) -> tuple[str, ...]:
    sent, quoted = value.encode("utf-8", "surrogatepass"), json.dumps(value)[1:-1]
    return (
        value,
        quoted,
        quoted.replace("/", "\\/"),  # as PHP does
        json.dumps(value, ensure_ascii=False)[1:-1],
        escape(value),
        quote(sent),
        quote(sent, safe=""),
        quote(sent, safe="!'()*"),  # as encodeURIComponent does
        quote_plus(sent),
    )
