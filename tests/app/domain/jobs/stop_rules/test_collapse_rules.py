"""The rules that report a collapse while it happens: each fires, and each does not."""

from typing import Any, Final

from app.graders.definitions import read_grader
from app.jobs.stop_options import PreferenceStopOptions, ReinforcementStopOptions, StopOptions
from app.jobs.stop_rules import LOSSES, REWARD, Watch, names_read, reward_of
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
            names.ENTROPY,
            [1.0, 0.8, 0.6, 0.8, 0.8, *[0.1] * 4, None, 0.0],
            "entropy_collapse",
            11,
            "entropy is 0.08 nats a token, 0.8 in the first 5 steps (curve train/entropy)",
        ),
        (
            names.MASKED_SHARE,
            [0.02, 0.5, 0.6, 0.77],
            "masked_tokens",
            4,
            (
                "'mismatch' left out 77% of the tokens to train, at least 30% in 3 steps "
                "(curve train/masked_share)"
            ),
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
        (names.ENTROPY, [0.015] * 12),  # little from the start, and no less since
        (names.ENTROPY, [0.0] * 12),
        (names.MASKED_SHARE, [0.77, 0.77, 0.29, 0.77, 0.77]),
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


CHECK: Final = {"type": "exact_match", "reference": "{{item.a}}"}
PARTS: Final = {"exact": CHECK, "fmt": CHECK, "long": CHECK}
MULTI: Final = {
    "type": "multi",
    "graders": PARTS,
    "calculate_output": "0.6 * exact * (1 - long) + 0.4 * fmt",
}
HOOK: Final = {"type": "endpoint", "url": "https://grader.test/"}


def _watch_of(grader: dict[str, Any], **rules: Any) -> Watch:
    return Watch(_rules(**rules), reward_of(read_grader(grader)))


@cases(
    ("grader", "curve", "values", "step"),
    [
        (MULTI, "component/exact", [0.0] * 7, 5),
        (MULTI, "component/exact", [None, 0.0, None, *[0.0] * 4], 7),
        (MULTI, "component/exact", [0.0] * 4 + [0.01] + [0.0] * 9, None),
        (MULTI, "component/exact", [0.5] * 9, None),
        (MULTI, "component/long", [0.0] * 9, None),  # a penalty that nothing earns
        (MULTI, "component/long", [1.0] * 9, 5),
        (HOOK, "component/cites", [0.0] * 9, 5),
        (HOOK, "component/penalty", [-0.5] * 9, 5),
        (HOOK, "component/fluent", [1.0] * 9, None),
        (HOOK, "tag/absent", [-1.0] * 9, 5),  # the lowest reward of the job
        (HOOK, "tag/absent", [0.0] * 9, None),
        (HOOK, "tag/absent", [-1.0] * 4 + [-0.9] * 9, None),
    ],
)
def test_a_series_that_never_left_its_worst_value_is_reported(
    grader: dict[str, Any], curve: str, values: list[float | None], step: int | None
) -> None:
    watch, beside = _watch_of(grader), {**TRAINED, names.REWARD_MIN: -1.0, names.REWARD_MAX: 0.4}
    found = [
        trigger
        for number, value in enumerate(values, 1)
        for trigger in watch.feed(
            number, beside if value is None else {**beside, f"reward/{curve}": value}
        )
    ]
    assert [(one.step, one.rule) for one in found] == ([(step, "never_earned")] if step else [])
    worst = next(value for value in values if value is not None)
    assert all(
        one.reason.startswith(
            f"no rollout of at least 5 steps did better than {worst:g} in reward/{curve}: what is "
            "never sampled is never learned."
        )
        for one in found
    )


def test_a_further_series_is_told_too_and_equal_rewards_are_no_slice() -> None:
    watch, told = _watch_of(HOOK, never_earned={"steps": 2}, zero_variance={"action": "off"}), []
    for step in range(1, 7):
        tags = {"reward/tag/a": 0.0} | ({"reward/tag/b": 0.0} if step > 3 else {})
        highest = 0.0 if step == 1 else 0.5
        told += watch.feed(
            step, {**TRAINED, **tags, names.REWARD_MIN: 0.0, names.REWARD_MAX: highest}
        )
    listed = [one.reason.partition("better than ")[2].partition(": ")[0] for one in told]
    assert [one.step for one in told] == [2, 5]
    assert listed == ["0 in reward/tag/a", "0 in reward/tag/a, 0 in reward/tag/b"]
    alike = _watch_of(HOOK, never_earned={"steps": 1})
    values = {**TRAINED, "reward/tag/a": 0.0, names.REWARD_MIN: 0.0, names.REWARD_MAX: 0.0}
    assert alike.feed(1, values) == []


SOLVED: Final = [(11, "solved")]
STUCK: Final = [(15, "entropy_collapse"), (15, "zero_variance"), (21, "plateau")]


def _solved_job(grader: dict[str, Any], top: float) -> list[tuple[int, str]]:
    """Returns step and rule of a job that rises to `top`, where its groups and entropy collapse."""
    watch, found = _watch_of(grader, plateau={"evaluations": 2}), []
    for step in range(1, 31):
        solved = step > 10
        train = {
            names.ENTROPY: 0.01 if solved else 1.0,
            names.GROUPS_TRAINED: 0.0 if solved else 8.0,
            names.GROUPS_ZERO_VARIANCE: 8.0 if solved else 0.0,
            "reward/component/exact": 0.0,
            names.REWARD_MIN: top if solved else 0.0,
            names.REWARD_MAX: top,
        }
        # One of 50 held-out rollouts fails now and then.
        missing = 0.02 * top if step == 16 else 0.0
        valid = {
            names.REWARD_MEAN: top - missing if solved else 0.1,
            names.REWARD_STD: top * 0.14 if missing else 0.0,
            names.ROLLOUTS_VALID: 50.0,
        }
        found += watch.feed(step, {**TRAINED, **train}, valid if step % 5 == 1 else {})
    return [(one.step, one.rule) for one in found]


@cases(
    ("grader", "top", "warned"),
    [
        (CHECK, 1.0, SOLVED),
        (HOOK, 1.0, SOLVED),
        (HOOK, 7.0, SOLVED),
        (HOOK, 0.2, STUCK),
        (MULTI, 0.4, STUCK),
        (MULTI, 1.0, SOLVED),
        ({**MULTI, "calculate_output": "exact + fmt - long"}, 1.0, STUCK),  # 2 can be earned
    ],
)
def test_a_solved_job_is_told_so_once_instead_of_being_warned(
    grader: dict[str, Any], top: float, warned: list[tuple[int, str]]
) -> None:
    assert _solved_job(grader, top) == [(5, "never_earned"), *warned]


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
