from app.evals.evals import (
    Eval,
    ResultCounts,
    Tally,
    eval_of_job,
    passes_criterion,
    result_names,
    step_of,
    token_usage,
    validation_run_id,
)
from tests.support.cases import cases


def test_a_jobs_runs_have_ids_that_lead_back_to_their_step() -> None:
    run_id = validation_run_id("ftjob-aB3", 40)
    assert run_id == "evalrun_aB3_40"
    assert step_of(run_id, "ftjob-aB3") == 40
    for other in ("evalrun_aB3", "evalrun_aB3_", "evalrun_aB3_04", "evalrun_aB3_-1", "evalrun_b_4"):
        assert step_of(other, "ftjob-aB3") is None
    assert step_of("evalrun_aB3_" + "9" * 30, "ftjob-aB3") is None
    assert step_of("evalrun_aB3_\u0664", "ftjob-aB3") is None


@cases(
    ("criterion", "score", "passed"),
    [
        ({"type": "endpoint", "pass_threshold": 0.75}, 0.75, True),
        ({"type": "endpoint", "pass_threshold": 0.75}, 0.74, False),
        ({"type": "endpoint", "pass_threshold": 0}, 0.0, True),
        ({"type": "endpoint"}, 0.0, False),
        ({"type": "multi", "pass_threshold": None}, 0.01, True),
        ({"type": "string_check"}, 1.0, True),
        ({"type": "string_check"}, 0.0, False),
    ],
)
def test_what_passes(criterion: dict[str, object], score: float, passed: bool) -> None:
    assert passes_criterion(score, criterion) is passed


def test_names_of_results_keep_namesakes_apart_and_stay_the_same() -> None:
    of = Eval(
        id="eval_1",
        name="e",
        data_source_config={},
        testing_criteria=[{"name": "g"}, {"name": "g"}],
    )
    first, second = result_names(of)
    assert first != second
    assert first.startswith("g-")
    assert result_names(of) == [first, second]
    assert result_names(eval_of_job("ftjob-1", {"type": "endpoint"}))[0].startswith("endpoint-")


def test_a_tally_adds_up_outcomes_criteria_and_tokens() -> None:
    tally = Tally(["a", "b"])
    good, bad = {"name": "a", "passed": True}, {"name": "b", "passed": False}
    tally.add("pass", [good], [("m", token_usage(3, 1))])
    tally.add("fail", [good, bad], [("m", token_usage(3, 2, 1)), ("judge", token_usage(9, 9))])
    tally.add("error", [], [])
    assert tally.counts == ResultCounts(total=3, errored=1, failed=1, passed=1)
    assert tally.criteria == [
        {"testing_criteria": "a", "passed": 2, "failed": 0},
        {"testing_criteria": "b", "passed": 0, "failed": 1},
    ]
    assert tally.usage[0] == {"model_name": "m", "invocation_count": 2, **token_usage(6, 3, 1)}
    assert tally.usage[1]["total_tokens"] == 18
