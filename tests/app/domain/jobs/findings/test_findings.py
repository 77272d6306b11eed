"""Findings: the sentences that curves lead to, with numbers computed by hand."""

from typing import Any

from app.jobs.findings import findings, read_verdict, report_finding
from app.jobs.intervals import paired_gain
from app.jobs.methods import stored_method
from app.kit.ids import Split
from tests.support.cases import cases

Curve = dict[int, float]
REWARDS = stored_method({"type": "reinforcement", "reinforcement": {}})
EVAL_OF_FOUR = {"hyperparameters": {"eval_samples": 4}}
TRAINED: dict[tuple[str, Split], Curve] = {("train/loss", "train"): {1: 0.1}}


def said(curves: dict[tuple[str, Split], Curve], **options: Any) -> list[str]:
    method = stored_method({"type": "reinforcement", "reinforcement": options})
    return [found.text for found in findings(method, {**TRAINED, **curves})]


def steps(*values: float) -> Curve:
    return dict(enumerate(values, 1))


def test_a_rule_reports_while_its_condition_holds_and_not_after() -> None:
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


def test_a_solved_task_is_one_piece_of_good_news() -> None:
    check = {"type": "exact_match", "reference": "{{item.a}}"}
    flat: dict[tuple[str, Split], Curve] = {
        ("groups/trained", "train"): steps(*[0.0] * 6),
        ("groups/zero_variance", "train"): steps(*[4.0] * 6),
        ("train/entropy", "train"): steps(*[1.0] * 5, *[0.01] * 5),
        ("reward/mean", "valid"): {0: 0.2, 4: 0.9},
    }
    assert len(said(flat, grader=check)) == 4, "three faults, and the gain"
    flat["reward/mean", "valid"] = {0: 0.2, 4: 1.0}
    gain, news = said(flat, grader=check)
    assert news.startswith("Validation reward/mean has reached 1, the highest reward: the task is")
    assert gain.startswith("No clear difference yet"), "its noise is not known"


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


@cases(
    ("after", "severity"), [(0.999, "good"), (0.99999, "unclear"), (1.0, "unclear"), (1.1, "warn")]
)
def test_a_loss_is_good_news_once_its_change_can_be_seen(after: float, severity: str) -> None:
    method = stored_method({"type": "supervised", "supervised": {}})
    curves: dict[tuple[str, Split], Curve] = {
        ("train/loss", "valid"): {0: 1.0, 4: after},
        **TRAINED,
    }
    assert [one.severity for one in findings(method, curves)] == [severity]


def test_options_of_an_older_job_that_are_refused_today_silence_the_rules_alone() -> None:
    lost: dict[tuple[str, Split], Curve] = {
        ("rollouts/valid", "train"): steps(5.0),
        ("discarded/count", "train"): steps(5.0),
        ("discarded/grader_error", "train"): steps(5.0),
    }
    assert said(lost, stop={"zero_variance": {"steps": "many"}}) == [
        "50% of the rollouts of the last 1 steps were lost: 50% grader_error."
    ]


def test_a_lost_validation_is_reported_also_where_it_was_the_baseline() -> None:
    curves: dict[tuple[str, Split], Curve] = {
        ("rollouts/valid", "valid"): {0: 1.0},
        ("discarded/count", "valid"): {0: 9.0},
        ("discarded/grader_error", "valid"): {0: 9.0},
    }
    assert said(curves) == [
        "90% of the rollouts of the base model's validation were lost: 90% grader_error."
    ]
    curves["rollouts/valid", "valid"] = {0: 1.0, 4: 3.0}
    curves["discarded/grader_error", "valid"] = {0: 9.0, 4: 1.0}
    assert said(curves) == [
        "25% of the rollouts of the validation of step 4 were lost: 25% grader_error."
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


@cases(("last_calls", "speaks"), [(1.0, True), (1.9, False)])
def test_a_reward_that_rises_while_calls_fall_is_reported(last_calls: float, speaks: bool) -> None:
    curves: dict[tuple[str, Split], Curve] = {
        ("reward/mean", "train"): steps(*[0.2] * 5, *[0.6] * 5),
        ("tool_calls/mean", "train"): steps(*[2.0] * 5, *[last_calls] * 5),
    }
    found = [text for text in said(curves) if "while tool calls fall" in text]
    assert bool(found) is speaks
    assert all("1 calls a rollout, 2 in the first 5 steps" in text for text in found)


def validations(
    first: float, last: float, *, std: float, rollouts: float
) -> dict[tuple[str, Split], Curve]:
    return {
        ("reward/mean", "valid"): {0: first, 10: last},
        ("reward/std", "valid"): {0: std, 10: std},
        ("rollouts/valid", "valid"): {0: rollouts, 10: rollouts},
    }


def test_a_validation_that_fell_is_no_good_news() -> None:
    fell = validations(0.5, 0.25, std=0.3, rollouts=64.0)
    [found] = findings(REWARDS, {**TRAINED, **fell})
    assert (found.severity, found.text) == (
        "warn",
        # 1.998 (Student's t with 63 degrees) x 0.3 x sqrt(2 / 63) = 0.107
        (
            "The validation reward went from 0.5 at step 0 to 0.25 at step 10, a gain of -0.25, 95 "
            "% interval -0.357 to -0.143."
        ),
    )


@cases(
    ("last", "std", "rollouts", "severity"),
    [
        (0.6, 0.3, 64.0, "unclear"),  # 0.1 with 0.107 to each side
        (0.61, 0.3, 64.0, "good"),
        (0.39, 0.3, 64.0, "warn"),
        (1.0, 0.01, 6.0, "good"),
        (1.0, 0.01, 5.0, "unclear"),  # no interval, as of 5 rows
        (1.0, 0.0, 6.0, "unclear"),  # all alike
    ],
)
def test_a_gain_is_news_once_its_interval_leaves_out_0(
    last: float, std: float, rollouts: float, severity: str
) -> None:
    curves = validations(0.5, last, std=std, rollouts=rollouts)
    [found] = findings(REWARDS, {**TRAINED, **curves})
    assert found.severity == severity
    assert found.text.startswith("No clear difference yet") == (severity == "unclear")
    assert ("95 % interval" in found.text) == (std > 0 and rollouts > 5)


def test_the_gain_of_each_row_decides_where_it_is_known() -> None:
    curves = validations(0.5, 0.6, std=0.5, rollouts=10.0)
    before = {row: row / 10 for row in range(10)}
    after = {row: value + 0.1 + row % 3 / 100 for row, value in before.items()}
    steady = paired_gain(before, after)
    [found] = findings(REWARDS, {**TRAINED, **curves}, steady)
    assert (found.severity, "over 10 rows" in found.text) == ("good", True)
    noisy = paired_gain(before, {row: value + 0.1 * (-1) ** row for row, value in before.items()})
    [found] = findings(REWARDS, {**TRAINED, **curves}, noisy)
    assert found.severity == "unclear"
    few = paired_gain({0: 0.0, 1: 0.0}, {0: 1.0, 1: 1.0, 2: 1.0})
    [found] = findings(REWARDS, {**TRAINED, **curves}, few)
    assert found.severity == "unclear"
    assert found.text.endswith("a gain of +1 over 2 rows (too few for an interval).")
    alone: dict[tuple[str, Split], Curve] = {("reward/mean", "valid"): {0: 0.5, 10: 0.9}}
    [found] = findings(REWARDS, {**TRAINED, **alone})
    assert found.severity == "unclear"
    assert found.text.endswith("a gain of +0.4 (its noise is not known).")


@cases(
    ("measured", "verdict", "severity", "words"),
    [
        (
            {"difference": 0.3, "difference_ci95": [0.1, 0.5]},
            *("gain", "good", "a gain in reward of +0.3 "),
        ),
        (
            {"difference": 0.03, "difference_ci95": [-0.04, 0.11]},
            *("no_clear_gain", "unclear"),
            "No clear gain in reward: +0.03 over 12 rows, 95 % interval -0.04 to +0.11.",
        ),
        (
            {"difference": 0.0, "difference_ci95": [0.0, 0.0]},
            *("no_clear_gain", "unclear", "No clear gain"),
        ),
        (
            {"difference": -0.3, "difference_ci95": [-0.5, -0.1]},
            *("loss", "warn", "a loss in reward of -0.3 over 12 rows, 95 % interval -0.5 to -0.1"),
        ),
        (
            {"difference": 0.3, "difference_ci95": None},
            *("no_clear_gain", "unclear", "too few of them differ for"),
        ),
        ({}, "not_measured", "unclear", "The report has no row to compare."),
    ],
)
@cases("wins_by", ["reward", "loss", None])
def test_a_report_is_good_news_only_without_0_in_its_interval(
    measured: dict[str, Any], verdict: str, severity: str, words: str, wins_by: str | None
) -> None:
    name = wins_by or "reward"
    if name == "loss" and measured:
        interval = measured["difference_ci95"]
        measured = {
            "difference": -measured["difference"],
            "difference_ci95": interval and [-interval[1], -interval[0]],
        }
    report = {"rows": 12, "wins_by": wins_by, name: measured}
    found = report_finding(report)
    assert read_verdict(report) == (verdict, found.text)
    assert (found.severity, words.replace("reward", name) in found.text) == (severity, True)


def test_a_report_whose_judge_saw_each_model_apart_reports_no_gain() -> None:
    measured = {"difference": 0.3, "difference_ci95": [0.1, 0.5]}
    report = {"rows": 12, "wins_by": "reward", "reward": measured}
    assert report_finding({**report, "judged_apart": []}).severity == "good"
    found = report_finding({**report, "judged_apart": ["method.reinforcement.grader"]})
    assert (found.severity, "method.reinforcement.grader judged" in found.text) == ("unclear", True)


def test_a_report_of_pairs_counts_pairs() -> None:
    compared = {"difference": 0.2, "difference_ci95": [0.1, 0.3]}
    found = report_finding(
        {
            "rows": 12,
            "wins_by": "logprob_order",
            "loss": {"difference": -0.5, "difference_ci95": [-0.6, -0.4]},
            "preference_accuracy": compared,
        }
    )
    assert found.severity == "good"
    assert "preferred answer is more probable of +0.2 over 12 rows" in found.text
    report = {
        "rows": 12,
        "wins_by": "logprob_order",
        "preference_accuracy": compared,
        "chosen_logprob": {"difference": -11.7},
        "chosen_less_probable": 9,
    }
    worse = report_finding({**report, "evals": []})
    assert worse.severity == "warn"
    first, second, *_, last = worse.text.split(". ")
    assert first == "The preferred answers became less probable, by 11.7 nats, in 9 of 12 pairs"
    assert second.startswith("The report has a gain in share of pairs")
    assert last == "No answers were sampled: attach an eval to compare those of both models."
    one = {"eval_id": "eval_1", "items": 40, "difference": -0.2, "difference_ci95": [-0.3, -0.1]}
    said = "in eval eval_1 have a gain of -0.2 over 40 rows, 95 % interval -0.3 to -0.1."
    assert report_finding({**report, "evals": [one]}).text.endswith(said)
    waits = {**one, "difference": None}
    assert "eval_1 are not compared yet" in report_finding({**report, "evals": [waits]}).text
    assert report_finding({"rows": 0, "wins_by": "loss"}).severity == "unclear"


def test_rollouts_of_one_row_are_one_value_of_a_gain() -> None:
    """Twenty of five rows, whose own rollouts have expired."""
    curves = {**TRAINED, **validations(0.2, 0.9, std=0.1, rollouts=20.0)}
    [found] = findings(REWARDS, curves)
    assert found.severity == "good"
    four = stored_method({"type": "reinforcement", "reinforcement": EVAL_OF_FOUR})
    [found] = findings(four, curves)
    assert (found.severity, "its noise is not known" in found.text) == ("unclear", True)


@cases("formula", ["j", "e + j", "e"])
def test_a_judge_of_groups_in_the_reward_leaves_a_gain_unclear(formula: str) -> None:
    exact = {"type": "exact_match", "reference": "{{item.a}}"}
    judge = {"type": "ai_judge", "model": "judge"}
    grader = {"type": "multi", "graders": {"e": exact, "j": judge}, "calculate_output": formula}
    method = stored_method({"type": "reinforcement", "reinforcement": {"grader": grader}})
    curves = {**TRAINED, **validations(0.2, 0.9, std=0.1, rollouts=64.0)}
    [found] = findings(method, curves, paired_gain({}, {}))
    judged = "method.reinforcement.grader.graders.j judged base and tuned model" in found.text
    assert (found.severity, judged) == (("good", False) if formula == "e" else ("unclear", True))
    if judged:
        assert found.text.startswith("The validations do not show the gain: ")
    alone = stored_method({"type": "reinforcement", "reinforcement": {"grader": judge}})
    [found] = findings(alone, curves)
    assert (found.severity, "method.reinforcement.grader judged" in found.text) == ("unclear", True)
