"""The loss of one micro-batch, and its gradient.

Promises: computing either changes nothing, so that a micro-batch that ran out of memory can be
repeated; statistics and gradient are added by the caller afterwards. Must not know optimizers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor, nn

from workers.learning.losses.contract import Loss, LossTerms
from workers.learning.mismatch_config import MismatchConfig
from workers.learning.objective.mismatch import CorrectedInputs, correct
from workers.learning.objective.scored_batch import ScoredBatch
from workers.learning.objective.update_stats import StatsTally


@dataclass(frozen=True, slots=True)
class BatchLoss:
    scored: ScoredBatch
    corrected: CorrectedInputs | None
    terms: LossTerms

    @classmethod
    def of(cls, scored: ScoredBatch, loss: Loss, mismatch: MismatchConfig | None) -> Self:
        corrected = None if mismatch is None else correct(scored.inputs, mismatch)
        terms = loss(scored.inputs if corrected is None else corrected.inputs)
        return cls(scored, corrected, terms)

    @property
    def total(self) -> float:
        return float(self.terms.total.detach())

    def add_to(self, tally: StatsTally) -> None:
        if self.corrected is not None:
            tally.add_correction(self.corrected)
        scores, sampler_logprobs_N = self.scored.scores, self.scored.inputs.sampler_logprobs_N
        tally.add_tokens(scores, sampler_logprobs_N, self.terms.clipped_N)
        tally.add_loss_sums(self.terms.sums)


@dataclass(frozen=True, slots=True)
class BatchGradient:
    """The gradient of a micro-batch's loss sum."""

    loss: BatchLoss
    values: tuple[Tensor | None, ...]
    """Parallel to the parameters; `None` for one that the loss does not depend on."""

    @classmethod
    def of(cls, loss: BatchLoss, parameters: Sequence[nn.Parameter]) -> Self:
        return cls(loss, torch.autograd.grad(loss.terms.total, parameters, allow_unused=True))

    def add_to(self, parameters: Sequence[nn.Parameter]) -> None:
        for parameter, value in zip(parameters, self.values, strict=True):
            if value is None:
                continue
            if parameter.grad is None:
                parameter.grad = value
            else:
                parameter.grad.add_(value)
