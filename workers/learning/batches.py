"""Samples to padded micro-batches.

Owns what the model is run on. Promises: rows are sorted by length so that little is padded; tokens
after the last trained one are cut, since nothing that is trained depends on them; samples with
advantage 0 cost no work; targets are shifted here and nowhere else. Padding stands on the right:
under causal attention no real token sees it, so no attention mask is needed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor

from workers.learning.samples import TrainingSample

_PAD = 0  # any valid token id: what is computed there is never read


@dataclass(frozen=True, slots=True)
class MicroBatch:
    """B right-padded rows of T input tokens and the N trained tokens in them.

    `positions_N` are indices into the flattened B·T inputs whose output predicts `targets_N`, that
    is, one before the target's own place.
    """

    ids_BT: Tensor
    positions_N: Tensor
    targets_N: Tensor
    sampler_logprobs_N: Tensor
    advantages_N: Tensor

    def to(self, device: torch.device) -> Self:
        return type(self)(
            self.ids_BT.to(device),
            self.positions_N.to(device),
            self.targets_N.to(device),
            self.sampler_logprobs_N.to(device),
            self.advantages_N.to(device),
        )


def trained_tokens(samples: Sequence[TrainingSample]) -> int:
    """The denominator of one optimizer step: every token with mask 1, samples with advantage 0
    included, since they are part of what was sampled.
    """
    return sum(sample.trained_tokens for sample in samples)


def micro_batches(samples: Sequence[TrainingSample], *, max_tokens: int) -> list[MicroBatch]:
    """Rows in order of length, as many to a micro-batch as `max_tokens` padded tokens hold; a
    longer row gets one of its own. Ties keep their order, so the same samples always give the
    same batches.
    """
    rows = [(_input_length(sample), sample) for sample in samples if sample.advantage != 0.0]
    rows = sorted((row for row in rows if row[0] > 0), key=lambda row: row[0])
    batches: list[MicroBatch] = []
    start = 0
    for end in range(1, len(rows) + 1):
        following = rows[end][0] if end < len(rows) else None
        if following is None or (end + 1 - start) * following > max_tokens:
            batches.append(_collate(rows[start:end]))
            start = end
    return batches


def _input_length(sample: TrainingSample) -> int:
    """Inputs up to the one that predicts the last trained token; 0 when none is trained."""
    places = [place for place, trained in enumerate(sample.mask) if trained]
    return places[-1] if places else 0


def _collate(rows: Sequence[tuple[int, TrainingSample]]) -> MicroBatch:
    width = rows[-1][0]
    ids: list[list[int]] = []
    positions: list[int] = []
    targets: list[int] = []
    logprobs: list[float] = []
    advantages: list[float] = []
    for number, (length, sample) in enumerate(rows):
        ids.append([*sample.tokens[:length], *[_PAD] * (width - length)])
        places = [place for place in range(1, length + 1) if sample.mask[place]]
        positions.extend(number * width + place - 1 for place in places)
        targets.extend(sample.tokens[place] for place in places)
        logprobs.extend(sample.logprobs[place] for place in places)
        advantages.extend([sample.advantage] * len(places))
    return MicroBatch(
        ids_BT=torch.tensor(ids, dtype=torch.long),
        positions_N=torch.tensor(positions, dtype=torch.long),
        targets_N=torch.tensor(targets, dtype=torch.long),
        sampler_logprobs_N=torch.tensor(logprobs, dtype=torch.float32),
        advantages_N=torch.tensor(advantages, dtype=torch.float32),
    )
