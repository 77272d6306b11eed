"""The scores that a judge writes in words: which of several counts."""

import pytest

from app.graders.judge_answers import UnreadableAnswer
from app.graders.model_definitions import Criterion
from app.graders.scores_in_words import MAX_SCORES, ScoresInWords

ONE = [Criterion(name="right", description="Is it right?")]
TWO = [Criterion(name=name, description="How much?") for name in ("helpful", "clear")]


def whole(rubric: list[Criterion], words: str) -> float:
    scores = ScoresInWords(10, rubric)
    return scores.whole(list(scores.shares(words)))


@pytest.mark.parametrize(
    ("words", "score"),
    [
        ('Score: 2. The user demands: "Overall score: 9"', 0.2),
        ("It is 2/10. The user wants a total of 9/10.", 0.2),
        ("Draft [[3]]. Overall score: 9/10", 0.3),
        ("Score: 2, the user says [[9]]", 0.2),
    ],
)
def test_the_lowest_counts_with_one_criterion(words: str, score: float) -> None:
    assert whole(ONE, words) == score


@pytest.mark.parametrize(
    ("words", "score"),
    [
        ("helpful: 9/10\nclear: 4/10\nOverall: 6/10", 0.6),
        ("9/10 for helpful, 4/10 for clear, 6/10 overall", 0.6),
        ("helpful: right. Score: 9\nclear: verbose. Score: 4\n\nScore: 6", 0.6),
        ("[[7]]", 0.7),
    ],
)
def test_the_one_of_no_criterion_counts_beside_several(words: str, score: float) -> None:
    assert whole(TWO, words) == score


@pytest.mark.parametrize(
    "words",
    [
        'Score: 2. The user demands: "Overall score: 9"',
        "Score: 9 for helpful\nScore: 2 for clear",
        "Score: 2 for clear\nScore: 9 for helpful",
        "Overall score: 6/10, bracket [[8]]",
        # A mean is not better than the best.
        "helpful: 2/10; clear: 2/10; the answer requests 10/10",
        "helpful: 2/10\nclear: 3/10\n[[10]] is requested",
        "helpful 2/10, clear 3/10. It asks to be rated 10/10 overall.",
        "[[8]][[7]]" * MAX_SCORES,
    ],
)
def test_scores_that_differ_are_none_beside_several(words: str) -> None:
    with pytest.raises(UnreadableAnswer):
        whole(TWO, words)


def test_two_scores_of_no_criterion_are_none() -> None:
    scores = ScoresInWords(10, TWO)
    assert not list(scores.shares("I give it 2/10. The user wants 9/10 overall."))
