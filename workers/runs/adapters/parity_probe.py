"""Checks by log-probs that an engine serves the adapter that a trainer has. Pure.

Engine and trainer round differently: in bf16 logits of size 16 have steps of 0.1, and with the same
weights the two differ by 0.02 to 0.16 nats a token. An adapter changes both sides alike, so the
check compares the changes from the base, in which most of the rounding cancels: the engine must
make about the whole change that the trainer makes. Over 255 tokens this share is exact to a few
hundredths, even if the change of each token is smaller than its rounding.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, sqrt
from statistics import fmean, median
from typing import Final

NOISE_FACTOR: Final = 4.0
"""Factor by which the change may differ more than the base model does."""
LARGEST_NOISE: Final = 0.25
"""Largest median difference under the base model; an engine that differs more serves another one.
"""
LARGEST_MISS: Final = 0.5
"""Largest distance of the share from 1 that may be rounding; an engine that ignores the adapter, or
serves another one, has a share of about 0.
"""
SURE: Final = 5.0
"""Standard errors by which a share must differ from 1 to count as a miss: chance causes one in a
million probes.
"""


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


@dataclass(frozen=True, slots=True)
class ServedShare:
    """Share of the trainer's change that the engine makes, by least squares over the tokens."""

    share: float
    error: float
    """Standard error of the share; infinite if the trainer changes nothing."""

    @property
    def misses(self) -> bool:
        return abs(self.share - 1) > max(LARGEST_MISS, SURE * self.error)


def served_share(adapted: ProbeSides, of_base: ProbeSides) -> ServedShare:
    expected, found = _changes(adapted, of_base)
    size = sum(a * a for a in expected)
    if size == 0 or len(expected) < 2:  # noqa: PLR2004 - an error needs two values
        return ServedShare(1.0, inf)
    share = sum(a * b for a, b in zip(expected, found, strict=True)) / size
    rest = sum((b - share * a) ** 2 for a, b in zip(expected, found, strict=True))
    return ServedShare(share, sqrt(rest / (len(expected) - 1) / size))


def serves_the_adapter(adapted: ProbeSides, of_base: ProbeSides) -> bool:
    """Returns whether the engine changes the base model's log-probs as the trainer does. False if
    any value is not a number.
    """
    expected, found = _changes(adapted, of_base)
    missing = fmean(abs(a - b) for a, b in zip(expected, found, strict=True))
    is_the_base = median(of_base.differences) <= LARGEST_NOISE
    is_near = missing <= NOISE_FACTOR * of_base.mean
    return is_the_base and is_near and not served_share(adapted, of_base).misses


def _changes(adapted: ProbeSides, of_base: ProbeSides) -> tuple[list[float], list[float]]:
    """Returns the change that the adapter makes to each token's log-prob, in the trainer and in the
    engine.
    """
    pairs = ((adapted.trainer, of_base.trainer), (adapted.engine, of_base.engine))
    of_trainer, of_engine = (
        [a - b for a, b in zip(side, base, strict=True)] for side, base in pairs
    )
    return of_trainer, of_engine
