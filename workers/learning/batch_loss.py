"""The loss of one micro-batch with its gradient, and the curves that a step sums up from it."""

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor, nn

from app.jobs.learning import MAX_LOG_RATIO
from app.rollouts import metrics as names
from workers.learning.batches import MicroBatch
from workers.learning.head import TokenScores
from workers.learning.losses import Loss, LossInputs, LossTerms, zero_masked
from workers.learning.trainer import MismatchConfig, TrainingSample, UpdateStats


@dataclass(frozen=True, slots=True)
class ScoredBatch:
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


@dataclass(frozen=True, slots=True)
class CorrectedInputs:
    inputs: LossInputs
    masked_N: Tensor
    truncated_N: Tensor


@torch.no_grad()
def correct(inputs: LossInputs, config: MismatchConfig) -> CorrectedInputs:
    """Takes the log-probs of `inputs` as those of the policy before the step."""
    old_N = inputs.logprobs_N.detach()
    log_ratio_N = zero_masked(old_N - inputs.sampler_logprobs_N, inputs.mask_N)
    retained_N = inputs.mask_N & (log_ratio_N.abs() <= config.max_log_ratio)
    if config.sequence_mask is not None:
        mean = config.sequence_mask == "geometric_mean"
        retained_N &= _within(_by_row(log_ratio_N, inputs, mean=mean), config.band)
    masked_N = inputs.mask_N & ~retained_N
    truncated_N = torch.zeros_like(retained_N)
    corrected = replace(inputs, mask_N=retained_N)
    if config.truncation is not None:
        if config.truncation == "sequence":
            log_ratio_N = _by_row(log_ratio_N, inputs, mean=False)
        ratio_N = log_ratio_N.clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO).exp()
        truncated_N = retained_N & (ratio_N > config.cap)
        weights_N = ratio_N.clamp(max=config.cap).to(inputs.advantages_N.dtype)
        corrected = replace(
            corrected, sampler_logprobs_N=old_N, advantages_N=inputs.advantages_N * weights_N
        )
    return CorrectedInputs(corrected, masked_N, truncated_N)


def _by_row(log_ratio_N: Tensor, inputs: LossInputs, *, mean: bool) -> Tensor:
    rows = int(inputs.rows_N.max()) + 1 if inputs.rows_N.numel() else 0
    empty_R = log_ratio_N.new_zeros(rows)
    sums_R = empty_R.index_add(0, inputs.rows_N, log_ratio_N)
    if mean:
        counts_R = empty_R.index_add(0, inputs.rows_N, inputs.mask_N.to(log_ratio_N.dtype))
        sums_R = sums_R / counts_R.clamp_min(1.0)
    return sums_R[inputs.rows_N]


def _within(log_ratio_N: Tensor, band: tuple[float, float]) -> Tensor:
    ratio_N = log_ratio_N.double().exp()
    return (ratio_N >= band[0]) & (ratio_N <= band[1])


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
        self.denominator = 0.0

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
        masked, truncated = self._masked_truncated or (0.0, 0.0)
        self._masked_truncated = (
            masked + float(corrected.masked_N.sum()),
            truncated + float(corrected.truncated_N.sum()),
        )

    def add_loss_sums(self, sums: Mapping[str, Tensor]) -> None:
        for name, value in sums.items():
            self._loss_sums[name] = self._loss_sums.get(name, 0.0) + float(value)

    def add_base_distance(self, total: float, tokens: int) -> None:
        """Adds `total`, the sum of q - base over `tokens` trained tokens."""
        self._base_distances.append((total, tokens))

    def add_denominator(self, denominator: float) -> None:
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


class StepLogprobs:
    def __init__(self) -> None:
        self._rows: list[list[float] | None] = []
        """Log-probs of the trained tokens of each sample, `None` until it is computed."""

    def reserve(self, count: int) -> range:
        start = len(self._rows)
        self._rows += [None] * count
        return range(start, start + count)

    def add(self, batch: MicroBatch, scored: ScoredBatch, places: Sequence[int]) -> None:
        rows: list[list[float]] = [[] for _ in batch.sources]
        logprobs: list[float] = scored.scores.logprobs_N.detach().tolist()
        for row, logprob in zip(batch.rows_N.tolist(), logprobs, strict=True):
            rows[row].append(logprob)
        for source, row_logprobs in zip(batch.sources, rows, strict=True):
            self._rows[places[source]] = row_logprobs

    def taken(self) -> list[list[float] | None]:
        rows, self._rows = self._rows, []
        return rows


def apply_kl_penalty(
    samples: Sequence[TrainingSample],
    base_logprobs: Sequence[Sequence[float]],
    *,
    coefficient: float,
) -> tuple[list[TrainingSample], float]:
    """Returns the samples with advantages per token, and the sum over their trained tokens of
    q - base, whose mean estimates the KL divergence from the base. `base_logprobs` is parallel to
    samples and their tokens; a sample without a `group` is a group of its own.
    """
    distances = [
        [q - base if trained else 0.0 for q, base, trained in zip(*rows, strict=True)]
        for rows in (
            (sample.logprobs, base, sample.mask)
            for sample, base in zip(samples, base_logprobs, strict=True)
        )
    ]
    means = _group_means(samples, distances)
    penalised = [
        sample.with_token_advantages(
            [
                sample.advantage_of(position) + coefficient * (mean - distance) if trained else 0.0
                for position, (distance, trained) in enumerate(
                    zip(row_distances, sample.mask, strict=True)
                )
            ]
        )
        for sample, row_distances, mean in zip(samples, distances, means, strict=True)
    ]
    return penalised, math.fsum(map(math.fsum, distances))


def _group_means(
    samples: Sequence[TrainingSample], distances: Sequence[Sequence[float]]
) -> list[float]:
    groups: list[Hashable] = [
        ("alone", index) if sample.group is None else ("group", sample.group)
        for index, sample in enumerate(samples)
    ]
    members: dict[Hashable, list[int]] = {}
    for index, group in enumerate(groups):
        members.setdefault(group, []).append(index)
    means = {
        group: math.fsum(math.fsum(distances[index]) for index in indices)
        / max(1, sum(samples[index].trained_tokens for index in indices))
        for group, indices in members.items()
    }
    return [means[group] for group in groups]
