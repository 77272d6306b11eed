"""What the trainer is given: one rollout's tokens with its advantage. No tensors here, so that
schedulers may build it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from app.domain.trajectory import Trajectory


@dataclass(frozen=True, slots=True)
class TrainingSample:
    """`tokens`, `mask` and `logprobs` run parallel, as in `Trajectory`. Raises `ValueError` when
    they do not, when the first token is marked as sampled (nothing precedes it), or when the
    advantage or a trained token's log-prob is not a finite number.
    """

    tokens: Sequence[int]
    mask: Sequence[int]
    logprobs: Sequence[float]
    """Natural log, at the sampling temperature, recorded when the token was sampled."""
    advantage: float

    def __post_init__(self) -> None:
        if not len(self.tokens) == len(self.mask) == len(self.logprobs):
            raise ValueError("tokens, mask and logprobs must run parallel")
        if self.mask and self.mask[0]:
            raise ValueError("the first token has no context to be sampled from")
        if not math.isfinite(self.advantage):
            raise ValueError(f"an advantage must be finite, got {self.advantage!r}")
        if not all(
            math.isfinite(logprob)
            for logprob, trained in zip(self.logprobs, self.mask, strict=True)
            if trained
        ):
            raise ValueError("a trained token has a log-prob that is not finite")

    @property
    def trained_tokens(self) -> int:
        return sum(self.mask)

    @classmethod
    def of(cls, trajectory: Trajectory, advantage: float) -> Self:
        return cls(trajectory.tokens, trajectory.mask, trajectory.logprobs, advantage)
