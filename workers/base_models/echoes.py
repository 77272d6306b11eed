"""Rows of repeated made-up words: the exercise from which the tiny base model learns to copy names.

Owns the exercise. A transcript repeats few names, and the model learns from it alone to copy words
that it has often seen; here nothing but copying helps. Must not know transcripts.
"""

from __future__ import annotations

import random
from typing import Final

from transformers import PreTrainedTokenizerFast

from workers.base_models.transcript_tokens import IGNORED, Row
from workers.base_models.vocabulary import strange_word

WORDS: Final = (2, 6)
REPEATS: Final = 12
SEPARATORS: Final = ('": "', '", "', '", "arguments": {"', "\n", "_", "(", ", ", " / ", ": ")


def echo_row(rng: random.Random, tokenizer: PreTrainedTokenizerFast) -> Row:
    """Draws words, repeats them in random order and labels a repeated word from its second token to
    the separator after it: the first one gives away which word follows.
    """
    separator = tokenizer.encode(rng.choice(SEPARATORS), add_special_tokens=False)[:1]
    words = {strange_word(rng) + strange_word(rng) for _ in range(rng.randint(*WORDS))}
    drawn = [tokenizer.encode(word, add_special_tokens=False) for word in sorted(words)]
    rng.shuffle(drawn)
    row, labels = [*separator], [IGNORED]
    for position, word in enumerate([*drawn, *rng.choices(drawn, k=REPEATS)]):
        known = position >= len(drawn)
        row += [*word, *separator]
        labels += [IGNORED, *(word[1:] + separator if known else [IGNORED] * len(word))]
    return Row(row, labels)
