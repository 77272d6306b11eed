"""Describes a committed step of a reinforcement run: the messages and data of its events, and the
metrics of its checkpoint. Pure.
"""

from collections.abc import Sequence
from typing import Any

from app.graders import metrics as grader_metrics
from app.graders.definitions import Grader
from app.jobs.jobs import Usage
from app.kit.ids import VALID_BASE
from app.rollouts import metrics as names
from app.rollouts.metrics import COMPLETION_TOKENS_MEAN, REWARD_MEAN
from workers.runs.step_outcome import StepOutcome, Values


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
        message = event_message(outcome.step, total_steps, train, valid)
        data = event_data(
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


EventValues = dict[str, float]


def event_message(step: int, total_steps: int, train: EventValues, valid: EventValues) -> str:
    text = f"Step {step}/{total_steps}"
    if names.REWARD_MEAN in train:
        text += f" , train mean reward={train[names.REWARD_MEAN]:.2f}"
    if names.REWARD_MEAN in valid:
        text += f", full validation mean reward={valid[names.REWARD_MEAN]:.2f}"
        text += f", full validation mean parse error={_parse_error(valid):.2f}"
    return text


def event_data(
    *, step: int, total_steps: int, grader: dict[str, Any], train: EventValues, valid: EventValues
) -> dict[str, Any]:
    train_reward, valid_reward = train.get(names.REWARD_MEAN), valid.get(names.REWARD_MEAN)
    return {
        "step": step,
        "total_steps": total_steps,
        "usage": {
            "graders": grader_metrics.usage(grader, train, valid),
            "samples": _samples(train, valid),
            "tools": _tools(train, valid, ("calls_mean", "tokens_per_call")),
        },
        "errors": {
            "graders": grader_metrics.errors(grader, train, valid),
            "formula": grader_metrics.formula_errors(train, valid) if grader.get("graders") else {},
            "tools": _tools(train, valid, ("errors",)),
            "discarded": names.discard_values(train),
        },
        "scores": {
            "train_reward_mean": train_reward,
            "valid_reward_mean": valid_reward,
            "graders": grader_metrics.scores(grader, train, valid),
        },
        "timing": {
            "step": {
                "eval": train.get(names.TIME_EVAL, 0.0),
                "sampling": train.get(names.TIME_SAMPLING, 0.0),
                "training": train.get(names.TIME_TRAINING, 0.0),
                "full_iteration": train.get(names.TIME_STEP, 0.0),
            },
            "graders": grader_metrics.timing(grader, train, valid),
            "tools": _tools(train, valid, ("latency_s_mean",)),
        },
        "train_mean_reward": train_reward,
        "full_valid_mean_reward": valid_reward,
        "reasoning_tokens_mean": train.get(names.REASONING_TOKENS_MEAN),
        "completion_tokens_mean": train.get(names.COMPLETION_TOKENS_MEAN),
        "valid_reasoning_tokens_mean": valid.get(names.REASONING_TOKENS_MEAN),
        "tool_calls_mean": train.get(names.TOOL_CALLS_MEAN),
        "mean_unresponsive_rewards": train.get(names.DISCARDED_SHARE),
        "full_valid_mean_parse_error": _parse_error(valid) if valid else None,
        "model_graders_token_usage": grader_metrics.usage_by_model(grader, train, valid),
    }


def _parse_error(valid: EventValues) -> float:
    return valid.get(names.TOOL_PARSE_ERRORS_MEAN, 0.0)


def _samples(train: EventValues, valid: EventValues) -> dict[str, float]:
    samples: dict[str, float] = {}
    for split, values in (("train", train), ("valid", valid)):
        if names.REASONING_TOKENS_MEAN in values:
            samples[f"{split}_reasoning_tokens_mean"] = values[names.REASONING_TOKENS_MEAN]
            samples[f"{split}_reasoning_tokens_count"] = values.get(names.ROLLOUTS_VALID, 0.0)
    return samples


def _tools(train: EventValues, valid: EventValues, fields: tuple[str, ...]) -> list[dict[str, Any]]:
    parsed = map(names.ToolMetric.parse, [*train, *valid])
    tools = sorted({metric.tool for metric in parsed if metric is not None})
    return [
        {
            "name": tool,
            **{
                f"{split}_{field}": values[names.tool_metric(tool, field)]
                for split, values in (("train", train), ("valid", valid))
                for field in fields
                if names.tool_metric(tool, field) in values
            },
        }
        for tool in tools
    ]
