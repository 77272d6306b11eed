"""The trainer's input: the tokens of one rollout or text with their advantage. Without tensors, so
that schedulers may build it and a pipe may carry it.
"""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Self

from app.domain.rollouts.trajectory import Trajectory


@dataclass(frozen=True, slots=True)
class TrainingSample:
    """`tokens`, `mask` and `logprobs` run parallel, as in `Trajectory`. Raises `ValueError` when
    they do not, when the first token is marked as sampled (nothing precedes it), or when an
    advantage or a trained token's log-prob is not a finite number.
    """

    tokens: Sequence[int]
    mask: Sequence[int]
    logprobs: Sequence[float]
    """Natural log, at the sampling temperature, recorded when the token was sampled."""
    advantage: float
    """The advantage of every trained token, unless `token_advantages` is set."""
    token_advantages: Sequence[float] | None = None
    """One per token, parallel to `tokens`; read where the mask is 1."""
    group: Hashable = None
    """Key that the samples of one prompt share within one call of the trainer."""

    def __post_init__(self) -> None:
        if not len(self.tokens) == len(self.mask) == len(self.logprobs):
            raise ValueError("tokens, mask and logprobs must run parallel")
        if self.mask and self.mask[0]:
            raise ValueError("the first token has no context to be sampled from")
        if self.token_advantages is not None and len(self.token_advantages) != len(self.tokens):
            raise ValueError("token_advantages must run parallel to tokens")
        for advantage in (self.advantage, *self._trained_advantages()):
            if not math.isfinite(advantage):
                raise ValueError(f"an advantage must be finite, got {advantage!r}")
        if not all(
            math.isfinite(logprob)
            for logprob, trained in zip(self.logprobs, self.mask, strict=True)
            if trained
        ):
            raise ValueError("a trained token has a log-prob that is not finite")

    @property
    def trained_tokens(self) -> int:
        return sum(self.mask)

    @property
    def has_zero_advantage(self) -> bool:
        """Returns whether every trained token's advantage is 0."""
        if self.token_advantages is None:
            return self.advantage == 0.0
        return not any(self._trained_advantages())

    def advantage_of(self, position: int) -> float:
        return self.advantage if self.token_advantages is None else self.token_advantages[position]

    def _trained_advantages(self) -> list[float]:
        if self.token_advantages is None:
            return []
        pairs = zip(self.token_advantages, self.mask, strict=True)
        return [advantage for advantage, trained in pairs if trained]

    def with_token_advantages(self, advantages: Sequence[float]) -> Self:
        return replace(self, token_advantages=advantages)

    @classmethod
    def of(cls, trajectory: Trajectory, advantage: float) -> Self:
        return cls(
            trajectory.tokens,
            trajectory.mask,
            trajectory.logprobs,
            advantage,
            # A step of `async` may take groups of one row from several epochs.
            group=(trajectory.key.step, trajectory.key.prompt_index),
        )


def count_trained_tokens(samples: Sequence[TrainingSample]) -> int:
    """The denominator of one optimizer step: every token with mask 1, samples with advantage 0
    included, since they were sampled too.
    """
    return sum(sample.trained_tokens for sample in samples)
