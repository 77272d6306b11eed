"""Ranks a job's checkpoints and selects those to keep. Pure.

The checkpoint with the better validation is better. Between equals the earlier one wins: a job that
has stopped improving thus publishes the checkpoint that moved least from its base.
"""

from collections.abc import Collection, Sequence

from app.domain.jobs.jobs import Checkpoint
from app.domain.methods.stop import KeepCheckpoints

_REWARD, _LOSS = "full_valid_mean_reward", "full_valid_loss"


def validation_score(checkpoint: Checkpoint) -> float | None:
    """Returns the validation score, larger is better; `None` for a checkpoint without a validation
    value.
    """
    reward, loss = checkpoint.metrics.get(_REWARD), checkpoint.metrics.get(_LOSS)
    if reward is not None:
        return reward
    return None if loss is None else -loss


def best_first(checkpoints: Sequence[Checkpoint]) -> list[Checkpoint]:
    """Returns the checkpoints with a validation value."""
    values = {
        checkpoint.step: value
        for checkpoint in checkpoints
        if (value := validation_score(checkpoint)) is not None
    }
    ranked = [checkpoint for checkpoint in checkpoints if checkpoint.step in values]
    return sorted(ranked, key=lambda checkpoint: (-values[checkpoint.step], checkpoint.step))


def kept_steps(
    checkpoints: Sequence[Checkpoint], keep: KeepCheckpoints, *, needed: Collection[int] = ()
) -> list[int]:
    """Returns the steps of the checkpoints to keep, in order. Without any validation value the
    newest count as the best. `needed` ones are always kept.
    """
    newest = sorted(checkpoint.step for checkpoint in checkpoints)
    best = [checkpoint.step for checkpoint in best_first(checkpoints)] or newest[::-1]
    last = newest[-keep.last :] if keep.last else []
    return sorted({*best[: keep.best], *last, *(step for step in newest if step in needed)})
