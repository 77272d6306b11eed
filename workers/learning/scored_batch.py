"""A micro-batch after the forward pass: the inputs of a loss, whole or split by sample set.

Owns the way back from packed rows to samples. Must not know models or losses.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor

from workers.learning.batches import MicroBatch
from workers.learning.head import TokenScores
from workers.learning.losses.contract import LossInputs


@dataclass(frozen=True, slots=True)
class ScoredBatch:
    """Values of the same N trained tokens."""

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
    scored: ScoredBatch, sources: Sequence[int], owners: Sequence[int]
) -> Iterator[tuple[int, ScoredBatch]]:
    """The parts of a micro-batch that are of one owner each. `sources`: of every row, its sample;
    `owners`: of every sample, and one for the samples of a unit. A part's rows are counted from 0
    and keep their order, those without tokens included: the rows of a pair stay what they are.
    """
    places: dict[int, dict[int, int]] = {}
    for row, source in enumerate(sources):
        own = places.setdefault(owners[source], {})
        own[row] = len(own)
    rows_N = scored.inputs.rows_N
    for owner, numbers in places.items():
        new_R = torch.full((len(sources),), -1, dtype=rows_N.dtype, device=rows_N.device)
        for row, number in numbers.items():
            new_R[row] = number
        renumbered_N = new_R[rows_N]
        keep_N = renumbered_N >= 0
        yield owner, _part(scored, keep_N, renumbered_N[keep_N])


def _part(scored: ScoredBatch, keep_N: Tensor, rows_N: Tensor) -> ScoredBatch:
    inputs, scores = scored.inputs, scored.scores
    mean_N = None if inputs.mean_logprobs_N is None else inputs.mean_logprobs_N[keep_N]
    logprobs_N = inputs.logprobs_N[keep_N]
    return ScoredBatch(
        LossInputs(
            logprobs_N=logprobs_N,
            sampler_logprobs_N=inputs.sampler_logprobs_N[keep_N],
            advantages_N=inputs.advantages_N[keep_N],
            mask_N=inputs.mask_N[keep_N],
            rows_N=rows_N,
            mean_logprobs_N=mean_N,
        ),
        TokenScores(logprobs_N, scores.entropy_N[keep_N], mean_N, scores.top_N[keep_N]),
    )
