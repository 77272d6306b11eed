"""Texts that customers send: patterns, words of a refusal, and what Postgres can store."""

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from threading import Lock
from typing import Any, Final

TOOL_NAME: Final = r"^[a-zA-Z0-9_-]{1,64}$"
SERVER_LABEL: Final = r"^[a-zA-Z][a-zA-Z0-9_-]{0,63}$"
FORMULA_NAME: Final = r"[A-Za-z_][A-Za-z0-9_]{0,63}"
TAG: Final = r"^[A-Za-z_][A-Za-z0-9_.-]{0,63}$"
MD5: Final = r"^[0-9a-fA-F]{32}$"
PRINTABLE_ASCII: Final = r"^[!-~]{1,256}$"

_PART: Final = r"[A-Za-z0-9][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*"
DATA_SET: Final = rf"^{_PART}/{_PART}$"
"""Owner and name, without `..`."""
DATA_SPLIT: Final = r"^[A-Za-z0-9_.]{1,64}$"
REVISION: Final = r"^[A-Za-z0-9_][A-Za-z0-9_./-]{0,127}$"
TRACKER_PROJECT: Final = r"^[A-Za-z0-9][A-Za-z0-9_.\- ]{0,99}$"
PATTERNS: Final[Mapping[str, str]] = {
    TOOL_NAME: "1 to 64 letters, digits, '_' and '-'",
    SERVER_LABEL: "1 to 64 letters, digits, '_' and '-', a letter first",
    f"^{FORMULA_NAME}$": "a name of letters, digits and '_' that does not start with a digit",
    TAG: "1 to 64 letters, digits, '_', '.' and '-', a letter or '_' first",
    TRACKER_PROJECT: "1 to 100 letters, digits, spaces, '_', '.' and '-', no mark first",
    DATA_SET: "owner and name of a data set, such as 'openai/gsm8k'",
    DATA_SPLIT: "1 to 64 letters, digits, '_' and '.'",
    REVISION: "1 to 128 letters, digits, '_', '.', '/' and '-', a letter, a digit or '_' first",
    MD5: "32 hexadecimal digits",
    PRINTABLE_ASCII: "1 to 256 printable ASCII characters without spaces",
}

_one_at_a_time = Lock()


def module_of(source: str) -> ast.Module:
    """Raises what `ast.parse` raises: SyntaxError, ValueError, RecursionError, MemoryError."""
    with _one_at_a_time:
        return ast.parse(source)  # noqa: TID251 - the lock is held


def expression_of(text: str) -> ast.Expression:
    with _one_at_a_time:
        return ast.parse(text, mode="eval")  # noqa: TID251 - the lock is held


Redaction = Callable[[str], str]

_PATTERNS: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    (re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}"), "[e-mail]"),
    (re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}+(?: ?[A-Z0-9]{1,3}+)?+\b"), "[iban]"),
    (re.compile(r"(?<![\w+])(?:\+|00)\d(?:[ ./()-]{0,2}\d){6,14}+(?!\w)"), "[phone]"),
)


def nothing(text: str) -> str:
    return text


def shaped_data(text: str) -> str:
    """Returns the text with `[e-mail]`, `[iban]` and `[phone]` (international ones) in place."""
    for pattern, placeholder in _PATTERNS:
        text = pattern.sub(placeholder, text)
    return text


def redacted_in(value: Any, redaction: Redaction) -> Any:
    if isinstance(value, str):
        return redaction(value)
    if isinstance(value, dict):
        return {key: redacted_in(inner, redaction) for key, inner in value.items()}
    if isinstance(value, list):
        return [redacted_in(inner, redaction) for inner in value]
    return value


UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")


def storable(text: str) -> str:
    return UNSTORABLE.sub("\ufffd", text)


def excerpt(text: str, *, most: int) -> str:
    """Returns an external text for a message: cut, with U+FFFD for control characters."""
    cut = text if len(text) <= most else text[:most] + "…"
    return "".join(each if each.isprintable() else "\ufffd" for each in cut)


def first_unstorable(value: Any) -> str | None:
    found = (UNSTORABLE.search(text) for text in _strings(value))
    return next((character[0] for character in found if character is not None), None)


def has_nul(value: Any) -> bool:
    return any("\x00" in text for text in _strings(value))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)
