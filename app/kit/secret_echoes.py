"""Secrets inside an URL: the values of its query, its fragment and its user information.

Imports the standard library only, so that a migration may import it.
"""

import json
import re
import string
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, assert_never
from urllib.parse import parse_qsl, urlsplit

from app.kit.secrets import (
    SecretNameClass,
    base64_of,
    escapes_in,
    passwords_of,
    secret_name_class,
    texts_of,
    without_escapes,
)

REDACTED: Final = "[redacted]"
MAX_SHOWN: Final = 2000
"""Largest length of a shown URL that includes the names of its query; a longer one hides them too.
"""
_USER: Final = re.compile(r"^([^/?#]*//)?[^/?#]*@")
_STARTS_AS_URL: Final = re.compile(r"\s*(?:[A-Za-z][A-Za-z0-9+.-]*:)?//")
_PLACEHOLDER: Final = re.compile(r"\[redacted\]|%5Bredacted%5D", re.IGNORECASE)
_WORDS: Final = re.compile(r"(\s+)")


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


def shown_text(text: str) -> str:
    """Returns a text with every URL in its shown form; a text that begins like an URL counts as
    one.
    """
    if "?" not in text and "#" not in text and "@" not in text:
        return text
    if _STARTS_AS_URL.match(text):
        return shown_url(text)
    return "".join(
        shown_url(word) if _may_hold_secrets(word) else word for word in _WORDS.split(text)
    )


def has_placeholder(text: str) -> bool:
    """Returns whether a text contains `[redacted]`, in any letter case, percent-encoded or not."""
    return _PLACEHOLDER.search(text) is not None


def is_placeholder(text: str) -> bool:
    return _PLACEHOLDER.fullmatch(text.strip()) is not None


def url_has_placeholder(text: str) -> bool:
    """Returns whether a secret part of an URL is `[redacted]`."""
    masked = _PLACEHOLDER.sub("x", text)
    return masked != text and shown_text(masked) != masked


def _may_hold_secrets(word: str) -> bool:
    """Recognises an URL with or without its scheme: `//u:p@h`, `u:p@h`, `h?token=x`."""
    before_at, at, _ = word.rpartition("@")
    _, _, query = word.partition("?")
    return "//" in word or (bool(at) and ":" in before_at) or "=" in query


def _shown_pair(pair: str) -> str:
    name, equals, value = pair.partition("=")
    if equals:
        return f"{name}={REDACTED}" if value else pair
    return REDACTED if pair else pair


LEAST: Final = 8
"""Smallest number of characters of a credential to search for: a shorter one may be an ordinary
word. Every form begins with as many characters, by which all forms are searched for together.
"""
MAX_CREDENTIALS: Final = 32
"""Largest number of different credentials that a new definition may send to one address."""
_LONG: Final = 20
"""Number of characters from which a value with a digit and no space counts as a credential under
any name.
"""
_NESTED: Final = 3
"""Number of times that escapes are taken out: JSON may be in a string of JSON."""
_MOST_ESCAPES: Final = 250_000
"""Largest number of escapes of one text, of which 1 MB takes about a second; one with more is
redacted whole.
"""
_MOST_COMPARED: Final = 100_000_000
"""Characters that one reading of a text compares, about 0.1 s: a server can repeat the beginning of
many long credentials at every place of a long text. Such a text is redacted whole.
"""
_MOST_BEGINS: Final = 50_000
"""Places of a text at which a credential may begin, each of which costs about 2 microseconds. A
text with more, such as a long run of the credential's first letter, is redacted whole.
"""
_PARAMETER: Final = re.compile(r"(?<=[=:])[\"']?([^\s\"',;]+)")
_LOWER: Final = {ord(letter): letter.lower() for letter in string.ascii_uppercase}
_IS_BASE64: Final = re.compile(r"[A-Za-z0-9+/_-]")
_TAIL: Final = re.compile(r"[A-Za-z0-9+/_-]?(?:=|%3[Dd]){0,2}")


class Echoes:
    """The credentials in a server's headers and URL query: values under names that announce a
    credential, and values too long to be words. In a value with a scheme, such as `Bearer …`, the
    part after the scheme counts too, and so does the password of `Basic`.
    """

    def __init__(self, headers: Mapping[str, str], url: str) -> None:
        secret = credentials_of(headers, url)
        parts = {part for value in secret for part in _parts(value) if len(part) >= LEAST}
        self._texts = _CredentialForms(_folded(text) for part in parts for text in texts_of(part))
        self._base64 = _CredentialForms(text for part in parts for text in base64_of(part))
        self._starts = self._texts.starts | {_folded(start) for start in self._base64.starts}

    def hidden_in(self, text: str) -> str:
        """Returns the text with each credential replaced by `[redacted]`, also one of which any
        letters are escaped as in JSON, HTML or a URL, or which is base64 of several lines: a reader
        of these would restore it.
        """
        if not self._starts:
            return text
        spans = self._spans(text)
        shown: str = text
        positions: Sequence[int] = range(len(text) + 1)
        for _ in range(_NESTED):
            escapes = escapes_in(shown)
            if not escapes:
                break
            if len(escapes) > _MOST_ESCAPES:
                return REDACTED
            shown, positions = without_escapes(shown, positions, escapes)
            spans += [(positions[start], positions[stop]) for start, stop in self._spans(shown)]
        return _without(spans, text)

    def _spans(self, text: str) -> list[tuple[int, int]]:
        """Returns where credentials begin and end."""
        folded, starts = _folded(text), self._starts
        begins = [at for at in range(len(text) - LEAST + 1) if folded[at : at + LEAST] in starts]
        if len(begins) > _MOST_BEGINS:
            return [(0, len(text))]
        compared = sum(
            self._texts.compared(folded, at) + self._base64.compared(text, at) for at in begins
        )
        if compared > _MOST_COMPARED:
            return [(0, len(text))]
        spans = [(at, stop) for at in begins if (stop := self._texts.end(folded, at))]
        spans += [
            _with_ends(at, stop, text) for at in begins if (stop := self._base64.end(text, at))
        ]
        return spans

    def hidden_in_json(self, text: str) -> str:
        """Returns a text of JSON in which every string and key is as `hidden_in` returns it. A text
        without a credential is returned unchanged.
        """
        if not self._starts:
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


class _CredentialForms:
    """Forms of credentials by their first characters, and by their length."""

    def __init__(self, forms: Iterable[str]) -> None:
        by_start = defaultdict[str, defaultdict[int, set[str]]](lambda: defaultdict(set))
        for form in forms:
            by_start[form[:LEAST]][len(form)].add(form)
        self._by_start = {
            start: sorted(by_length.items(), reverse=True) for start, by_length in by_start.items()
        }
        self._compared = {start: sum(by_length) for start, by_length in by_start.items()}

    @property
    def starts(self) -> set[str]:
        return set(self._by_start)

    def compared(self, text: str, at: int) -> int:
        """Returns the number of characters that `end` compares at most."""
        return self._compared.get(text[at : at + LEAST], 0)

    def end(self, text: str, at: int) -> int | None:
        """Returns where the longest form that begins at a place ends."""
        by_length = self._by_start.get(text[at : at + LEAST], ())
        return next(
            (at + length for length, forms in by_length if text[at : at + length] in forms), None
        )


def credentials_of(headers: Mapping[str, str], url: str) -> set[str]:
    """Returns the values of headers and of a URL's query that count as credentials; a query may be
    a value without a name.
    """
    query = parse_qsl(urlsplit(url).query, keep_blank_values=True)
    sent = [*headers.items(), *((name, value) if value else ("", name) for name, value in query)]
    return {value for name, value in sent if _is_credential(name, value)}


def _parts(value: str) -> Iterator[str]:
    """Yields the credentials in a value: all of it, the part behind a scheme, and the values of its
    parameters, as in `Token token="…"` and `ApiKey id:key`.
    """
    yield value
    yield value.strip()
    scheme, *rest = value.split(maxsplit=1) or [""]
    for credential in rest:
        yield credential.strip()
        yield from _PARAMETER.findall(credential)
        if scheme.lower() == "basic":
            yield from passwords_of(credential.strip())


def _folded(text: str) -> str:
    """Returns the text without the case of its Latin letters, at the same indices: other letters
    may change their number with their case, and no header has them.
    """
    return text.lower() if text.isascii() else text.translate(_LOWER)


def _with_ends(start: int, stop: int, text: str) -> tuple[int, int]:
    """Returns the place with a character of base64 at each end, which the credential decides in
    part, and the padding.
    """
    if start and _IS_BASE64.match(text, start - 1):
        start -= 1
    tail = _TAIL.match(text, stop)
    return start, stop if tail is None else tail.end()


def _without(spans: list[tuple[int, int]], text: str) -> str:
    """Returns the text with `[redacted]` in the place of the spans; those that overlap are one."""
    pieces, at = list[str](), 0
    for start, stop in sorted(spans):
        if start >= at:
            pieces += [text[at:start], REDACTED]
        at = max(at, stop)
    return "".join([*pieces, text[at:]])


def _is_credential(name: str, value: str) -> bool:
    match secret_name_class(name):
        case SecretNameClass.TEXTS | SecretNameClass.ALL:
            return True
        case SecretNameClass.NOTHING:
            return (
                len(value) >= _LONG and " " not in value and any(char.isdigit() for char in value)
            )
        case other:
            assert_never(other)
