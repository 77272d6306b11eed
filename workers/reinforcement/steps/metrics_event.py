"""Builds the `metrics` event of a step, in the hosted shape.

Source: the reinforcement fine-tuning guide's real event; the agent extras (`usage.tools`,
`errors.tools`, `timing.tools`) are named in its style, because the hosted keys are not public.
"""

from typing import Any

from app.domain.graders import grader_metrics
from app.domain.rollouts import metrics as names

Values = dict[str, float]


def message(step: int, total_steps: int, train: Values, valid: Values) -> str:
    text = f"Step {step}/{total_steps}"
    if names.REWARD_MEAN in train:
        text += f" , train mean reward={train[names.REWARD_MEAN]:.2f}"
    if names.REWARD_MEAN in valid:
        text += f", full validation mean reward={valid[names.REWARD_MEAN]:.2f}"
        text += f", full validation mean parse error={_parse_error(valid):.2f}"
    return text


def data(
    *, step: int, total_steps: int, grader: dict[str, Any], train: Values, valid: Values
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
            "step": _step_times(train),
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


def _step_times(train: Values) -> dict[str, float]:
    return {
        "eval": train.get(names.TIME_EVAL, 0.0),
        "sampling": train.get(names.TIME_SAMPLING, 0.0),
        "training": train.get(names.TIME_TRAINING, 0.0),
        "full_iteration": train.get(names.TIME_STEP, 0.0),
    }


def _parse_error(valid: Values) -> float:
    return valid.get(names.TOOL_PARSE_ERRORS_MEAN, 0.0)


def _samples(train: Values, valid: Values) -> dict[str, float]:
    samples: dict[str, float] = {}
    for split, values in (("train", train), ("valid", valid)):
        if names.REASONING_TOKENS_MEAN in values:
            samples[f"{split}_reasoning_tokens_mean"] = values[names.REASONING_TOKENS_MEAN]
            samples[f"{split}_reasoning_tokens_count"] = values.get(names.ROLLOUTS_VALID, 0.0)
    return samples


def _tools(train: Values, valid: Values, fields: tuple[str, ...]) -> list[dict[str, Any]]:
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
