"""Texts that are no number cost time proportional to their length."""

from app.graders.answer_numbers import NUMBER, number_of
from tests.support.cases import cases
from tests.support.costs.regex_steps import RegexSearch

UNITS = ("^1_1", "_1", ",1", "/1", "^{1", "\u00b2", " 1", ".1")


@cases("beginning", ["1", "1 1/"])
@cases("unit", UNITS)
def test_the_steps_of_a_text_that_is_no_number_grow_with_its_length(
    unit: str, beginning: str
) -> None:
    short, long = (
        max(RegexSearch(NUMBER, f"{beginning}{unit * count}!").run(anchored=False).steps, 1)
        for count in (8, 24)
    )
    assert long / short < 4.5
    assert number_of(f"{beginning}{unit * 24}!") is None


def test_a_very_long_text_is_no_number() -> None:
    assert number_of("1" * 10_000) is not None
    assert number_of("1" * 10_001) is None
