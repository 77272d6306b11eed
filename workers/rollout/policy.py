"""The policy protocol: token ids in, token ids and log-probs out.

Must not know HTTP, tensors or which engine answers.
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
    """One continuation. `token_ids` and `logprobs` have equal length and include the stop token
    that ended the turn, because the policy sampled it.
    """

    token_ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    """Natural logarithms, at the sampling temperature, of the sampled distribution."""
    finish_reason: str
    """`stop` or `length`."""
    policy_version: int

    def __post_init__(self) -> None:
        if len(self.token_ids) != len(self.logprobs):
            raise ValueError("token_ids and logprobs must run parallel")


class Policy(Protocol):
    """Continues token ids."""

    async def sample(self, prompt_token_ids: list[int], params: SamplingParams) -> SampledTurn:
        """Continues a prompt. Engine faults are repaired or waited for, never returned."""
        ...


class VersionedPolicy(Policy, Protocol):
    """A policy that serves several versions at once."""

    async def sample_at(
        self, version: int, prompt_token_ids: list[int], params: SamplingParams
    ) -> SampledTurn:
        """Samples from a version that is published and not retired. Raises `KeyError`."""
        ...
