"""The part of a batch's work that one forward pass computes, and how it is packed.

Owns the packing: one token of each running row of the part, then tokens of its prompts up to a
limit. Must not know queues, sampling or the choice of the part.
"""

from dataclasses import dataclass
from typing import Final

import torch

from workers.engines.cpu.batching.sequence import Sequence
from workers.engines.cpu.models.attention import Prefill, Step
from workers.engines.cpu.models.kv_pool import KvPool

PREFILL_TOKENS: Final = 512
"""Limit of prompt tokens per iteration: longer prompts take several, between which rows advance."""


@dataclass(frozen=True, slots=True)
class StepLimit:
    """The most work of one forward pass."""

    prompt_tokens: int = PREFILL_TOKENS
    rows: int | None = None
    """The most running rows, which then alternate, and not beside prompts; `None`: all of them."""


WHOLE: Final = StepLimit()


@dataclass(frozen=True, slots=True)
class BatchPart:
    rows: range
    """Rows that get their next token."""
    prompts: range
    """Rows whose prompts are computed, up to a limit of tokens; they come after all others."""

    def __bool__(self) -> bool:
        return bool(self.rows) or bool(self.prompts)


def packed_batch(
    part: BatchPart,
    sequences: list[Sequence],
    kv_pool: KvPool,
    *,
    prompt_tokens: int,
    query_heads: int,
    invariant: bool,
) -> tuple[Step, list[int]]:
    """Returns the forward pass of a part and the ids of its tokens. `sequences`: of all rows."""
    rows = list(part.rows)
    positions = [sequences[row].computed_tokens for row in part.rows]
    ids = [sequences[row].tokens[-1] for row in part.rows]
    prefills, budget = [], prompt_tokens
    for row in part.prompts:
        sequence = sequences[row]
        start = sequence.computed_tokens
        end = min(len(sequence.tokens), start + budget)
        budget -= end - start
        prefills.append(Prefill(row, start, len(ids), end - start))
        ids += sequence.tokens[start:end]
        rows += [row] * (end - start)
        positions += range(start, end)
    step = Step(
        kv_pool,
        decoding=part.rows,
        prefills=prefills,
        rows_N=torch.tensor(rows),
        positions=positions,
        positions_N=torch.tensor(positions),
        query_heads=query_heads,
        invariant=invariant,
    )
    return step, ids
