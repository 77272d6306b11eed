"""Accumulates the statistics of one update.

Owns the sums over micro-batches behind the `train/*` curves. Promises: means over computed tokens,
which are absent if no token was computed. A value that is not finite is dropped when its step is
committed. Must not know models or losses.
"""

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from app.domain.rollouts import metrics as names
from workers.learning.forward.head import TokenScores
from workers.learning.objective.mismatch import CorrectedInputs
from workers.learning.trainer import UpdateStats


class StatsTally:
    def __init__(self, *, learning_rate: float) -> None:
        self._learning_rate = learning_rate
        self._sums_5 = torch.zeros(5, dtype=torch.float64)
        self._max_log_ratio = torch.zeros((), dtype=torch.float64)
        self._losses: list[float] = []
        self._norms: list[float] = []
        self._skipped = 0
        self._masked_truncated: tuple[float, float] | None = None
        self._base_distances: list[tuple[float, int]] = []
        self._loss_sums: dict[str, float] = {}
        self.denominator = 0
        """Sum of the denominators of all optimizer steps."""

    @torch.no_grad()
    def add_tokens(
        self, scores: TokenScores, sampler_logprobs_N: Tensor, clipped_N: Tensor
    ) -> None:
        """Adds one micro-batch. k3 = r - 1 - log r with r = trainer / sampler, whose mean estimates
        KL(sampler ‖ trainer). Source: Schulman, "Approximating KL divergence", 2020.
        """
        log_ratio_N = (scores.logprobs_N - sampler_logprobs_N).double()
        k3_N = log_ratio_N.clamp(max=20.0).exp() - 1.0 - log_ratio_N
        sums = [
            k3_N.sum(),
            scores.entropy_N.double().sum(),
            clipped_N.double().sum(),
            scores.top_N.double().sum(),
        ]
        self._sums_5[:4] += torch.stack(sums).cpu()
        self._sums_5[4] += log_ratio_N.numel()
        self._max_log_ratio = torch.maximum(self._max_log_ratio, log_ratio_N.abs().max().cpu())

    @torch.no_grad()
    def add_correction(self, corrected: CorrectedInputs) -> None:
        """Adds the masked and truncated tokens of one micro-batch."""
        masked, truncated = self._masked_truncated or (0.0, 0.0)
        self._masked_truncated = (
            masked + float(corrected.masked_N.sum()),
            truncated + float(corrected.truncated_N.sum()),
        )

    def add_loss_sums(self, sums: Mapping[str, Tensor]) -> None:
        """Adds the `LossTerms.sums` of one micro-batch."""
        for name, value in sums.items():
            self._loss_sums[name] = self._loss_sums.get(name, 0.0) + float(value)

    def add_base_distance(self, total: float, tokens: int) -> None:
        """Adds `total`, the sum of q - base over `tokens` trained tokens."""
        self._base_distances.append((total, tokens))

    def add_denominator(self, denominator: int) -> None:
        """Adds the denominator of one optimizer step."""
        self.denominator += denominator

    def add_step(self, loss: float, grad_norm: float) -> None:
        self._losses.append(loss)
        self._norms.append(grad_norm)

    def add_skipped_step(self) -> None:
        self._skipped += 1

    def values(self) -> UpdateStats:
        tokens = float(self._sums_5[4])
        values = {
            names.LEARNING_RATE: self._learning_rate,
            names.COMPUTED_TOKENS: tokens,
            names.SKIPPED_STEPS: float(self._skipped),
        }
        values |= self._means(tokens) if tokens else {}
        values |= {n: v / max(1, self.denominator) for n, v in self._loss_sums.items()}
        if self._base_distances:
            totals, counts = zip(*self._base_distances, strict=True)
            values[names.BASE_KL_K1] = math.fsum(totals) / max(1, sum(counts))
        if self._losses:
            values[names.LOSS] = sum(self._losses) / len(self._losses)
            values[names.GRAD_NORM] = sum(self._norms) / len(self._norms)
        return values

    def _means(self, tokens: float) -> UpdateStats:
        """Returns the means over computed tokens, of which there is at least one."""
        k3, entropy, clipped, top, _ = self._sums_5.tolist()
        values = {
            names.ENTROPY: entropy / tokens,
            names.TOKEN_ACCURACY: top / tokens,
            names.SAMPLER_KL_K3: k3 / tokens,
            names.SAMPLER_MAX_LOG_RATIO: float(self._max_log_ratio),
            names.CLIPPED_SHARE: clipped / tokens,
        }
        if self._masked_truncated is not None:
            values[names.MASKED_SHARE] = self._masked_truncated[0] / tokens
            values[names.TRUNCATED_SHARE] = self._masked_truncated[1] / tokens
        return values
