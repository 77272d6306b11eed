import math
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.graders.kinds.multi import MAX_LENGTH, FormulaError, parse_formula
from tests.support.cases import cases

VALUES = {"a": 0.5, "b": -2.0, "long_name_1": 3.0, "min": 7.0}


@cases(
    ("text", "expected"),
    [
        (" 1 + 2 * 3 ", 7.0),
        ("(1 + 2) * 3", 9.0),
        ("10 - 3 - 2", 5.0),
        ("16 / 4 / 2", 2.0),
        ("2 ^ 3 ^ 2", 512.0),
        ("-2 ^ 2", -4.0),
        ("2 ^ -1", 0.5),
        ("--3", 3.0),
        ("+a", 0.5),
        ("min(a, b, 3)", -2.0),
        ("max(a)", 0.5),
        ("min + min(min, 1)", 8.0),
        ("abs(b) + floor(2.7) + ceil(2.1)", 7.0),
        ("exp(0) + log(exp(2)) + sqrt(9)", 6.0),
        ("floor(-0.5)", -1.0),
    ],
)
def test_values(text: str, expected: float) -> None:
    assert parse_formula(text).evaluate(VALUES) == pytest.approx(expected)


def test_a_grader_may_be_called_as_a_word_of_python() -> None:
    formula = parse_formula("max(pass, True) * is - None + 1.e1")
    assert formula.evaluate({"pass": 2.0, "True": 3.0, "is": 4.0, "None": 5.0}) == 17.0


def test_names_are_those_that_need_a_value() -> None:
    assert parse_formula("max(a, b) + a * exp(c) + min").names == {"a", "b", "c", "min"}


@cases(
    ("text", "part"),
    [
        ("a +", "cannot be read"),
        ("(a", "'(' was never closed"),
        ("a ** 2", "'** 2' at character 3"),
        ("a.b", "'.b' at character 2"),
        ("__import__('os')", "at character 12 is not understood"),
        ("2a", "'2a' at character 1"),
        ("(1, a)", "alone"),
        ("a if a else a", "cannot be read"),
        ("pow(a, 2)", "no function 'pow'"),
        ("sqrt(a, b)", "takes one argument"),
        ("min()", "min takes some"),
        ("\uff41 + 1", "at character 1 is not understood"),
        ("1" * (MAX_LENGTH + 1), "longer than"),
        ("(" * 900 + "1" + ")" * 900, "too many nested parentheses"),
        ("min(1, 1e999)", "too large"),
    ],
)
def test_an_invalid_formula_is_refused_with_the_reason(text: str, part: str) -> None:
    with pytest.raises(FormulaError) as caught:
        parse_formula(text)
    assert part in str(caught.value)


@cases(
    "text",
    [
        *("1 / 0", "1 / (a - 0.5)", "log(0)", "log(b)", "sqrt(b)", "b ^ 0.5", "0 ^ -1"),
        *("exp(1000)", "10 ^ 400", "1e308 * 10", "1e308 * 10 * 0"),
        *("min(1, 1e308 * 10)", "max(0, 1e308 * 10 - 1e308 * 10)", "max(-1e308 * 10, 1)"),
        "unknown + 1",
    ],
)
def test_without_a_finite_value(text: str) -> None:
    formula = parse_formula(text)
    with pytest.raises(FormulaError):
        formula.evaluate(VALUES)


def test_a_long_sum_is_no_deep_one() -> None:
    terms = (MAX_LENGTH - 1) // 2
    assert parse_formula("1" + "+1" * terms).evaluate({}) == terms + 1


NUMBERS = st.floats(0, 100, allow_nan=False).map(lambda value: f"{value:.4f}")
EXPRESSIONS = st.recursive(
    NUMBERS | st.sampled_from(["a", "b"]),
    lambda inner: (
        st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})")
        | st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda t: f"{t[0]}{t[1]}{t[2]}")
        | inner.map(lambda t: f"-{t}")
        | inner.map(lambda t: f"abs({t})")
        | st.tuples(st.sampled_from(["min", "max"]), inner, inner).map(
            lambda t: f"{t[0]}({t[1]}, {t[2]})"
        )
    ),
    max_leaves=12,
)


@cases(
    ("text", "fault"),
    [
        ("a / 0", "division by zero"),
        ("min(a, 1 / 0)", "division by zero"),
        ("log(0 - 1) + a", "the formula has no finite value (math domain error)"),
        ("1 / (a - a)", "division by zero"),
        ("log(a - 100)", None),
        ("1 / (a - b)", None),
        ("log(0 - a)", None),
    ],
)
def test_a_formula_that_has_no_value_for_any_scores_is_known_before(
    text: str, fault: str | None
) -> None:
    assert parse_formula(text).fault() == fault


@given(EXPRESSIONS)
def test_it_agrees_with_python(text: str) -> None:
    names = {"a": 0.75, "b": -3.0, "abs": abs, "min": min, "max": max}
    try:
        expected = float(eval(text, {"__builtins__": {}}, names))  # noqa: S307 - our own text
    except ZeroDivisionError:
        expected = math.nan
    try:
        value = parse_formula(text).evaluate({"a": 0.75, "b": -3.0})
    except FormulaError:
        assert not math.isfinite(expected)
    else:
        assert value == expected


@given(
    st.text(max_size=60)
    | st.text(alphabet="ab+-*/^().,0123456789eE minaxlogsqrt", max_size=60)
    | st.text(alphabet=string.printable, max_size=200),
    st.dictionaries(st.sampled_from(["a", "b"]), st.floats(allow_nan=True)),
)
def test_garbage_raises_nothing_but_the_one_error(text: str, values: dict[str, float]) -> None:
    try:
        result = parse_formula(text).evaluate(values)
    except FormulaError:
        return
    assert math.isfinite(result)
