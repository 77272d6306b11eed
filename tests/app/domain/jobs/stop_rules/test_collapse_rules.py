"""The rules that report a collapse while it happens: each fires, and each does not."""

from typing import Any, Final

from app.jobs.stop_options import PreferenceStopOptions, ReinforcementStopOptions, StopOptions
from app.jobs.stop_rules import LOSSES, REWARD, Watch, names_read
from app.rollouts import metrics as names
from tests.support.cases import cases

TRAINED: Final = {names.LOSS: 0.1}
"""A step that changed a weight."""


def _reasons(
    options: StopOptions, curve: str, values: list[float | None], **others: float
) -> list[tuple[int, str, str]]:
    """Feeds a curve, one value a step; returns step, rule and reason of what was triggered."""
    watch = Watch(options, REWARD if isinstance(options, ReinforcementStopOptions) else LOSSES)
    assert curve in names_read(options, REWARD), "a run that continues reads it again"
    return [
        (found.step, found.rule, found.reason)
        for step, value in enumerate(values, 1)
        for found in watch.feed(
            step, {**TRAINED, **others, **({} if value is None else {curve: value})}
        )
    ]


def _rules(**rules: Any) -> ReinforcementStopOptions:
    return ReinforcementStopOptions.model_validate(rules)


@cases(
    ("curve", "values", "rule", "step", "words"),
    [
        (
            names.ENTROPY,
            [0.1, 0.2, 0.15, 0.3, 2.0, 5.5],
            "entropy_rise",
            6,
            "entropy is 2.6 nats a token, 0.15 in the first 3 steps (curve train/entropy)",
        ),
        (
            names.LIMIT_STOP_SHARE,
            [0.3, 0.6, 0.4, 0.5, 0.8, 0.94],
            "limit_stops",
            6,
            (
                "94% of the rollouts ended at a limit, at least 50% in 3 steps "
                "(curve rollouts/limit_stop_share)"
            ),
        ),
        (
            names.TOOL_CALLS_MEAN,
            [1.5, 1.6, 1.4, 0.9, 0.3, 0.1, 0.15, None, 0.03],
            "tool_call_collapse",
            9,
            "rollouts make 0.0933 tool calls, 1.5 in the first 3 steps (curve tool_calls/mean)",
        ),
        (
            names.GRADER_ERROR_SHARE,
            [0.0, 0.05, 0.1, 0.2, 1.0],
            "grader_errors",
            5,
            (
                "the grader failed or flagged an error in 100% of the rollouts, at least 10% in "
                "3 steps (curve grader/error_share)"
            ),
        ),
        (
            names.TOOL_PARSE_ERRORS_MEAN,
            [0.1, 0.5, 0.86, 0.7],
            "parse_errors",
            4,
            (
                "0.7 turns a rollout could not be parsed, at least 0.5 in 3 steps "
                "(curve tool_calls/parse_errors_mean)"
            ),
        ),
    ],
)
def test_a_collapse_is_reported_once_with_its_value_and_curve(
    curve: str, values: list[float | None], rule: str, step: int, words: str
) -> None:
    assert _reasons(_rules(), curve, values) == [(step, rule, words)]
    assert _reasons(_rules(**{rule: {"action": "off"}}), curve, values) == []


@cases(
    ("curve", "values"),
    [
        (names.ENTROPY, [0.05, 0.05, 0.05, 0.4, 0.4, 0.4]),  # eight times as much, of very little
        (names.ENTROPY, [2.0, 2.0, 2.0, 4.0, 4.0, 4.0]),  # two nats more, which is not a multiple
        (names.LIMIT_STOP_SHARE, [0.9, 0.9, 0.4, 0.9, 0.9, 0.49]),
        (names.TOOL_CALLS_MEAN, [1.5, 1.5, 1.5, 0.2, 0.2, 0.2]),
        (names.TOOL_CALLS_MEAN, [0.05, 0.05, 0.05, 0.0, 0.0, 0.0]),  # there was nothing to lose
        (names.GRADER_ERROR_SHARE, [0.09, 0.09, 0.09, 0.09]),
        (names.TOOL_PARSE_ERRORS_MEAN, [0.9, 0.9, 0.3, 0.9, 0.9]),
    ],
)
def test_no_other_change_is_reported_as_a_collapse(curve: str, values: list[float | None]) -> None:
    assert _reasons(_rules(), curve, values) == []


def test_each_limit_can_be_set() -> None:
    rules = _rules(
        entropy_rise={"ratio": 1.5, "min_rise": 0.1, "steps": 1},
        limit_stops={"share": 0.2, "steps": 1, "action": "stop"},
        tool_call_collapse={"share": 0.5, "steps": 1},
        grader_errors={"share": 0.01, "steps": 1},
        parse_errors={"per_rollout": 0.1, "steps": 1},
    )
    for curve, values, rule in (
        (names.ENTROPY, [0.2, 0.4], "entropy_rise"),
        (names.LIMIT_STOP_SHARE, [0.1, 0.3], "limit_stops"),
        (names.TOOL_CALLS_MEAN, [1.0, 0.5], "tool_call_collapse"),
        (names.GRADER_ERROR_SHARE, [0.0, 0.02], "grader_errors"),
        (names.TOOL_PARSE_ERRORS_MEAN, [0.0, 0.2], "parse_errors"),
    ):
        found = _reasons(rules, curve, list(values))
        assert [one[:2] for one in found] == [(2, rule)]


@cases("options", [StopOptions(), _rules(zero_variance={"action": "off"})])
def test_a_job_that_has_trained_nothing_so_far_is_reported(options: StopOptions) -> None:
    def steps(trained: list[bool]) -> list[int]:
        watch = Watch(options, LOSSES)
        return [
            step
            for step, has_loss in enumerate(trained, 1)
            for found in watch.feed(step, TRAINED if has_loss else {})
            if found.rule == "nothing_trained"
        ]

    assert steps([False] * 6) == [3]
    assert steps([False, False, True, False, False, False, False]) == [], "it has trained once"
    (reason,) = [
        found.reason
        for watch in [Watch(options, LOSSES)]
        for step in (1, 2, 3)
        for found in watch.feed(step, {})
    ]
    assert reason == (
        "none of the 3 steps so far has changed a weight (curve train/loss has no point): the "
        "model is the one that training started from"
    )


def test_preferred_answers_that_become_less_probable_are_reported() -> None:
    curve = names.PREFERENCE_CHOSEN_REWARD
    found = _reasons(PreferenceStopOptions(), curve, [0.0, 0.1, -0.1, -0.2, -0.4, -0.6])
    assert found == [
        (
            5,
            "chosen_reward",
            (
                "the implicit reward of the preferred answers, which become less probable too, "
                "is -0.4, below 0 in 3 steps (curve preference/chosen_reward)"
            ),
        )
    ]
    assert _reasons(PreferenceStopOptions(), curve, [0.0, -0.1, -0.1, 0.0, -0.1, -0.1]) == []
    stops = PreferenceStopOptions.model_validate({"chosen_reward": {"below": -1.0, "steps": 1}})
    assert [one[0] for one in _reasons(stops, curve, [-0.9, -1.1])] == [2]
