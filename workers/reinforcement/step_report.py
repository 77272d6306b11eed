"""Describes a committed step of a reinforcement run: the words and data of its events, and the
metrics of its checkpoint. Pure.
"""

from typing import Any

from app.domain.jobs.jobs import Job
from app.domain.rollouts.metrics import COMPLETION_TOKENS_MEAN, REWARD_MEAN
from workers.reinforcement import metrics_event
from workers.runs.step_outcome import StepOutcome


class ReinforcementStepReport:
    def __init__(self, job: Job) -> None:
        self._grader: dict[str, Any] = job.method["reinforcement"]["grader"]

    def baseline(self, outcome: StepOutcome) -> str:
        return f"Base model: full validation mean reward={outcome.valid_values[REWARD_MEAN]:.2f}"

    def validation(self, outcome: StepOutcome) -> str:
        reward = outcome.valid_values.get(REWARD_MEAN)
        shown = "none" if reward is None else f"{reward:.2f}"
        return f"Step {outcome.step}: full validation mean reward={shown}"

    def step(self, outcome: StepOutcome, total_steps: int) -> tuple[str, dict[str, Any]]:
        train, valid = outcome.train_values, outcome.valid_values
        message = metrics_event.message(outcome.step, total_steps, train, valid)
        data = metrics_event.data(
            step=outcome.step,
            total_steps=total_steps,
            grader=self._grader,
            train=train,
            valid=valid,
        )
        return message, data

    def makes_checkpoint(self, outcome: StepOutcome) -> bool:
        """Every validated step becomes a checkpoint."""
        return bool(outcome.valid_values)

    def checkpoint(self, outcome: StepOutcome) -> dict[str, float]:
        values = {
            "train_mean_reward": outcome.train_values.get(REWARD_MEAN),
            "full_valid_mean_reward": outcome.valid_values.get(REWARD_MEAN),
            "completion_tokens_mean": outcome.train_values.get(COMPLETION_TOKENS_MEAN),
        }
        return {key: value for key, value in values.items() if value is not None}
