"""Takes the escapes out of a text, and keeps the position of each character that is left.

A server that writes a credential as JSON, HTML, a URL or lines of base64 may escape any of its
characters, so no list of forms has them all. Promises: linear time. Imports the standard library
only.
"""

import json
import re
from collections.abc import Sequence
from html import unescape
from typing import Final
from urllib.parse import unquote

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
