"""Adds the KL penalty towards the model that training started from to the advantages.

The advantage of a token decreases by its log-prob under the sampling policy minus that under the
base (the model that training started from), relative to the group: A_t += c·(mean(q - base) - (q_t
- base_t)), the mean over all trained tokens of the prompt's rollouts. Source: the KL penalty of
tinker-cookbook's `rl/metrics.py`. Its mean is over the batch; the mean here is over the group, so
that a step accumulated in parts equals the undivided step. Must not know models.
"""

import math
from collections.abc import Hashable, Sequence

from workers.learning.training_samples import TrainingSample


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
    """Returns, for each sample, its group's mean distance per trained token."""
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
