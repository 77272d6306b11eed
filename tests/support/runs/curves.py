"""Points of a job's curves for rules that watch them."""

from app.rollouts import metrics as names


def noisy(values: list[float], *, deviation: float, count: int) -> list[dict[str, float]]:
    """Returns a point for each mean reward, all with one deviation and number of rollouts."""
    return [
        {names.REWARD_MEAN: v, names.REWARD_STD: deviation, names.ROLLOUTS_VALID: float(count)}
        for v in values
    ]
