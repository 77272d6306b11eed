"""Warnings of parts of a reinforcement job that cannot change or measure anything."""

import pytest

from app.jobs.ineffective_options import paths_of_judges, without_effect
from app.jobs.reinforcement import ReinforcementMethod
from app.kit.walk import walk_fields

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


def test_the_schema_of_a_jobs_own_tool_is_not_offered_to_the_model() -> None:
    described = {"description": "Finds a town.", "parameters": {"type": "object"}}
    tools = [
        {"name": "a", "server_url": "https://a.example/"},
        {"name": "b", "server_url": "https://a.example/", **described},
        {"name": "c", "server_url": "https://a.example/", "id": "tool_1", **described},
        {"name": "d", "server_url": "https://a.example/", "server_label": "m", **described},
    ]
    method = ReinforcementMethod.model_validate({"grader": EXACT, "tools": tools})
    walked = list(walk_fields(ReinforcementMethod, method))
    found = list(without_effect(method, "m", walked))
    assert [(one.code, one.param) for one in found] == [
        ("unused_option", "m.tools[1].description"),
        ("unused_option", "m.tools[1].parameters"),
    ]
    assert "'tools[].function.parameters' in the training file" in found[1].message
