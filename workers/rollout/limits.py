"""The limits of an episode; reaching one is a stop reason."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EpisodeLimits:
    max_episode_steps: int
    context_length: int
    """Tokens of the whole rollout, prompt included."""
    max_turn_tokens: int
    wall_time_s: float = 3600.0
    """Seconds of work of the engine or the environment; waiting for an unavailable endpoint does
    not count.
    """
