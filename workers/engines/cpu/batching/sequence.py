"""The state of one request in the engine.

Only the scheduler thread writes a `Sequence`. Its lists only grow, so the server may read the first
`count` entries of an `SequenceUpdate` at any time. Must not know tensors or HTTP.
"""

from dataclasses import dataclass, field
from typing import Literal

from workers.engines.cpu.models.versions import Version

FinishReason = Literal["stop", "length", "cancelled", "error"]


@dataclass(frozen=True, slots=True)
class Sampling:
    """Sampling parameters. Log-probs are those of the distribution that is sampled from."""

    max_tokens: int
    temperature: float
    """Below 1e-5 sampling is greedy for every `top_p`, with log-probs at temperature 1."""
    seed: int
    top_p: float = 1.0
    stop_token_ids: frozenset[int] = frozenset()
    top_logprobs: int = 0
    """Number of likeliest alternatives to report for each sampled token."""
    prompt_logprobs: bool = False
    cache_salt: str = ""
    """Namespace of the prefix cache: keys and values are shared among equal salts only."""


@dataclass(slots=True, eq=False)
class Sequence:
    version: Version
    tokens: list[int]
    """Prompt and sampled tokens, including a stop token."""
    prompt_length: int
    sampling: Sampling
    streamed: bool = False
    """True if every token is reported; otherwise only the end is."""
    background: bool = False
    """True for work without a waiting client, such as a rollout of a job."""
    logprobs: list[float] = field(default_factory=list)
    """Log-probs of the sampled tokens, natural log."""
    top_logprobs: list[dict[int, float]] = field(default_factory=list)
    prompt_logprobs: list[float | None] | None = None
    block_keys: list[int] = field(default_factory=list)
    """Keys of the prompt's blocks, for finding sequences with a common prefix."""
    computed_tokens: int = 0
    """Number of tokens whose keys and values are in the KV pool."""
    reused: int = 0
    """Number of tokens that were copied from another sequence's prefix before its first pass."""
    cancelled: bool = False
    finish_reason: FinishReason | None = None

    @property
    def owner(self) -> str:
        """The tenant, by its cache salt: rows are shared fairly among owners."""
        return self.sampling.cache_salt

    @property
    def longest(self) -> int:
        """Largest possible number of tokens at its end."""
        return self.prompt_length + self.sampling.max_tokens

    @property
    def sampled(self) -> int:
        return len(self.tokens) - self.prompt_length


@dataclass(frozen=True, slots=True)
class SequenceUpdate:
    sequence: Sequence
    count: int
    """Number of sampled tokens."""
    finish_reason: FinishReason | None
