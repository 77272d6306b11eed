"""Limits of the forms of pages: of their fields, and of a whole form that has them."""

from collections.abc import Mapping
from typing import Final

from app.domain.errors import InvalidRequest

LONGEST_TEXT: Final = 10_000
"""Characters of a prompt or of an answer."""
LONGEST_ROW: Final = 4_000
"""Characters of a row of a file, as JSON."""
_ENCODED: Final = 9
"""Bytes of the longest character as a browser sends it: `%E2%82%AC`."""
_OTHERS: Final = 4096
"""Bytes of all other fields together, and of the names."""
MAX_FORM_BYTES: Final = _ENCODED * (LONGEST_TEXT + LONGEST_ROW) + _OTHERS
"""Largest form of a page: one that its fields allow always fits."""
_MAX_SIGN_IN_BYTES: Final = 16_384
EXAMPLES_PATH: Final = "/teach/examples"
MAX_EXAMPLES_BYTES: Final = 8 * 1024 * 1024
"""Largest form with examples: a file, or what was typed and pasted."""


def largest_form(path: str) -> int:
    """Returns the limit of a form in bytes. Anyone may send the one of the sign-in page, which has
    nothing but a key; the one of examples has a file.
    """
    limits = {"/sign-in": _MAX_SIGN_IN_BYTES, EXAMPLES_PATH: MAX_EXAMPLES_BYTES}
    return limits.get(path, MAX_FORM_BYTES)


def text_of(form: Mapping[str, str], name: str, *, longest: int) -> str:
    """Returns a text of a form, with the line breaks that its writer saw; browsers send others.
    Raises `InvalidRequest` for one that is longer than its field.
    """
    text = form.get(name, "").replace("\r\n", "\n")
    if len(text) > longest:
        raise InvalidRequest(
            f"'{name}' has {len(text):,} characters; at most {longest:,} are read.", param=name
        )
    return text
