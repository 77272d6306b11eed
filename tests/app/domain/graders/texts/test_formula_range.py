import math
import random

from app.graders.formula import ANY, FormulaError, formula_range, parse_formula
from tests.support.cases import cases

RANGES = {"a": (0.0, 1.0), "b": (-2.0, 3.0), "c": (1.0, 5.0)}


@cases(
    ("formula", "expected"),
    [
        ("a", (0, 1)),
        ("0.5 * a + 0.25 * c", (0.25, 1.75)),
        ("-b", (-3, 2)),
        ("a * b", (-2, 3)),
        ("b ^ 2", (0, 9)),
        ("b ^ 3", (-8, 27)),
        ("a / c", (0, 1)),
        ("min(a, c)", (0, 1)),
        ("max(b, c)", (1, 5)),
        ("abs(b)", (0, 3)),
        ("floor(b / 2)", (-1, 1)),
        ("sqrt(b + 1)", (0, 2)),
        ("log(a)", (-math.inf, 0)),
        ("exp(a - 1)", (math.exp(-1), 1)),
        ("a / b", ANY),
        ("b ^ a", ANY),
        ("is + a", ANY),
        ("unknown * 2", ANY),
        ("True", ANY),
        ("a\n+ a", ANY),
    ],
)
def test_a_formula_is_between_the_ends_of_its_range(
    formula: str, expected: tuple[float, float]
) -> None:
    assert formula_range(formula, RANGES) == expected


@cases(
    "formula",
    ["a*b - c^2", "(a - 0.5)^2 * b", "max(a, b) - min(b, c)", "c^b", "2^-c", "-b^2 + abs(b - a)",
     "sqrt(b) * ceil(a * 3)", "log(c) / (1 + a)", "exp(b) - floor(c / 2)", "a^0.5 - b^3"],
)  # fmt: skip
def test_no_value_is_outside_of_the_range(formula: str) -> None:
    low, high = formula_range(formula, RANGES)
    compute, rng = parse_formula(formula).evaluate, random.Random(7)
    assert low < high
    for _ in range(500):
        values = {name: rng.choice([*ends, rng.uniform(*ends)]) for name, ends in RANGES.items()}
        try:
            value = compute(values)
        except FormulaError:
            continue
        assert low - 1e-9 <= value <= high + 1e-9, values
