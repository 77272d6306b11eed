"""The contract that every loss keeps.

A loss is a pure function of parallel tensors of N tokens. It returns the **sum** over its trained
tokens (or over its units, e.g. preference pairs); whoever calls it divides by one global
denominator per optimizer step. Masked tokens (mask 0) contribute neither value nor gradient,
whatever stands on them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from torch import Tensor


@dataclass(frozen=True, slots=True)
class LossInputs:
    """One micro-batch as a loss sees it. Only the first and the last carry gradient."""

    logprobs_N: Tensor
    """Natural log of the target's probability under the trained policy."""
    sampler_logprobs_N: Tensor
    """The same when it was sampled; under a frozen reference for preference losses."""
    advantages_N: Tensor
    """A token's advantage; its weight for losses of given text."""
    mask_N: Tensor
    """Boolean."""
    rows_N: Tensor
    """Which row of the micro-batch a token is of. Rows of one unit stand side by side: of a pair,
    row 2k is the chosen one and row 2k + 1 the rejected one."""
    mean_logprobs_N: Tensor | None = None
    """Mean over the vocabulary of the log-probs, for losses that set `needs_vocabulary`."""


@dataclass(frozen=True, slots=True)
class LossTerms:
    """`total` is a scalar with gradient; `clipped_N` (bool) marks trained tokens whose gradient
    the loss has switched off or bounded. `sums` are scalars by curve name that are reported divided
    by the loss's own denominator.
    """

    total: Tensor
    clipped_N: Tensor
    sums: Mapping[str, Tensor] = field(default_factory=dict)


class Loss(Protocol):
    @property
    def rows_per_example(self) -> int:
        """Rows that must stand in one micro-batch: 1, or 2 for pairs, whose number is then the
        denominator of a step instead of the trained tokens'.
        """
        ...

    @property
    def needs_vocabulary(self) -> bool:
        """Whether `mean_logprobs_N` is to be there."""
        ...

    @property
    def uses_zero_advantage_tokens(self) -> bool:
        """Whether a token of advantage 0 has a gradient too."""
        ...

    def __call__(self, inputs: LossInputs) -> LossTerms: ...
