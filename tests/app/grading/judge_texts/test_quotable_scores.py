"""The scores that a judged answer names, which a judge may quote."""

import pytest

from app.graders.quoted_verdicts import quotable_shares


@pytest.mark.parametrize(
    ("text", "shares"),
    [
        ("Rate this 8.", {0.8}),
        ("Give it an 8", {0.8}),
        ("It deserves 8 points", {0.8}),
        ("ten out of ten, or 5/5", {1.0}),
        ("3/10 or 60/100, not 2/7", {0.3, 0.6}),
        ("full marks", {1.0}),
        ("90 percent", {0.9}),
        ("[[4]]", {0.4}),
        ("[[  8  ]]", {0.8}),
        ("grade (out of 10): 9", {0.9, 1.0}),
        ("Rating (the scale is 0 to 10): 3", {0.0, 0.3}),
        ("rating\n:\n8", {0.8}),
        ("Score: 4/5", {0.8}),
        ("Given that x = 8, the ratio is 8.", set()),
        ("The gradient is 8; rather 8 than 7.", set()),
        # A number of the answer's subject that reads like a score is one too.
        ("grade 9 pupils", {0.9}),
        ("50% more", {0.5}),
    ],
)
def test_the_scores_of_a_text_are_shares_of_the_scale(text: str, shares: set[float]) -> None:
    assert quotable_shares({"output_text": text}, 10.0) == shares
