"""Texts that grow when they are normalised."""

import pytest

from app.domain.graders.kinds.exact_match import ExactMatchGrader
from app.grading.exact_match import MAX_NORMALISED, ExactMatchScorer

LIGATURE = "\ufdfa"
"""One character that NFKC makes eighteen of."""


@pytest.mark.parametrize(
    ("form", "text", "reward"),
    [
        ("NFKC", LIGATURE * (MAX_NORMALISED // 18), 1.0),
        ("NFKC", LIGATURE * (MAX_NORMALISED // 18 + 1), 0.0),
        ("NFC", LIGATURE * (MAX_NORMALISED // 18 + 1), 1.0),
        ("none", LIGATURE * (MAX_NORMALISED // 18 + 1), 1.0),
        ("NFKC", "a" * (MAX_NORMALISED + 1), 1.0),
    ],
)
def test_a_text_that_becomes_too_long_is_no_match(form: str, text: str, reward: float) -> None:
    spec = ExactMatchGrader.model_validate(
        {"type": "exact_match", "reference": "{{ item.a }}", "unicode": form}
    )
    result = ExactMatchScorer(spec, source="g").compute([text, text])
    assert result.score == reward
    assert (result.errors.sample_parse_error is True) == (reward == 0.0)
