"""Texts that are no number cost time proportional to their length."""

import re

from app.graders import answer_words as numerals
from tests.support.cases import cases
from tests.support.costs.regex_steps import RegexSearch

WHOLE = re.compile(rf"(?:{numerals._WHOLE.pattern})\Z", re.ASCII)
UNITS = (
    *("^1_1", "^1", "_1", "1_1", ",1", "/1", ":1"),
    *("^{1", "\u00b2", " 1", "1 ", ".1", "1'", "1,000"),
)


@cases("beginning", ["1", "1^", "-1", "$1", "1 1/"])
@cases("unit", UNITS)
def test_the_steps_of_a_text_that_is_no_number_grow_with_its_length(
    unit: str, beginning: str
) -> None:
    short, long = (
        max(RegexSearch(WHOLE, f"{beginning}{unit * count}!").run(anchored=True).steps, 1)
        for count in (8, 24)
    )
    assert long / short < 4.5
    assert numerals.number_of(f"{beginning}{unit * 24}!") is None


def test_a_very_long_text_is_no_number() -> None:
    assert numerals.number_of("1" * 10_000) is not None
    assert numerals.number_of("1" * 10_001) is None
