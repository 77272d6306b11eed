"""Judges from two sets of log-probs whether an engine serves the adapter that a trainer has. Pure.

Engine and trainer round differently: in bf16 logits of size 16 have steps of 0.1, and with the same
weights the two differ by 0.02 to 0.16 nats a token. An adapter changes both sides alike, so the
judgement is of the change from the base, in which most of the rounding cancels.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Final

NOISE_FACTOR: Final = 4.0
"""Factor by which the change may differ more than the base model does."""
LARGEST_NOISE: Final = 0.25
"""Largest median difference under the base model; an engine that differs more serves another one.
"""
CLEAR_CHANGE: Final = 4.0
"""A change of so many times the noise is clear: an engine that misses half of it does not serve the
adapter."""


@dataclass(frozen=True, slots=True)
class ProbeSides:
    """Log-probs of the same tokens under the same weights."""

    trainer: Sequence[float]
    engine: Sequence[float]

    @property
    def differences(self) -> list[float]:
        return [abs(a - b) for a, b in zip(self.trainer, self.engine, strict=True)]

    @property
    def mean(self) -> float:
        return fmean(self.differences)


def serves_the_adapter(adapted: ProbeSides, of_base: ProbeSides) -> bool:
    """Returns whether the engine changes the base model's log-probs as the trainer does. False also
    where a value is not a number.
    """
    expected, found = (
        [a - b for a, b in zip(side, base, strict=True)]
        for side, base in (
            (adapted.trainer, of_base.trainer),
            (adapted.engine, of_base.engine),
        )
    )
    missing = fmean(abs(a - b) for a, b in zip(expected, found, strict=True))
    size, noise = fmean(map(abs, expected)), of_base.mean
    is_the_base = median(of_base.differences) <= LARGEST_NOISE
    misses_a_clear_change = size > CLEAR_CHANGE * noise and missing > size / 2
    return is_the_base and missing <= NOISE_FACTOR * noise and not misses_a_clear_change
