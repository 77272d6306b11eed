"""The `metrics` event of a step, in the hosted shape.

Source: the reinforcement fine-tuning guide's real event; the agent extras (`usage.tools`,
`errors.tools`, `timing.tools`) are named in its style, because the hosted keys are not public.
"""

from typing import Any

from app.domain import metrics as names

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
    identity = {"name": grader.get("name"), "type": grader.get("type"), "model": None}
    train_reward, valid_reward = train.get(names.REWARD_MEAN), valid.get(names.REWARD_MEAN)
    return {
        "step": step,
        "total_steps": total_steps,
        "usage": {
            "graders": [identity],
            "samples": _samples(train, valid),
            "tools": _tools(train, valid, ("calls_mean", "tokens_per_call")),
        },
        "errors": {
            "graders": [{**identity, **_grader_errors(train, valid)}],
            "tools": _tools(train, valid, ("errors",)),
            "discarded": {
                name.removeprefix("discarded/"): value
                for name, value in sorted(train.items())
                if name.startswith("discarded/")
            },
        },
        "scores": {
            "train_reward_mean": train_reward,
            "valid_reward_mean": valid_reward,
            "graders": [
                {
                    **identity,
                    "train_reward_mean": train_reward,
                    "valid_reward_mean": valid_reward,
                }
            ],
        },
        "timing": {
            "step": {
                "eval": train.get(names.TIME_EVAL, 0.0),
                "sampling": train.get(names.TIME_SAMPLING, 0.0),
                "training": train.get(names.TIME_TRAINING, 0.0),
                "full_iteration": train.get(names.TIME_STEP, 0.0),
            },
            "graders": [
                {
                    **identity,
                    "train_execution_latency_mean": train.get(names.GRADER_LATENCY_MEAN),
                    "valid_execution_latency_mean": valid.get(names.GRADER_LATENCY_MEAN),
                }
            ],
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
        "model_graders_token_usage": {},
    }


def _parse_error(valid: Values) -> float:
    return valid.get(names.TOOL_PARSE_ERRORS_MEAN, 0.0)


def _samples(train: Values, valid: Values) -> dict[str, float]:
    samples: dict[str, float] = {}
    for split, values in (("train", train), ("valid", valid)):
        if names.REASONING_TOKENS_MEAN in values:
            samples[f"{split}_reasoning_tokens_mean"] = values[names.REASONING_TOKENS_MEAN]
            samples[f"{split}_reasoning_tokens_count"] = values[names.ROLLOUTS_VALID]
    return samples


def _grader_errors(train: Values, valid: Values) -> dict[str, float]:
    errors: dict[str, float] = {}
    for split, values in (("train", train), ("valid", valid)):
        count = sum(v for name, v in values.items() if name.startswith("discarded/grader_"))
        total = values.get(names.ROLLOUTS_VALID, 0.0) + values.get(names.DISCARDED_COUNT, 0.0)
        if total:
            errors[f"{split}_other_error_count"] = float(count)
            errors[f"{split}_other_error_mean"] = count / total
            parse_error = values.get(names.TOOL_PARSE_ERRORS_MEAN, 0.0)
            errors[f"{split}_sample_parse_error_count"] = parse_error * values[names.ROLLOUTS_VALID]
            errors[f"{split}_sample_parse_error_mean"] = parse_error
            # Endpoint graders have no template whose variables could be missing.
            errors[f"{split}_invalid_variable_error_count"] = 0.0
            errors[f"{split}_invalid_variable_error_mean"] = 0.0
    return errors


def _tools(train: Values, valid: Values, fields: tuple[str, ...]) -> list[dict[str, Any]]:
    tools = sorted({name.split("/")[1] for name in [*train, *valid] if name.startswith("tool/")})
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
