"""Rendered transcripts as token rows with assistant-only labels.

The ids of a row equal the tokenizer's ids of the whole text.
"""

from __future__ import annotations

import random
import re
import string
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import Tensor
from transformers import PreTrainedTokenizerFast, Qwen3ForCausalLM

from labs.base_models.vocabulary import split_words, strange_word

IGNORED: Final = -100
ASSISTANT: Final = re.compile(r"(?<=<\|im_start\|>assistant\n)(.*?<\|im_end\|>)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Row:
    """Token ids and parallel labels: the id for tokens of the assistant, else IGNORED."""

    ids: list[int]
    labels: list[int]


def render(
    tokenizer: PreTrainedTokenizerFast,
    messages: Sequence[dict[str, Any]],
    tools: Sequence[dict[str, Any]],
) -> str:
    """Returns a transcript as the chat template writes it."""
    text = tokenizer.apply_chat_template([*messages], tools=[*tools], tokenize=False)
    return str(text)


def encode(tokenizer: PreTrainedTokenizerFast, text: str) -> Row:
    """Tokenizes a transcript. The odd pieces of the split are the assistant's, including its
    end-of-turn token.
    """
    ids: list[int] = []
    labels: list[int] = []
    for index, piece in enumerate(ASSISTANT.split(text)):
        piece_ids = tokenizer.encode(piece, add_special_tokens=False)
        ids += piece_ids
        labels += piece_ids if index % 2 else [IGNORED] * len(piece_ids)
    return Row(ids, labels)


def collate(rows: list[Row], *, pad_id: int) -> tuple[Tensor, Tensor]:
    """Returns ids_BT and labels_BT, right-padded; causal attention needs no padding mask."""
    longest = max(len(row.ids) for row in rows)
    ids = [row.ids + [pad_id] * (longest - len(row.ids)) for row in rows]
    labels = [row.labels + [IGNORED] * (longest - len(row.labels)) for row in rows]
    return torch.tensor(ids), torch.tensor(labels)


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


PART_ROWS: Final = 8


def add_gradient(model: Qwen3ForCausalLM, rows: list[Row], *, pad_id: int) -> float:
    """Adds the gradient of the mean loss over the assistant's tokens. Rows of about one length go
    together, which saves padding; the step still has every length, and so every behaviour, in it.
    """
    spoken = sum(label != IGNORED for row in rows for label in row.labels)
    total = 0.0
    for start in range(0, len(rows), PART_ROWS):
        ids_BT, labels_BT = collate(rows[start : start + PART_ROWS], pad_id=pad_id)
        hidden_BTH = model.model(input_ids=ids_BT, use_cache=False).last_hidden_state
        next_BT = labels_BT[:, 1:]
        logits_NV = model.lm_head(hidden_BTH[:, :-1][next_BT != IGNORED])
        loss = torch.nn.functional.cross_entropy(
            logits_NV, next_BT[next_BT != IGNORED], reduction="sum"
        )
        (loss / spoken).backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        total += loss.item() / spoken
    return total


PERIODS: Final = (4, 16)
LENGTH: Final = 72
CHARACTERS: Final = string.digits + string.ascii_letters + string.punctuation
REPEATED_WORDS: Final = split_words(
    "red blue house pens coins days months hours text list the of in is by to a I Mia Oslo"
)


def few_tokens(tokenizer: PreTrainedTokenizerFast) -> list[int]:
    """Returns the tokens of characters and some words: with few tokens copying begins sooner."""
    texts = (*CHARACTERS, *REPEATED_WORDS)
    found = {tokenizer.encode(each, add_special_tokens=False)[0] for each in texts}
    return sorted(found)


def repeated_row(rng: random.Random, tokens: list[int]) -> Row:
    """Draws tokens, repeats them, and labels all but their first round."""
    period = rng.randint(*PERIODS)
    drawn = [rng.choice(tokens) for _ in range(period)]
    ids = (drawn * LENGTH)[:LENGTH]
    return Row(ids, [IGNORED] * (period + 1) + ids[period + 1 :])
