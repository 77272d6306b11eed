"""Normalises long texts in pieces, so that the interpreter lock is released between them, and takes
out their escapes.
"""

import re
import unicodedata
from collections import Counter
from html import unescape
from typing import Final, Literal

from app.domain.graders.texts.combining_marks import pieces
from app.grading.texts.long_texts import replaced_in

NormalForm = Literal["NFC", "NFD", "NFKC", "NFKD"]
_ZEROS: Final = re.compile(r"&#([xX]?)0+(?=[0-9a-fA-F])")
_TOO_LONG: Final = re.compile(r"&#[xX]?[0-9a-fA-F]{8,}+;?")
"""A reference to no character, which `unescape` does not read from 4,300 digits on."""
_LONG_LIGATURES: Final = re.compile(r"[\ufdfa\ufdfb\u3300-\u3357]+")
"""Arabic phrases of up to 18 letters and Japanese words in one character: no verdicts."""
_UNSEEN: Final = re.compile(
    r"[\u00ad\u034f\u061c\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u20e3\ufe00-\ufe0f\ufeff"
    r"\U000e0000-\U000e01ef]"
)
"""Characters without a width: joiners, directions, variants and tags."""
_ESCAPE: Final = re.compile(r"\\u([0-9a-f]{4})", re.IGNORECASE)


def normalised_text(form: NormalForm, text: str) -> str:
    """Returns the normal form. Other threads run between the pieces: one call for four million
    characters would stop them for half a second.
    """
    if text.isascii():
        return text
    return "".join(unicodedata.normalize(form, piece) for piece in pieces(text))


def length_normalised(form: NormalForm, text: str) -> int:
    """Returns the sum of the characters' lengths in a normal form."""
    counts = Counter[str]()
    for piece in pieces(text):
        counts.update(piece)
    return sum(times * len(unicodedata.normalize(form, each)) for each, times in counts.items())


def plain_text(text: str) -> str:
    """Returns a text without the escapes of HTML and JSON and without unseen characters, and with
    plain forms of letters.
    """
    for _ in range(2):
        text = _without_references(text)
    if "\\u" in text:
        text = _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text)
    if not text.isascii():
        text = replaced_in(_UNSEEN, "", replaced_in(_LONG_LIGATURES, " ", text))
    return normalised_text("NFKC", text)


def _without_references(text: str) -> str:
    """Returns a text with the characters that HTML's references in it stand for."""
    if "&" not in text:
        return text
    return unescape(_TOO_LONG.sub("\ufffd", _ZEROS.sub(r"&#\1", text)))
