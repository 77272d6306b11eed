"""Secrets inside an URL: the values of its query, its fragment and its user information.

Owns the shown form of an URL and of a text with URLs, and the recognition of that form when it is
sent back. Imports the standard library only, so that a migration may import it.
"""

import re
from typing import Final

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
