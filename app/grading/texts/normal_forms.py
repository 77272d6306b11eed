"""Normalises long texts in pieces, so that the interpreter lock is released between them."""

import unicodedata
from collections import Counter
from typing import Literal

from app.domain.graders.texts.combining_marks import pieces

NormalForm = Literal["NFC", "NFD", "NFKC", "NFKD"]


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
