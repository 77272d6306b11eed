"""Warnings of parts of a reinforcement job that cannot change or measure anything."""

import pytest

from app.domain.documents.walk import walk_fields
from app.domain.methods.ineffective_options import paths_of_judges, without_effect
from app.domain.methods.reinforcement import ReinforcementMethod

EXACT = {"type": "exact_match", "reference": "{{item.a}}"}
JUDGE = {"type": "ai_judge", "model": "judge"}
JUDGE_PATH = "method.reinforcement.grader.graders.j"


@pytest.mark.parametrize(
    ("formula", "warned"),
    [
        ("e", {("unused_grader", JUDGE_PATH)}),
        ("e + j", {("judge_of_one", JUDGE_PATH), ("judged_apart", JUDGE_PATH)}),
    ],
)
def test_a_judge_that_the_formula_leaves_out_judges_nothing_apart(
    formula: str, warned: set[tuple[str, str]]
) -> None:
    grader = {"type": "multi", "graders": {"e": EXACT, "j": JUDGE}, "calculate_output": formula}
    method = ReinforcementMethod.model_validate({"grader": grader})
    root = "method.reinforcement"
    walked = list(walk_fields(ReinforcementMethod, method))
    assert {(one.code, one.param) for one in without_effect(method, root, walked)} == warned
    assert paths_of_judges(method.grader, root) == ([JUDGE_PATH] if formula == "e + j" else [])
