"""Rows of a few tokens repeated in one order: the exercise from which a model learns to copy.

Owns the exercise. Copying did not begin within a thousand steps of lessons and made-up words; after
them, on these rows, it began within 250. Must not know lessons.
"""

from __future__ import annotations

import random
import string
from typing import Final

from transformers import PreTrainedTokenizerFast

from workers.base_models.transcript_tokens import IGNORED, Row
from workers.base_models.vocabulary import split_words

PERIODS: Final = (4, 16)
LENGTH: Final = 72
CHARACTERS: Final = string.digits + string.ascii_letters + string.punctuation
WORDS: Final = split_words(
    "red blue house pens coins days months hours text list the of in is by to a I Mia Oslo"
)


def few_tokens(tokenizer: PreTrainedTokenizerFast) -> list[int]:
    """Returns the tokens of characters and some words: with few tokens copying begins sooner."""
    texts = (*CHARACTERS, *WORDS)
    found = {tokenizer.encode(each, add_special_tokens=False)[0] for each in texts}
    return sorted(found)


def repeated_row(rng: random.Random, tokens: list[int]) -> Row:
    """Draws tokens, repeats them, and labels all but their first round."""
    period = rng.randint(*PERIODS)
    drawn = [rng.choice(tokens) for _ in range(period)]
    ids = (drawn * LENGTH)[:LENGTH]
    return Row(ids, [IGNORED] * (period + 1) + ids[period + 1 :])
