"""The policy protocol: token ids in, token ids and log-probs out."""

import time
from dataclasses import dataclass
from types import TracebackType
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
    policy_version: int

    def __post_init__(self) -> None:
        if len(self.token_ids) != len(self.logprobs):
            raise ValueError("token_ids and logprobs must run parallel")


class Policy(Protocol):
    async def sample(self, prompt_token_ids: list[int], params: SamplingParams) -> SampledTurn:
        """Continues a prompt. Engine faults are repaired or waited for, never returned."""
        ...


class VersionedPolicy(Policy, Protocol):
    async def sample_at(
        self, version: int, prompt_token_ids: list[int], params: SamplingParams
    ) -> SampledTurn:
        """Samples from a version that is published and not retired. Raises `KeyError`."""
        ...


class BusyClock:
    """A context manager around each piece of work, in one event loop; overlaps count once."""

    def __init__(self) -> None:
        self._users = 0
        self._since = 0.0
        self._busy_s = 0.0

    def __enter__(self) -> None:
        if self._users == 0:
            self._since = time.monotonic()
        self._users += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._users -= 1
        if self._users == 0:
            self._busy_s += time.monotonic() - self._since

    @property
    def is_busy(self) -> bool:
        return self._users > 0

    def reading(self) -> float:
        running = time.monotonic() - self._since if self._users else 0.0
        return self._busy_s + running


class IdleShare:
    """Reads the share of time in which a clock was not busy."""

    def __init__(self, clock: BusyClock) -> None:
        self._clock = clock
        self._at = time.monotonic()
        self._busy_s = clock.reading()

    def read(self) -> float:
        """Returns the idle share, from 0 to 1, of the time since the last reading."""
        now, busy_s = time.monotonic(), self._clock.reading()
        elapsed = now - self._at
        share = 1.0 - (busy_s - self._busy_s) / elapsed if elapsed > 0 else 0.0
        self._at, self._busy_s = now, busy_s
        return min(1.0, max(0.0, share))


@dataclass(frozen=True, slots=True)
class EpisodeLimits:
    max_episode_steps: int
    context_length: int
    max_turn_tokens: int
    wall_time_s: float = 3600.0
    """Seconds of work of the engine or the environment; waiting for an unavailable endpoint does
    not count.
    """
