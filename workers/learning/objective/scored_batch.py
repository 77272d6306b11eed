"""A micro-batch after the forward pass: the inputs of a loss, complete or split by sample set.

Owns the mapping from packed rows back to samples. Must not know models or losses.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor

from workers.learning.batches.batches import MicroBatch
from workers.learning.forward.head import TokenScores
from workers.learning.losses.contract import LossInputs


@dataclass(frozen=True, slots=True)
class ScoredBatch:
    """Loss inputs and scores of the same N trained tokens."""

    inputs: LossInputs
    scores: TokenScores

    @classmethod
    def of(cls, batch: MicroBatch, scores: TokenScores) -> Self:
        return cls(
            LossInputs(
                logprobs_N=scores.logprobs_N,
                sampler_logprobs_N=batch.sampler_logprobs_N,
                advantages_N=batch.advantages_N,
                mask_N=torch.ones_like(batch.targets_N, dtype=torch.bool),
                rows_N=batch.rows_N,
                mean_logprobs_N=scores.mean_logprobs_N,
            ),
            scores,
        )


def split_by_set(
    scored: ScoredBatch, sources: Sequence[int], set_numbers: Sequence[int]
) -> Iterator[tuple[int, ScoredBatch]]:
    """Yields each sample set's number and its part of a micro-batch. `sources` maps rows to
    samples; `set_numbers` maps samples to sets, where all samples of an example are in the same
    set. Rows of a part are renumbered from 0 in their order, including rows without tokens, so that
    the rows of a pair stay adjacent.
    """
    rows_by_set: dict[int, dict[int, int]] = {}
    for row, source in enumerate(sources):
        set_rows = rows_by_set.setdefault(set_numbers[source], {})
        set_rows[row] = len(set_rows)
    rows_N = scored.inputs.rows_N
    for set_number, numbers in rows_by_set.items():
        new_R = torch.full((len(sources),), -1, dtype=rows_N.dtype, device=rows_N.device)
        for row, number in numbers.items():
            new_R[row] = number
        renumbered_N = new_R[rows_N]
        selected_N = renumbered_N >= 0
        yield set_number, _part(scored, selected_N, renumbered_N[selected_N])


def _part(scored: ScoredBatch, selected_N: Tensor, rows_N: Tensor) -> ScoredBatch:
    inputs, scores = scored.inputs, scored.scores
    mean_N = None if inputs.mean_logprobs_N is None else inputs.mean_logprobs_N[selected_N]
    logprobs_N = inputs.logprobs_N[selected_N]
    return ScoredBatch(
        LossInputs(
            logprobs_N=logprobs_N,
            sampler_logprobs_N=inputs.sampler_logprobs_N[selected_N],
            advantages_N=inputs.advantages_N[selected_N],
            mask_N=inputs.mask_N[selected_N],
            rows_N=rows_N,
            mean_logprobs_N=mean_N,
        ),
        TokenScores(logprobs_N, scores.entropy_N[selected_N], mean_N, scores.top_N[selected_N]),
    )
