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
    rows_N: Tensor
    """The row, 0 to B - 1, that a token stands in."""

    def to(self, device: torch.device) -> Self:
        return type(self)(
            self.ids_BT.to(device),
            self.positions_N.to(device),
            self.targets_N.to(device),
            self.sampler_logprobs_N.to(device),
            self.advantages_N.to(device),
            self.rows_N.to(device),
        )


def trained_tokens(samples: Sequence[TrainingSample]) -> int:
    """The denominator of one optimizer step: every token with mask 1, samples with advantage 0
    included, since they are part of what was sampled.
    """
    return sum(sample.trained_tokens for sample in samples)


def micro_batches(
    samples: Sequence[TrainingSample], *, max_tokens: int, unit: int = 1
) -> list[MicroBatch]:
    """Rows in order of length, as many to a micro-batch as `max_tokens` padded tokens hold; a
    longer row gets one of its own. `unit` neighbouring samples stay together, in their order. Ties
    keep their order, so the same samples always give the same batches.
    """
    units = [_Unit.of(samples[start : start + unit]) for start in range(0, len(samples), unit)]
    units = sorted((one for one in units if one.works), key=lambda one: one.width)
    batches: list[MicroBatch] = []
    start = 0
    for end in range(1, len(units) + 1):
        following = units[end].width if end < len(units) else None
        if following is None or (end + 1 - start) * unit * following > max_tokens:
            batches.append(_collate([row for one in units[start:end] for row in one.rows]))
            start = end
    return batches


@dataclass(frozen=True, slots=True)
class _Unit:
    rows: tuple[tuple[int, TrainingSample], ...]
    """With their input lengths."""

    @classmethod
    def of(cls, samples: Sequence[TrainingSample]) -> Self:
        return cls(tuple((_input_length(sample), sample) for sample in samples))

    @property
    def width(self) -> int:
        return max(length for length, _ in self.rows)

    @property
    def works(self) -> bool:
        return any(length > 0 and sample.advantage != 0.0 for length, sample in self.rows)


def _input_length(sample: TrainingSample) -> int:
    """Inputs up to the one that predicts the last trained token; 0 when none is trained."""
    places = [place for place, trained in enumerate(sample.mask) if trained]
    return places[-1] if places else 0


def _collate(rows: Sequence[tuple[int, TrainingSample]]) -> MicroBatch:
    width = max(length for length, _ in rows)
    ids: list[list[int]] = []
    positions: list[int] = []
    targets: list[int] = []
    logprobs: list[float] = []
    advantages: list[float] = []
    row_numbers: list[int] = []
    for number, (length, sample) in enumerate(rows):
        ids.append([*sample.tokens[:length], *[_PAD] * (width - length)])
        places = [place for place in range(1, length + 1) if sample.mask[place]]
        positions.extend(number * width + place - 1 for place in places)
        targets.extend(sample.tokens[place] for place in places)
        logprobs.extend(sample.logprobs[place] for place in places)
        advantages.extend([sample.advantage] * len(places))
        row_numbers.extend([number] * len(places))
    return MicroBatch(
        ids_BT=torch.tensor(ids, dtype=torch.long),
        positions_N=torch.tensor(positions, dtype=torch.long),
        targets_N=torch.tensor(targets, dtype=torch.long),
        sampler_logprobs_N=torch.tensor(logprobs, dtype=torch.float32),
        advantages_N=torch.tensor(advantages, dtype=torch.float32),
        rows_N=torch.tensor(row_numbers, dtype=torch.long),
    )
