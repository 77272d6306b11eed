"""The graders' entries of a metrics event, counted by hand from a few rollouts."""

from typing import Any

import pytest

from app.rollouts.trajectory import Failure, FailureClass, Grade, ScoredRollout
from tests.support.reinforcement.scored_rollouts import scored
from workers.methods.reinforcement import step_summary as metrics_event
from workers.methods.reinforcement.step_summary import summarise

MULTI: dict[str, Any] = {
    "type": "multi",
    "name": "whole",
    "calculate_output": "exact + judge",
    "graders": {
        "exact": {"type": "string_check", "name": "shown elsewhere"},
        "judge": {"type": "score_model", "model": "judge-1", "headers": {"A": "b"}},
    },
}


def rollout(sample: int, exact: float, judge: float, **of: Any) -> ScoredRollout:
    made = scored(("train", 1, 0, sample), 0.0)
    used = {"latency_s": 2.0, "prompt_tokens": 10.0, "completion_tokens": 4.0, "cached_tokens": 1.0}
    made.grade = Grade(
        exact + judge,
        {"exact": exact, "judge": judge},
        2.0,
        {
            "": {"latency_s": 2.0, **of.get("of_whole", {})},
            "exact": {"latency_s": 0.5, **of.get("of_exact", {})},
            "judge": {**used, **of.get("of_judge", {})},
        },
    )
    return made


def lost(sample: int, child: str, flags: dict[str, float] | None = None) -> ScoredRollout:
    measures = {} if flags is None else {child: flags}
    failure = Failure(
        FailureClass.GRADER_TIMEOUT, "no reply", f"whole.{child}", child, measures=measures
    )
    return ScoredRollout(scored(("train", 1, 0, sample), 0.0).trajectory, failure=failure)


TRAIN = [
    rollout(0, 1.0, 0.5),
    rollout(1, 0.0, 0.0, of_judge={"prompt_tokens": 20.0}),
    rollout(2, 0.0, 1.0, of_exact={"errors/invalid_variable_error": 1.0}),
    rollout(3, 0.0, 0.0, of_whole={"errors/formula_parse_error": 1.0}),
    lost(4, "judge"),
    lost(5, "judge", {"errors/model_grader_parse_error": 1.0}),
]


def entries(part: str) -> dict[str, dict[str, Any]]:
    return {entry["name"]: entry for entry in EVENT[part]["graders"]}


EVENT = metrics_event.event_data(
    step=1, total_steps=2, grader=MULTI, train=summarise(TRAIN), valid=summarise(TRAIN[:2])
)
IDENTITY = {"name": "judge", "type": "score_model", "model": "judge-1"}


def test_scores_are_the_childrens_own_means() -> None:
    assert entries("scores")["exact"]["train_reward_mean"] == 0.25
    assert entries("scores")["judge"] == {
        **IDENTITY,
        "train_reward_mean": 0.375,
        "valid_reward_mean": 0.25,
    }
    assert EVENT["scores"]["train_reward_mean"] == 0.625


def test_tokens_are_counted_by_grader_and_by_model() -> None:
    assert entries("usage")["judge"] == {
        **IDENTITY,
        "train_prompt_tokens_mean": 12.5,
        "train_prompt_tokens_count": 4.0,
        "train_completion_tokens_mean": 4.0,
        "train_completion_tokens_count": 4.0,
        "valid_prompt_tokens_mean": 15.0,
        "valid_prompt_tokens_count": 2.0,
        "valid_completion_tokens_mean": 4.0,
        "valid_completion_tokens_count": 2.0,
    }
    assert entries("usage")["exact"] == {"name": "exact", "type": "string_check", "model": None}
    assert EVENT["model_graders_token_usage"] == {
        "judge-1": {
            "train_prompt_tokens": 50.0,
            "train_completion_tokens": 16.0,
            "train_cached_tokens": 4.0,
            "eval_prompt_tokens": 30.0,
            "eval_completion_tokens": 8.0,
            "eval_cached_tokens": 2.0,
        }
    }


def test_errors_are_counted_where_they_happened() -> None:
    exact, judge = entries("errors")["exact"], entries("errors")["judge"]
    assert exact["train_invalid_variable_error_count"] == 1.0
    assert exact["train_invalid_variable_error_mean"] == pytest.approx(1 / 6)
    assert exact["train_other_error_count"] == 0.0
    assert "train_model_grader_server_error_count" not in exact
    assert judge["train_model_grader_server_error_count"] == 1.0
    assert judge["train_model_grader_parse_error_count"] == 1.0
    assert judge["train_model_grader_refusal_error_count"] == 0.0
    assert judge["train_other_error_count"] == 0.0
    assert judge["valid_model_grader_server_error_count"] == 0.0
    assert EVENT["errors"]["formula"] == {
        "train_formula_parse_error_count": 1.0,
        "train_formula_parse_error_mean": 0.25,
        "valid_formula_parse_error_count": 0.0,
        "valid_formula_parse_error_mean": 0.0,
    }


def test_times_are_the_childrens_own() -> None:
    assert entries("timing")["exact"]["train_execution_latency_mean"] == 0.5
    assert entries("timing")["judge"]["train_execution_latency_mean"] == 2.0


def test_no_secret_of_a_child_grader_is_shown() -> None:
    assert "headers" not in str(EVENT)
