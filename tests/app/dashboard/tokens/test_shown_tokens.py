"""Each token has a class by its value and something to see; the table has the extreme ones."""

import math

from app.pages.transcripts import shown_tokens, visible
from app.rollouts.trajectory import RecordedTurn, TokenRecord
from tests.support.cases import cases


def record(*values: tuple[float | None, float | None], omitted: int = 0) -> TokenRecord:
    """Returns a turn of tokens with these probabilities and ratios."""
    log_probs = [None if p is None else math.log(p) for p, _ in values]
    turn = RecordedTurn(["x"] * len(values), log_probs, [ratio for _, ratio in values])
    return TokenRecord([turn], omitted)


@cases(
    ("probability", "shade"),
    [
        (1.0, "p1"), (0.991, "p1"), (0.95, "p2"), (0.8, "p3"), (0.5, "p4"),
        (0.3, "p5"), (0.1, "p6"), (0.02, "p7"), (0.001, "p8"), (None, "blank"),
    ],
)  # fmt: skip
def test_probabilities_have_eight_classes(probability: float | None, shade: str) -> None:
    shown = shown_tokens(record((probability, None)), "log_prob")
    assert [token.shade for turn in shown.turns for token in turn.tokens] == [shade]


@cases(
    ("ratio", "shade"),
    [
        (0.0, "r1"), (0.49, "r1"), (0.5, "r2"), (0.8, "r3"), (0.95, "r4"), (1.0, "r4"),
        (1.05, "r5"), (1.3, "r6"), (2.0, "r7"), (99.0, "r7"), (None, "blank"),
    ],
)  # fmt: skip
def test_ratios_have_seven_classes_and_one_for_untrained_tokens(
    ratio: float | None, shade: str
) -> None:
    shown = shown_tokens(record((0.5, ratio)), "ratio")
    assert [token.shade for turn in shown.turns for token in turn.tokens] == [shade]


def test_the_table_has_the_least_likely_tokens_or_the_farthest_ratios() -> None:
    values = [(0.9, 1.0), (0.01, 1.5), (0.2, None), (0.5, 0.5), (None, 1.1)]
    by_log_prob = shown_tokens(record(*values), "log_prob").listed
    assert [token.position for token in by_log_prob] == [2, 3, 4, 1]
    by_ratio = shown_tokens(record(*values), "ratio").listed
    assert [token.position for token in by_ratio] == [4, 2, 5, 1]
    many = shown_tokens(record(*([(0.5, 1.0)] * 30)), "log_prob").listed
    assert [token.position for token in many] == list(range(1, 21))


def test_tokens_beyond_the_pages_limit_are_counted() -> None:
    turn = RecordedTurn(["x"] * 3000, [-0.5] * 3000, [None] * 3000)
    shown = shown_tokens(TokenRecord([turn] * 3, 5), "log_prob")
    assert [len(one.tokens) for one in shown.turns] == [3000, 1096]
    assert (shown.tokens, shown.left_out) == (4096, 9005 - 4096)


@cases(
    ("text", "expected"),
    [
        ("", "∅"), (" ", "·"), ("  ", "··"), (" a b", " a b"), ("\n", "↵\n"), ("\n\n ", "↵\n↵\n·"),
        ("\t", "→\t"), ("\r", "␍"), ("\u200d", "⟨U+200D⟩"), ("\u202e", "⟨U+202E⟩"),
        ("\x07", "⟨U+0007⟩"), ("é\u0301", "é\u0301"), ("<b>", "<b>"),
    ],
)  # fmt: skip
def test_every_token_has_something_to_see(text: str, expected: str) -> None:
    assert visible(text) == expected
