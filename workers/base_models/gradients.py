"""The gradient of one step of pre-training.

Owns the loss over the assistant's tokens and the division of a step into parts of about one length.
Must not know what the rows are about.
"""

from __future__ import annotations

from typing import Final

import torch
from transformers import Qwen3ForCausalLM

from workers.base_models.transcript_tokens import IGNORED, Row, collate

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
