"""Redacts credentials that a server repeats in texts that the service stores.

Owns the rule for values that count as credentials, and their replacement. Finds only literal
repeats: a server that encodes or splits a credential can still reveal it. Imports the standard
library only.
"""

import json
from collections.abc import Mapping
from typing import Any, Final, assert_never
from urllib.parse import parse_qsl, urlsplit

from app.domain.secrets.names import Announced, announced
from app.domain.secrets.urls import REDACTED

LEAST: Final = 8
"""Smallest number of characters of a credential to search for: a shorter one may be an ordinary
word.
"""
_LONG: Final = 20
"""Number of characters from which a value with a digit and no space counts as a credential under
any name.
"""


class Echoes:
    """The credentials in a server's headers and URL query: values under names that announce a
    credential, and values too long to be words. In a value with a scheme, such as `Bearer …`, the
    part after the scheme counts too.
    """

    def __init__(self, headers: Mapping[str, str], url: str) -> None:
        sent = [*headers.items(), *parse_qsl(urlsplit(url).query)]
        secret = [value for name, value in sent if _is_credential(name, value)]
        parts = {part for value in secret for part in (value, value.partition(" ")[2])}
        # The longest first: it may contain a shorter one.
        self._values = sorted((part for part in parts if len(part) >= LEAST), key=len, reverse=True)

    def hidden_in(self, text: str) -> str:
        """Returns the text with each credential replaced by `[redacted]`."""
        for value in self._values:
            text = text.replace(value, REDACTED)
        return text

    def hidden_in_json(self, text: str) -> str:
        """Returns a text of JSON in which every string and key is as `hidden_in` returns it. A text
        without a credential is returned unchanged.
        """
        if not self._values:
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


def _is_credential(name: str, value: str) -> bool:
    match announced(name):
        case Announced.TEXTS | Announced.ALL:
            return True
        case Announced.NOTHING:
            return (
                len(value) >= _LONG and " " not in value and any(char.isdigit() for char in value)
            )
        case other:
            assert_never(other)
