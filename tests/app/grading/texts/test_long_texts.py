"""Long texts are searched in pieces, with the matches of one search."""

import random
import re
from collections.abc import Iterator
from re import _parser  # type: ignore[attr-defined]  # the only measure of a pattern
from typing import cast

from app.graders import answer_words as thinking
from app.graders import coded_verdicts
from app.graders import judge_answers as coded_lists
from app.graders import number_words as score_patterns
from app.graders import quoted_verdicts as quotable_scores
from app.graders import quoted_verdicts as quotable_verdicts
from app.graders.answer_words import THINKING_MARK
from app.graders.number_words import LABEL, SHARE
from app.graders.texts import matches_in, replaced_in
from tests.support.cases import cases

WORDS = (
    *(
        "8/10",
        "score: 3",
        "ten out of ten",
        "[[4]]",
        "full marks",
        "</think>",
        "<think>",
        "`",
        "\n",
    ),
    *("and", "x" * 40, "award", "100 percent", "{result: 1}", " ", "so rating = 7/9.", "5", "'"),
)
PATTERNS = {
    "share": SHARE,
    "label": LABEL,
    "thinking": THINKING_MARK,
    "ratio": quotable_scores._RATIO,
    "value": quotable_scores._VALUE,
}


def places(found: Iterator[re.Match[str]]) -> list[tuple[int, int, str]]:
    return [(*each.span(), each[0]) for each in found]


@cases("pattern", PATTERNS.values(), ids=PATTERNS)
@cases("seed", range(3))
def test_the_matches_are_those_of_one_search(pattern: re.Pattern[str], seed: int) -> None:
    draw = random.Random(seed)
    text = " ".join(draw.choices(WORDS, k=9_000))
    whole = places(pattern.finditer(text))
    assert len(whole) > 50
    assert places(matches_in(pattern, text)) == whole


@cases("before", range(16_374, 16_394))
def test_a_match_across_two_pieces_is_found_once(before: int) -> None:
    text = f"{'-' * before}8/10{'-' * 20_000}8/10"
    found = list(matches_in(re.compile(r"\d+/\d+"), text))
    assert [each.start() for each in found] == [before, before + 20_004]


def test_no_search_reads_more_than_a_piece() -> None:
    """A search keeps the interpreter lock until its next match."""
    read = list[tuple[int, int]]()

    class Recorded:
        def finditer(self, _: str, at: int, end: int) -> Iterator[re.Match[str]]:
            read.append((at, end))
            return iter(())

    assert not list(matches_in(cast("re.Pattern[str]", Recorded()), "x" * 100_000))
    assert max(end - at for at, end in read) == 16_384 + 1_024
    assert [at for at, _ in read] == list(range(0, 100_000, 16_384))


def test_every_pattern_has_a_longest_match() -> None:
    """One that is longer than the margin of a piece would be lost at its end."""
    modules = (
        coded_lists,
        coded_verdicts,
        quotable_scores,
        quotable_verdicts,
        score_patterns,
        thinking,
    )
    patterns = {
        name: value
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, re.Pattern) and name not in {"_BLANKS", "BEFORE", "NAMED"}
    }
    assert patterns.keys() >= {"BRACKETS", "LABEL", "SHARE", "THINKING_MARK", "_PLACES", "_VALUE"}
    widths = {
        name: _parser.parse(each.pattern, each.flags).getwidth()[1]
        for name, each in patterns.items()
    }
    assert {name: width for name, width in widths.items() if width > 512 and name != "BOUNDS"} == {}


def test_replacements_are_those_of_each_piece() -> None:
    text = f"{'a' * 16_380}{' ' * 8}b{' ' * 20}c"
    assert replaced_in(re.compile(r" {2,}"), " ", text) == f"{'a' * 16_380} b c"
    long = f"{'a' * 16_380}{' ' * 2_000}b"
    assert len(replaced_in(re.compile(r" {2,}"), " ", long)) < 16_390
