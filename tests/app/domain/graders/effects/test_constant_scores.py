"""Formulas whose value is the same for every score of their parts."""

from typing import Any

import pytest

from app.graders.definitions import read_grader
from app.graders.effects import constant_score

EXACT = {"type": "exact_match", "reference": "{{item.a}}"}
SCORE: dict[str, Any] = {
    "type": "score_model",
    "model": "judge",
    "input": [{"role": "user", "content": "{{sample.output_text}}"}],
    "range": [0, 10],
}


@pytest.mark.parametrize(
    ("formula", "options", "value"),
    [
        ("0 * a", {}, "0"),
        ("a - a + 2", {}, "2"),
        ("min(a, 0) + 0 * b", {}, "0"),
        ("max(a, 1) ^ 0", {}, "1"),
        ("max(b, 10)", {}, "10"),
        ("sqrt(0 - 1 - a)", {"invalid_grade": 0.5}, "0.5"),
        ("a", {}, None),
        ("a * (1 - a)", {}, None),
        ("floor(a * b / 10)", {}, None),
        ("max(0, a + b - 10.9)", {}, None),
        ("max(0, a - b - 0.9)", {}, None),
        ("max(b, 9.9)", {}, None),
        ("1 / a", {}, None),
        ("log(a)", {"invalid_grade": -1.0}, None),
        ("sqrt(0 - 1 - a)", {}, None),  # it has no value at all, which is another fault
    ],
)
def test_a_formula_is_constant_if_no_score_changes_it(
    formula: str, options: dict[str, float], value: str | None
) -> None:
    grader = {
        "type": "multi",
        "graders": {"a": EXACT, "b": SCORE},
        "calculate_output": formula,
        **options,
    }
    why = None if value is None else f"its formula is {value} for every score"
    assert constant_score(read_grader(grader)) == why
