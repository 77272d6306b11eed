"""The policy as an episode sees it: token ids in, token ids and log-probs out.

Knows nothing of HTTP, tensors or which engine answers.
"""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class SamplingParams:
    max_tokens: int
    temperature: float
    """Greater than 0 samples; 0 is greedy (log-probs are then taken at temperature 1)."""
    seed: int
    stop_token_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SampledTurn:
    """One continuation. `token_ids` and `logprobs` have equal length; a stop token that ended the
    turn is the last of them, because the policy sampled it.
    """

    token_ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    """Natural log, at the sampling temperature, of the distribution that was sampled from."""
    finish_reason: str
    """`stop` or `length`."""
    policy_version: int

    def __post_init__(self) -> None:
        if len(self.token_ids) != len(self.logprobs):
            raise ValueError("token_ids and logprobs must run parallel")


class Policy(Protocol):
    """Something that continues token ids."""

    async def sample(self, prompt_token_ids: list[int], params: SamplingParams) -> SampledTurn:
        """Continue a prompt. Engine faults are repaired or waited for here, never returned."""
        ...


class VersionedPolicy(Policy, Protocol):
    """A policy of which several versions are served at once."""

    async def sample_at(
        self, version: int, prompt_token_ids: list[int], params: SamplingParams
    ) -> SampledTurn:
        """As `sample`, under a version that was published and not retired. Raises `KeyError`."""
        ...
