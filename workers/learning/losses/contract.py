"""The interface of every loss.

A loss is a pure function of parallel tensors of N tokens. It returns the **sum** over its trained
tokens, or over its examples where an example has two rows (a preference pair); the caller divides
by one global denominator per optimizer step. Masked tokens (mask 0) contribute neither value nor
gradient, whatever their inputs are.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from torch import Tensor


@dataclass(frozen=True, slots=True)
class LossInputs:
    """One micro-batch. Only the first and the last field carry gradient."""

    logprobs_N: Tensor
    """Natural log of the target's probability under the trained policy."""
    sampler_logprobs_N: Tensor
    """The same under the policy that sampled; under a frozen reference for preference losses."""
    advantages_N: Tensor
    """A token's advantage; its weight for losses of supervised data."""
    mask_N: Tensor
    """Boolean."""
    rows_N: Tensor
    """A token's row in the micro-batch. Rows of one example are neighbours: row 2k of a pair is the
    chosen one and row 2k + 1 the rejected one."""
    mean_logprobs_N: Tensor | None = None
    """Mean over the vocabulary of the log-probs, for losses that set `needs_vocabulary`."""


@dataclass(frozen=True, slots=True)
class LossTerms:
    """`total` is a scalar with gradient; `clipped_N` (bool) marks trained tokens whose gradient
    the loss switched off or bounded. `sums` are scalars by curve name, reported divided by the
    loss's own denominator.
    """

    total: Tensor
    clipped_N: Tensor
    sums: Mapping[str, Tensor] = field(default_factory=dict)


class Loss(Protocol):
    @property
    def rows_per_example(self) -> int:
        """Rows that must be in one micro-batch: 1, or 2 for pairs. With pairs, the denominator of a
        step is their number instead of the trained tokens.
        """
        ...

    @property
    def needs_vocabulary(self) -> bool:
        """Returns whether the loss reads `mean_logprobs_N`."""
        ...

    @property
    def uses_zero_advantage_tokens(self) -> bool:
        """Returns whether a token of advantage 0 has a gradient too."""
        ...

    def __call__(self, inputs: LossInputs) -> LossTerms: ...
