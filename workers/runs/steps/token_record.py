"""Converts the sampled tokens of a finished rollout to the record that is stored. Pure."""

import math
from collections.abc import Iterator
from itertools import islice
from typing import Final

from app.domain.methods.mismatch import MAX_LOG_RATIO
from app.domain.rollouts.token_records import RecordedTurn, TokenRecord
from app.domain.rollouts.trajectory import ScoredRollout, Turn

_DECIMALS: Final = 4


def token_record(rollout: ScoredRollout) -> TokenRecord | None:
    """Returns the record; `None` for a rollout that sampled nothing."""
    trajectory = rollout.trajectory
    stored = sum(len(turn.texts) for turn in trajectory.turns)
    if not stored:
        return None
    trained = rollout.trainer_logprobs
    if trained is not None and len(trained) != trajectory.completion_tokens:
        raise ValueError("the trainer's log-probs must be parallel to the sampled tokens")
    unread = iter([None] * trajectory.completion_tokens if trained is None else trained)
    turns = [_turn(turn, unread) for turn in trajectory.turns]
    return TokenRecord(turns, trajectory.completion_tokens - stored)


def _turn(turn: Turn, trained: Iterator[float | None]) -> RecordedTurn:
    """Returns the stored tokens of a turn, and takes the trainer's log-probs of all."""
    pairs = list(zip(turn.logprobs, islice(trained, len(turn.token_ids)), strict=True))
    pairs = pairs[: len(turn.texts)]
    return RecordedTurn(
        texts=list(turn.texts),
        log_probs=[_finite(sampler) for sampler, _ in pairs],
        ratios=[_ratio(trainer, sampler) for sampler, trainer in pairs],
    )


def _ratio(trainer: float | None, sampler: float) -> float | None:
    if trainer is None or not math.isfinite(trainer - sampler):
        return None
    distance = min(max(trainer - sampler, -MAX_LOG_RATIO), MAX_LOG_RATIO)
    return round(math.exp(distance), _DECIMALS)


def _finite(logprob: float) -> float | None:
    # A rounded 0 has no sign.
    return round(logprob, _DECIMALS) + 0.0 if math.isfinite(logprob) else None
