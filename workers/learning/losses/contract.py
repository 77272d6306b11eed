"""The interface of every loss.

A loss is a pure function of parallel tensors of N tokens. It returns the **sum** over its trained
tokens, or over its examples if an example has two rows (a preference pair); the caller divides by
one global denominator per optimizer step. Masked tokens (mask 0) contribute neither value nor
gradient, even if their inputs are not finite.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from torch import Tensor


@dataclass(frozen=True, slots=True)
class LossInputs:
    """Inputs of one micro-batch. Only `logprobs_N` and `mean_logprobs_N` carry gradient."""

    logprobs_N: Tensor
    """Natural log of the target's probability under the trained policy."""
    sampler_logprobs_N: Tensor
    """The same under the sampling policy; for preference losses, under the frozen reference."""
    advantages_N: Tensor
    """Advantage of each token; its weight for losses on supervised data."""
    mask_N: Tensor
    """Boolean; true for trained tokens."""
    rows_N: Tensor
    """Row of each token in the micro-batch. Rows of one example are adjacent: row 2k of a pair is
    the chosen sequence and row 2k + 1 the rejected one."""
    mean_logprobs_N: Tensor | None = None
    """Mean log-prob over the vocabulary, for losses that set `needs_vocabulary`."""


@dataclass(frozen=True, slots=True)
class LossTerms:
    """Value of a loss over one micro-batch. `total` is a scalar with gradient; `clipped_N` (bool)
    marks trained tokens whose gradient the loss set to 0 or bounded. `sums` maps curve names to
    scalars, which are reported divided by the loss's denominator.
    """

    total: Tensor
    clipped_N: Tensor
    sums: Mapping[str, Tensor] = field(default_factory=dict)


class Loss(Protocol):
    @property
    def rows_per_example(self) -> int:
        """Rows that must be in one micro-batch: 1, or 2 for pairs. The denominator of a step is the
        number of trained tokens, or the number of pairs.
        """
        ...

    @property
    def needs_vocabulary(self) -> bool:
        """True if the loss reads `mean_logprobs_N`."""
        ...

    @property
    def uses_zero_advantage_tokens(self) -> bool:
        """True if a token with advantage 0 has a gradient."""
        ...

    def __call__(self, inputs: LossInputs) -> LossTerms: ...
