"""Secrets inside an URL: the values of its query, its fragment and its user information.

Owns the shown form of an URL. The standard library alone, so that a migration may import it.
"""

import re
from typing import Final

REDACTED: Final = "[redacted]"
MAX_SHOWN: Final = 2000
"""A shown URL that would be longer hides the names of its query too."""
_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S+")
_USER: Final = re.compile(r"^([^/?#]*://)[^/?#]*@")


def is_url(text: str) -> bool:
    return _URL.fullmatch(text.strip()) is not None


def shown_url(url: str) -> str:
    """The URL with each query value, the fragment and user information as `[redacted]`.

    Names in the query stay. An URL that holds no such part is returned as it is.
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
