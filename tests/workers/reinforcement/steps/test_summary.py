import pytest

from app.rollouts import metrics as names
from app.rollouts.trajectory import Failure, FailureClass, ScoredRollout, StopReason
from tests.support.reinforcement.scored_rollouts import scored, tool_call
from workers.methods.reinforcement.step_summary import summarise, valid_share

ROLLOUTS = [
    scored(
        ("train", 1, 0, 0),
        1.0,
        calls=(tool_call(), tool_call(repeated=True, latency_s=1.5, output_tokens=5, attempts=3)),
        sampled=4,
        components={"exact": 1.0},
    ),
    scored(
        ("train", 1, 0, 1),
        0.5,
        calls=(
            tool_call("invented", error="unknown_tool", output_tokens=1, latency_s=0.0, attempts=0),
        ),
        parse_error="no JSON",
        stop=StopReason.MAX_STEPS,
        components={"exact": 0.0},
    ),
    scored(("train", 1, 0, 2), None, calls=(tool_call(latency_s=100.0),), sampled=50),
    scored(("train", 1, 0, 3), 0.0, components={"exact": 0.0}),
]

TOKENS = {"prompt_tokens": 30.0, "completion_tokens": 2.0, "cached_tokens": 0.0}


def test_every_value_is_the_mean_over_graded_rollouts() -> None:
    values = summarise(ROLLOUTS)
    expected = {
        names.ROLLOUTS_VALID: 3.0,
        names.DISCARDED_COUNT: 1.0,
        names.DISCARDED_SHARE: 0.25,
        names.discarded_metric("tool_error"): 1.0,
        names.REWARD_MEAN: 0.5,
        names.REWARD_STD: (1 / 6) ** 0.5,
        names.REWARD_MIN: 0.0,
        names.REWARD_MAX: 1.0,
        names.REWARD_P10: 0.1,
        names.REWARD_P90: 0.9,
        names.GRADER_LATENCY_MEAN: 0.25,
        names.GRADER_ERROR_SHARE: 0.0,
        names.component_metric("exact"): 1 / 3,
        names.COMPLETION_TOKENS_MEAN: 8 / 3,
        names.REASONING_TOKENS_MEAN: 1.0,
        names.PROMPT_TOKENS_MEAN: 3.0,
        names.TURNS_MEAN: 1.0,
        names.ROWS_MEAN: 1.0,
        names.TOOL_PARSE_ERRORS_MEAN: 1 / 3,
        names.LIMIT_STOP_SHARE: 1 / 3,
        names.TOOL_CALLS_MEAN: 1.0,
        names.TOOL_CALLS_REPEATED_MEAN: 1 / 3,
        names.TOOL_RETRIES_MEAN: 2 / 3,
        names.tool_metric("lookup", "retries"): 2.0,
        names.tool_metric("(unknown)", "retries"): 0.0,
        names.tool_metric("lookup", "calls_mean"): 2 / 3,
        names.tool_metric("lookup", "tokens_per_call"): 4.0,
        names.tool_metric("lookup", "latency_s_mean"): 1.0,
        names.tool_metric("lookup", "errors"): 0.0,
        names.tool_metric("(unknown)", "calls_mean"): 1 / 3,
        names.tool_metric("(unknown)", "tokens_per_call"): 1.0,
        names.tool_metric("(unknown)", "latency_s_mean"): 0.0,
        names.tool_metric("(unknown)", "errors"): 1.0,
        names.tool_metric("(unknown)", "errors/unknown_tool"): 1.0,
    }
    assert values == pytest.approx(expected)
    assert valid_share(ROLLOUTS) == 0.75


def test_nothing_graded_gives_counts_and_no_reward() -> None:
    lost = [scored(("train", 1, 0, n), None) for n in range(3)]
    assert summarise(lost) == {
        names.ROLLOUTS_VALID: 0.0,
        names.DISCARDED_COUNT: 3.0,
        names.DISCARDED_SHARE: 1.0,
        names.discarded_metric("tool_error"): 3.0,
    }


def test_tokens_of_answers_without_a_score_count_and_nothing_else_of_them() -> None:
    right = scored(("train", 1, 0, 0), 1.0)
    assert right.grade is not None
    right.grade.measures["judge"] = {"latency_s": 0.5, "prompt_tokens": 10.0}
    failure = Failure(
        FailureClass.GRADER_BAD_REPLY, "no label", "g.judge", "judge", {"judge": TOKENS}
    )
    failed = ScoredRollout(scored(("train", 1, 0, 1), 1.0).trajectory, failure=failure)
    values = summarise([right, failed])
    assert values[names.grader_metric("judge", "prompt_tokens")] == 40.0
    assert values[names.grader_metric("judge", "prompt_tokens_mean")] == 20.0
    assert values[names.grader_metric("judge", "measured")] == 1.0
    assert values[names.grader_metric("judge", "latency_s_mean")] == 0.5
    of_failed = summarise([failed])
    assert of_failed[names.grader_metric("judge", "prompt_tokens")] == 30.0
    assert of_failed[names.grader_metric("judge", "measured")] == 0.0
    assert names.REWARD_MEAN not in of_failed


def test_grader_errors_are_flagged_grades_and_failed_graders() -> None:
    flagged = scored(("train", 1, 0, 0), 0.0)
    assert flagged.grade is not None
    flagged.grade.measures["exact"] = {"latency_s": 0.1, "errors/invalid_variable_error": 1.0}
    failure = Failure(FailureClass.GRADER_BAD_REPLY, "no score", "judge")
    failed = ScoredRollout(scored(("train", 1, 0, 1), 1.0).trajectory, failure=failure)
    tool_failed = scored(("train", 1, 0, 2), None)
    right = scored(("train", 1, 0, 3), 1.0)
    share = summarise([flagged, failed, tool_failed, right, right])[names.GRADER_ERROR_SHARE]
    assert share == pytest.approx(2 / 4), "the rollout of the failed tool reached no grader"
