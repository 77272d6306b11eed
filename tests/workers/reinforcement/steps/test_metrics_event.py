"""Keys and arithmetic of the hosted `metrics` event."""

import json

from app.rollouts import metrics as names
from tests.support.reinforcement.scored_rollouts import scored, tool_call
from workers.methods.reinforcement import step_summary as metrics_event
from workers.methods.reinforcement.step_summary import summarise

GRADER = {"type": "endpoint", "name": "records", "url": "https://x.test/", "headers": {"a": "b"}}
TRAIN = [
    scored(("train", 1, 0, 0), 1.0, calls=(tool_call(error="http_404"),), parse_error="bad"),
    scored(("train", 1, 0, 1), 0.5),
    scored(("train", 1, 0, 2), None),
]
TIMES = {names.TIME_SAMPLING: 2.0, names.TIME_TRAINING: 3.0, names.TIME_STEP: 7.0}


def test_a_step_with_validation() -> None:
    train = {**summarise(TRAIN), **TIMES, names.TIME_EVAL: 1.0}
    valid = summarise([scored(("valid", 1, 0, 0), 0.68)])
    data = metrics_event.event_data(
        step=10, total_steps=20, grader=GRADER, train=train, valid=valid
    )
    assert metrics_event.event_message(10, 20, train, valid) == (
        "Step 10/20 , train mean reward=0.75, full validation mean reward=0.68, "
        "full validation mean parse error=0.00"
    )
    assert set(data) == {
        *("step", "total_steps", "usage", "errors", "scores", "timing"),
        *("train_mean_reward", "full_valid_mean_reward", "reasoning_tokens_mean"),
        *("completion_tokens_mean", "valid_reasoning_tokens_mean", "tool_calls_mean"),
        *("mean_unresponsive_rewards", "full_valid_mean_parse_error"),
        "model_graders_token_usage",
    }
    assert data["timing"]["step"] == {
        "eval": 1.0,
        "sampling": 2.0,
        "training": 3.0,
        "full_iteration": 7.0,
    }
    assert data["scores"]["train_reward_mean"] == data["train_mean_reward"] == 0.75
    assert data["scores"]["valid_reward_mean"] == data["full_valid_mean_reward"] == 0.68
    assert data["mean_unresponsive_rewards"] == 1 / 3
    assert data["usage"]["samples"] == {
        "train_reasoning_tokens_mean": 1.0,
        "train_reasoning_tokens_count": 2.0,
        "valid_reasoning_tokens_mean": 1.0,
        "valid_reasoning_tokens_count": 1.0,
    }
    assert data["usage"]["tools"] == [
        {"name": "lookup", "train_calls_mean": 0.5, "train_tokens_per_call": 3.0}
    ]
    assert data["errors"]["tools"] == [{"name": "lookup", "train_errors": 1.0}]
    assert data["errors"]["discarded"] == {"count": 1.0, "share": 1 / 3, "tool_error": 1.0}
    (errors,) = data["errors"]["graders"]
    assert {key: value for key, value in errors.items() if key.startswith("train_")} == {
        "train_other_error_count": 0.0,
        "train_other_error_mean": 0.0,
        "train_sample_parse_error_count": 1.0,
        "train_sample_parse_error_mean": 0.5,
        "train_invalid_variable_error_count": 0.0,
        "train_invalid_variable_error_mean": 0.0,
    }
    assert "headers" not in json.dumps(data)


def test_a_step_in_which_nothing_was_graded_claims_no_reward() -> None:
    train = {**summarise([scored(("train", 1, 0, 0), None)]), **TIMES}
    data = metrics_event.event_data(step=1, total_steps=20, grader=GRADER, train=train, valid={})
    assert metrics_event.event_message(1, 20, train, {}) == "Step 1/20"
    assert data["train_mean_reward"] is None
    assert data["full_valid_mean_reward"] is None
    assert data["full_valid_mean_parse_error"] is None
    assert data["errors"]["graders"][0]["train_sample_parse_error_count"] == 0.0
