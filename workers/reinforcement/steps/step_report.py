"""Describes a committed step of a reinforcement run: the messages and data of its events, and the
metrics of its checkpoint. Pure.
"""

from collections.abc import Sequence
from typing import Any

from app.domain.graders import grader_metrics
from app.domain.graders.graders import Grader
from app.domain.ids import VALID_BASE
from app.domain.jobs.usage import Usage
from app.domain.rollouts import metrics as names
from app.domain.rollouts.metrics import COMPLETION_TOKENS_MEAN, REWARD_MEAN
from workers.reinforcement.steps import metrics_event
from workers.runs.steps.step_outcome import StepOutcome, Values


class ReinforcementStepReport:
    nothing_trained = (
        "no group had rollouts of different reward. Use rows of which the model gets some right, a "
        "grader that gives partial credit, or more rollouts per row (compute_multiplier)"
    )

    def __init__(self, grader: Grader, *, start_model: str | None = None) -> None:
        """`start_model`: the tuned model that the job starts from, if it does."""
        self._grader = grader.model_dump(mode="json")
        self._start_model = start_model

    def baseline(self, outcome: StepOutcome) -> Sequence[str]:
        if self._start_model is None:
            return [f"Base model: {_validated(outcome)}"]
        start = f"Start model {self._start_model}: {_validated(outcome)}"
        of_base = outcome.validation.further.get(VALID_BASE)
        return [start] if of_base is None else [start, f"Base model: {_mean_reward(of_base)}"]

    def validation(self, outcome: StepOutcome) -> str:
        return f"Step {outcome.step}: {_validated(outcome)}"

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

    def _judge_tokens(self, outcome: StepOutcome) -> dict[str, Values]:
        """Returns the tokens of the step's judges by model, those of greedy rollouts included."""
        total = grader_metrics.usage_by_model(
            self._grader, outcome.train_values, outcome.valid_values
        )
        for values in outcome.validation.further.values():
            total = _added(total, grader_metrics.usage_by_model(self._grader, {}, values))
        return total

    def usage(self, outcome: StepOutcome) -> Usage:
        validation = outcome.validation
        rollouts = [*outcome.trained.scored_rollouts(), *validation.scored_rollouts()]
        trajectories = [rollout.trajectory for rollout in rollouts]
        train = outcome.train_values
        return Usage(
            sampling_time_s=train.get(names.TIME_SAMPLING, 0.0),
            update_time_s=train.get(names.TIME_TRAINING, 0.0),
            evaluation_time_s=validation.seconds or 0.0,
            rollouts=len(rollouts),
            prompt_tokens=sum(trajectory.prompt_tokens for trajectory in trajectories),
            completion_tokens=sum(trajectory.completion_tokens for trajectory in trajectories),
            tool_calls=sum(len(trajectory.tool_calls) for trajectory in trajectories),
            grader_calls=sum(rollout.grader_calls for rollout in rollouts),
            trained_tokens=outcome.trained_tokens,
            model_graders=self._judge_tokens(outcome),
        )


def _added(total: dict[str, Values], more: dict[str, Values]) -> dict[str, Values]:
    """Returns the sums of two usages by model."""
    summed = {model: dict(values) for model, values in total.items()}
    for model, values in more.items():
        own = summed.setdefault(model, {})
        for key, value in values.items():
            own[key] = own.get(key, 0.0) + value
    return summed


def _validated(outcome: StepOutcome) -> str:
    return _mean_reward(outcome.valid_values)


def _mean_reward(values: Values) -> str:
    reward = values.get(REWARD_MEAN)
    shown = "none" if reward is None else f"{reward:.2f}"
    return f"full validation mean reward={shown}"
