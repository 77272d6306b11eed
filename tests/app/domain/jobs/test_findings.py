"""Findings: the sentences that curves lead to, with figures computed by hand."""

from typing import Any

import pytest

from app.domain.ids import Split
from app.domain.jobs.findings import findings
from app.domain.methods.stored import stored_method

Curve = dict[int, float]
REWARDS = stored_method({"type": "reinforcement", "reinforcement": {}})
TRAINED: dict[tuple[str, Split], Curve] = {("train/loss", "train"): {1: 0.1}}


def said(curves: dict[tuple[str, Split], Curve], **options: Any) -> list[str]:
    method = stored_method({"type": "reinforcement", "reinforcement": options})
    return [found.text for found in findings(method, {**TRAINED, **curves})]


def steps(*values: float) -> Curve:
    return dict(enumerate(values, 1))


def test_curves_without_points_say_nothing() -> None:
    assert findings(REWARDS, {}) == []


def test_a_rule_speaks_while_its_condition_holds_and_not_after() -> None:
    groups: dict[tuple[str, Split], Curve] = {
        ("groups/trained", "train"): steps(*[0.0] * 6, 1.0, 1.0),
        ("groups/zero_variance", "train"): steps(*[4.0] * 6, 1.0, 1.0),
    }
    assert [text for text in said(groups) if text.startswith("Every group's")] == []
    now: dict[tuple[str, Split], Curve] = {
        name: dict(list(curve.items())[:6]) for name, curve in groups.items()
    }
    [reason] = [text for text in said(now) if text.startswith("Every group's")]
    assert "in 6 steps" in reason
    off = {"stop": {"zero_variance": {"action": "off"}}}
    assert [text for text in said(now, **off) if text.startswith("Every group's")] == []


def test_a_target_that_was_reached_is_good_news() -> None:
    method = stored_method(
        {"type": "supervised", "supervised": {"stop": {"target": {"value": 1.0}}}}
    )
    valid: dict[tuple[str, Split], Curve] = {("train/loss", "valid"): {0: 2.0, 4: 0.5}, **TRAINED}
    found = findings(method, valid)
    assert [(one.severity, one.curve) for one in found] == [
        ("good", "train/loss"), ("good", "train/loss"),
    ]  # fmt: skip
    assert "has reached the target of 1" in found[0].text


def test_options_of_an_older_job_that_are_refused_today_silence_the_rules_alone() -> None:
    lost: dict[tuple[str, Split], Curve] = {
        ("rollouts/valid", "train"): steps(5.0),
        ("discarded/count", "train"): steps(5.0),
        ("discarded/grader_error", "train"): steps(5.0),
    }
    assert said(lost, stop={"zero_variance": {"steps": "many"}}) == [
        "50% of the rollouts of the last 1 steps were lost: 50% grader_error."
    ]


def test_lost_rollouts_are_reported_by_class_over_the_last_five_steps() -> None:
    curves: dict[tuple[str, Split], Curve] = {
        ("rollouts/valid", "train"): steps(0.0, *[8.0] * 5),
        ("discarded/count", "train"): steps(100.0, *[2.0] * 5),
        ("discarded/tool_error", "train"): {2: 1.0, 3: 1.0},
        ("discarded/tool_timeout", "train"): {1: 100.0, 4: 3.0, 5: 3.0, 6: 2.0},
    }
    assert said(curves) == [
        "20% of the rollouts of the last 5 steps were lost: 16% tool_timeout, 4% tool_error."
    ]
    curves["discarded/tool_timeout", "train"] = {4: 1.0}
    curves["discarded/tool_error", "train"] = {}
    assert said(curves) == []  # 1 of 41


def test_a_failing_tool_is_named_and_a_name_that_no_tool_has_is_not() -> None:
    curves: dict[tuple[str, Split], Curve] = {
        ("rollouts/valid", "train"): steps(10.0, 10.0),
        ("tool/search/calls_mean", "train"): steps(2.0, 3.0),
        ("tool/search/errors", "train"): steps(0.0, 6.0),
        ("tool/(unknown)/calls_mean", "train"): steps(1.0, 1.0),
        ("tool/(unknown)/errors", "train"): steps(10.0, 10.0),
        ("tool/fine/calls_mean", "train"): steps(2.0, 2.0),
        ("tool/fine/errors", "train"): steps(1.0, 0.0),
    }
    assert said(curves) == ["search answers 12% of its calls with an error."]


@pytest.mark.parametrize(("last_calls", "speaks"), [(1.0, True), (1.9, False)])
def test_a_reward_that_rises_while_calls_fall_is_reported(last_calls: float, speaks: bool) -> None:
    curves: dict[tuple[str, Split], Curve] = {
        ("reward/mean", "train"): steps(*[0.2] * 5, *[0.6] * 5),
        ("tool_calls/mean", "train"): steps(*[2.0] * 5, *[last_calls] * 5),
    }
    found = [text for text in said(curves) if "while tool calls fall" in text]
    assert bool(found) is speaks
    assert all("1 calls a rollout, 2 in the first 5 steps" in text for text in found)


def test_a_validation_that_fell_is_no_good_news() -> None:
    valid: dict[tuple[str, Split], Curve] = {("reward/mean", "valid"): {0: 0.5, 10: 0.25}}
    [found] = findings(REWARDS, {**TRAINED, **valid})
    assert (found.severity, found.text) == (
        "warn",
        "The validation reward went from 0.5 at step 0 to 0.25 at step 10.",
    )
