"""One request's tokens on their way through the engine.

A `Sequence` is written by the scheduler thread only. Its lists only grow, so the server may read
the first `count` entries of an `Update` at any time. Must not know tensors or HTTP.
"""

from dataclasses import dataclass, field
from typing import Literal

from workers.engines.cpu.versions import Version

FinishReason = Literal["stop", "length", "cancelled", "error"]


@dataclass(frozen=True, slots=True)
class Sampling:
    """Sampling parameters. Log-probs belong to the distribution that is really sampled from."""

    max_tokens: int
    temperature: float
    """Below 1e-5 it is greedy whatever `top_p`, with log-probs at temperature 1."""
    seed: int
    top_p: float = 1.0
    stop_token_ids: frozenset[int] = frozenset()
    top_logprobs: int = 0
    """Most likely alternatives to report for each sampled token."""
    prompt_logprobs: bool = False
    cache_salt: str = ""
    """Keys and values are shared among equal salts only."""


@dataclass(slots=True, eq=False)
class Sequence:
    version: Version
    tokens: list[int]
    """Prompt, then what was sampled, a stop token included."""
    prompt_length: int
    sampling: Sampling
    streamed: bool = False
    """True if each token is reported; else only the end is."""
    logprobs: list[float] = field(default_factory=list)
    """Log-probs of sampled tokens, natural log."""
    top_logprobs: list[dict[int, float]] = field(default_factory=list)
    prompt_logprobs: list[float | None] | None = None
    block_keys: list[int] = field(default_factory=list)
    """Keys of the prompt's blocks; they find sequences that begin the same way."""
    computed: int = 0
    """Tokens whose keys and values are in the KV pool."""
    reused: int = 0
    """Number of tokens that were copied from another sequence's prefix at admission."""
    cancelled: bool = False
    finish_reason: FinishReason | None = None

    @property
    def longest(self) -> int:
        """Tokens that it may have at its end."""
        return self.prompt_length + self.sampling.max_tokens

    @property
    def sampled(self) -> int:
        return len(self.tokens) - self.prompt_length


@dataclass(frozen=True, slots=True)
class Update:
    sequence: Sequence
    count: int
    """Tokens sampled so far."""
    finish_reason: FinishReason | None
