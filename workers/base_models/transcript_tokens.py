"""Rendered transcripts as token rows with assistant-only labels.

Owns the boundaries of the assistant's tokens. Promises that the ids of a row equal the tokenizer's
ids of the whole text. Must not know the subject of the transcripts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import Tensor
from transformers import PreTrainedTokenizerFast

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
