"""Names that announce a credential: `api_key`, `X-Api-Key`, `HF_TOKEN_RO`, `Headers`, `PASSWORD`.

Case, separators, camel case and letters of other alphabets that look Latin make no difference. The
fields of a model are not checked here; any other name that looks like a credential counts as one.
Imports the standard library only, so that a migration may import it.
"""

import json
import re
import unicodedata
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from collections.abc import Iterator, Sequence
from contextlib import suppress
from enum import IntEnum
from functools import lru_cache
from html import escape, unescape
from typing import Final
from urllib.parse import quote, quote_plus, unquote


class SecretNameClass(IntEnum):
    """Classes of names, by the values below them that are secrets."""

    NOTHING = 0
    TEXTS = 1
    """Only texts: the name may also be that of a count, such as `token_budget`."""
    ALL = 2
    """Texts and numbers."""


_ANYWHERE: Final = frozenset(
    {
        "apikey", "apikeys", "auth", "authentication", "authorisation", "authorization",
        "basicauth", "bearer", "cert", "certificate", "certificates", "cookie", "cookies",
        "credential", "credentials", "creds", "header", "headers", "hmac", "jwt", "oauth",
        "passcode", "passphrase", "passwd", "password", "passwords", "passwort", "pwd", "secret",
        "secrets",
    }
)  # fmt: skip
"""Words that announce a credential wherever they occur in a name."""
_LAST: Final = frozenset({"token", "otp", "pin"})
"""Words that announce a credential only at the end of a name: `auth_token`, but not
`token_penalty`.
"""
_VALUE: Final = frozenset({"value", "string", "text", "data"})
"""Words that may follow a credential's word: `token_value`."""
_KEY_KINDS: Final = frozenset(
    {
        "access", "account", "api", "auth", "client", "encryption", "license", "master", "priv",
        "private", "project", "public", "secret", "service", "shared", "sign", "signing", "ssh",
        "ssl", "storage", "subscription",
    }
)  # fmt: skip
_TOKEN_KINDS: Final = frozenset(["access", "api", "auth", "bearer", "id", "refresh", "session"])
_JOINED: Final = re.compile(
    r"api_?keys?|auth_?(?:orization|token)|access_?token|bearer_?token|id_?token|refresh_?token|"
    r"session_?token|pass_?(?:word|phrase|code)|(?:access|private|secret|signing)_?key|"
    r"client_?secret|secret(?!ar)"
)
"""Compounds that are often written without a separator: `accesstoken`, `xapikey`."""
_TEXT_WORDS: Final = frozenset({"sig", "sas", "dsn", "pat", "pin", "otp", "pw", "connstr"})
"""Short words that announce a credential as a whole word only."""
_TEXT_PARTS: Final = re.compile(
    r"token(?!i[sz])|secret(?!ar)|credential|auth(?!or(?!i[sz]))|bearer|cookie|session|signature|"
    r"passw|passwd|pwd|passphrase|passcode|connectionstring|hmac|jwt|"
    r"(?:api|access|private|ssh|master|secret|openai|functions|signing|account|storage)keys?"
)
"""Parts of a name that announce a credential in texts, with or without separators around them."""
_TEXT_ENDS: Final = ("key", "keys")
"""Ends of a name's last word: `x-functions-key`, `openaikey`."""
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SEPARATORS: Final = re.compile(r"[^a-z]+")
_LOOK_ALIKES: Final = str.maketrans(
    "АВЕКМНОРСТУХІЅЈԌԚԜавекмнорстухіѕјԁԛԝһΑΒΕΖΗΙΚΜΝΟΡΤΥΧαεικνορτυχ",
    "ABEKMHOPCTYXISJGQWabekmhopctyxisjdqwhABEZHIKMNOPTYXaeikvoptux",
)
"""Cyrillic and Greek letters, with the Latin letters that look like them."""
MAX_NAME: Final = 512
"""Largest number of characters of a name: new definitions may not have a longer one. In stored ones
a longer name counts as a credential's, and is never cached.
"""


def secret_name_class(name: str) -> SecretNameClass:
    """Returns the class of values under this name that are secrets."""
    return SecretNameClass.ALL if len(name) > MAX_NAME else _secret_name_class(name)


@lru_cache(maxsize=4096)
def _secret_name_class(name: str) -> SecretNameClass:
    text = unicodedata.normalize("NFKC", name).translate(_LOOK_ALIKES)
    split = [word for word in _SEPARATORS.split(_CAMEL.sub("_", text).casefold()) if word]
    plain = [word for word in _SEPARATORS.split(text.casefold()) if word]
    if _announces(split) or _announces(plain):
        return SecretNameClass.ALL
    texts = _announces_texts(split) or _announces_texts(plain)
    return SecretNameClass.TEXTS if texts else SecretNameClass.NOTHING


def _announces(words: list[str]) -> bool:
    while len(words) > 1 and words[-1] in _VALUE:
        words = words[:-1]
    if not words:
        return False
    if not _ANYWHERE.isdisjoint(words) or words[-1] in _LAST:
        return True
    if _JOINED.search("".join(words)) and "tokens" not in words:
        return True
    before = words[-2] if len(words) > 1 else ""
    return (words[-1] in {"key", "keys"} and before in _KEY_KINDS) or (
        words[-1] == "tokens" and before in _TOKEN_KINDS
    )


def _announces_texts(words: list[str]) -> bool:
    if not words:
        return False
    if not _TEXT_WORDS.isdisjoint(words) or words[-1].endswith(_TEXT_ENDS):
        return True
    if any(word.endswith("pass") for word in words):
        return True
    return any(_TEXT_PARTS.search(part) for part in (*words, "".join(words)))


_HEX: Final = "[0-9A-Fa-f]"
_NEXT: Final = f"%[89ABab]{_HEX}"
"""A further byte of a character in UTF-8."""
_ESCAPE: Final = re.compile(
    rf"\\u[dD][89ABab]{_HEX}{{2}}\\u[dD][C-Fc-f]{_HEX}{{2}}"
    rf'|\\(?:u{_HEX}{{4}}|["\\/bfnrt])'
    rf"|%(?:[0-7]{_HEX}|[C-Dc-d]{_HEX}{_NEXT}|[Ee]{_HEX}(?:{_NEXT}){{2}}|[Ff][0-7](?:{_NEXT}){{3}})"
    rf"|&(?:\#(?:[0-9]{{1,7}}|[Xx]{_HEX}{{1,6}})|quot|apos|amp|lt|gt);"
    r"|(?<=[A-Za-z0-9+/]{4})\r?\n(?=[A-Za-z0-9+/])"
)
"""One character, escaped as in JSON (perhaps as a pair of surrogates), a URL or HTML, or the end of
a line between letters of base64.
"""
_UNKNOWN: Final = "\ufffd"


def escapes_in(text: str) -> list[re.Match[str]]:
    """Returns the escapes of a text, in their order."""
    return list(_ESCAPE.finditer(text))


def without_escapes(
    text: str, positions: Sequence[int], escapes: Sequence[re.Match[str]]
) -> tuple[str, Sequence[int]]:
    """Returns the text without its escapes, and the position of each of its characters and of its
    end, given those of `text`.
    """
    pieces, kept, at = list[str](), list[int](), 0
    read = {escape: _character(escape) for escape in {found[0] for found in escapes}}
    for found in escapes:
        character = read[found[0]]
        pieces += [text[at : found.start()], character]
        kept += positions[at : found.start() + len(character)]
        at = found.end()
    return "".join([*pieces, text[at:]]), [*kept, *positions[at:]]


def _character(escape: str) -> str:
    """Returns one character, or none for the end of a line."""
    match escape[0]:
        case "\\":
            character = str(json.loads(f'"{escape}"'))
        case "%":
            character = unquote(escape)
        case "&":
            character = unescape(escape)
        case _:
            return ""
    return character if len(character) == 1 else _UNKNOWN


_BITS: Final = 6
"""Bits of a character of base64."""
_URL_SAFE: Final = bytes.maketrans(b"+/", b"-_")


def texts_of(value: str) -> Iterator[str]:
    """Yields the forms of a credential that are compared without regard to case: as it is, and
    encoded for URLs, JSON, HTML and as hexadecimal digits.
    """
    yield value
    yield json.dumps(value)[1:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    yield escape(value)
    for sent in _bytes_of(value):
        encoded = quote(sent, safe="")
        yield encoded
        yield quote(sent)
        yield quote_plus(sent)
        yield quote(encoded, safe="")
        yield "%" + sent.hex("%")
        yield sent.hex()
        for separator in " :-":
            yield sent.hex(separator)


def base64_of(value: str) -> Iterator[str]:
    """Yields the letters of base64 that the credential alone decides, wherever it begins in the
    text that is encoded; their case counts.
    """
    for sent in _bytes_of(value):
        for before in range(3):
            first = -(-8 * before // _BITS)
            last = 8 * (before + len(sent)) // _BITS
            encoded = b64encode(bytes(before) + sent)[first:last]
            yield encoded.decode()
            yield encoded.translate(_URL_SAFE).decode()
            yield quote(encoded, safe="")


def _bytes_of(value: str) -> Iterator[bytes]:
    """Yields the credential in UTF-8, and in Latin-1, which is the encoding of headers."""
    sent = value.encode("utf-8", "surrogatepass")
    yield sent
    if not value.isascii():
        with suppress(UnicodeEncodeError):
            yield value.encode("latin-1")


def passwords_of(value: str) -> Iterator[str]:
    """Yields user and password, together and the password alone, of the value behind `Basic`."""
    padded = value.rstrip("=") + "=" * (-len(value.rstrip("=")) % 4)
    try:
        pair = b64decode(padded, validate=True).decode()
    except (NotBase64, ValueError):
        return
    yield pair
    yield pair.partition(":")[2]
