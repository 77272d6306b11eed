"""The trainer's input: the tokens of one rollout or text with their advantages. Contains no
tensors, so that schedulers can build it and it can be sent through a pipe.
"""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Self

from app.domain.rollouts.trajectory import Trajectory


@dataclass(frozen=True, slots=True)
class TrainingSample:
    """One row of training data; `tokens`, `mask` and `logprobs` are parallel, as in `Trajectory`.

    Raises `ValueError` if they are not, if the first token is marked as sampled (no token precedes
    it), or if an advantage or a trained token's log-prob is not finite.
    """

    tokens: Sequence[int]
    mask: Sequence[int]
    logprobs: Sequence[float]
    """Natural log of each token's probability at the sampling temperature, recorded at sampling."""
    advantage: float
    """The advantage of every trained token, unless `token_advantages` is set."""
    token_advantages: Sequence[float] | None = None
    """Advantages parallel to `tokens`; only those with mask 1 are used."""
    group: Hashable = None
    """Key of the prompt: samples with equal keys within one trainer call form a group."""

    def __post_init__(self) -> None:
        if not len(self.tokens) == len(self.mask) == len(self.logprobs):
            raise ValueError("tokens, mask and logprobs must be parallel")
        if self.mask and self.mask[0]:
            raise ValueError("the first token has no context and cannot be trained")
        if self.token_advantages is not None and len(self.token_advantages) != len(self.tokens):
            raise ValueError("token_advantages must be parallel to tokens")
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
        """True if the advantage of every trained token is 0."""
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
            # In `async` mode a step may contain groups of the same row from several epochs.
            group=(trajectory.key.step, trajectory.key.prompt_index),
        )


def count_trained_tokens(samples: Sequence[TrainingSample]) -> int:
    """Returns the number of tokens with mask 1, the denominator of one optimizer step. Samples with
    advantage 0 count too.
    """
    return sum(sample.trained_tokens for sample in samples)
