"""Replaces personal data in texts before they are stored. Pure.

The patterns find what has a form: e-mail addresses, international bank account numbers, telephone
numbers. Names and postal addresses have none, so this is no promise of anonymity.
"""

import re
from collections.abc import Callable
from typing import Any, Final

Redaction = Callable[[str], str]
"""Returns a text without what may not be stored."""

_PATTERNS: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    (
        re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}"),
        "[e-mail]",
    ),
    (re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}+(?: ?[A-Z0-9]{1,3}+)?+\b"), "[iban]"),
    (re.compile(r"(?<![\w+])(?:\+|00)\d(?:[ ./()-]{0,2}\d){6,14}+(?!\w)"), "[phone]"),
)


def nothing(text: str) -> str:
    """Returns the text as it is."""
    return text


def shaped_data(text: str) -> str:
    """Returns the text with e-mail addresses, IBANs and international telephone numbers replaced by
    `[e-mail]`, `[iban]` and `[phone]`.
    """
    for pattern, placeholder in _PATTERNS:
        text = pattern.sub(placeholder, text)
    return text


def redacted_in(value: Any, redaction: Redaction) -> Any:
    """Returns a JSON value with every text replaced by its redaction; keys stay."""
    if isinstance(value, str):
        return redaction(value)
    if isinstance(value, dict):
        return {key: redacted_in(inner, redaction) for key, inner in value.items()}
    if isinstance(value, list):
        return [redacted_in(inner, redaction) for inner in value]
    return value
