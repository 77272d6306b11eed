"""Texts that grow when they are normalised."""

import pytest

from app.graders.kinds.text_checks import MAX_NORMALISED, ExactMatchGrader
from app.graders.scorer import ScoreFault
from app.graders.templates import Unrenderable
from tests.support.cases import cases

LIGATURE = "\ufdfa"
"""One character that NFKC makes eighteen of."""


@cases(
    ("form", "text", "reward"),
    [
        ("NFKC", LIGATURE * (MAX_NORMALISED // 18), 1.0),
        ("NFKC", LIGATURE * (MAX_NORMALISED // 18 + 1), 0.0),
        ("none", LIGATURE * (MAX_NORMALISED // 18 + 1), 1.0),
    ],
)
def test_a_text_that_becomes_too_long_is_no_match(form: str, text: str, reward: float) -> None:
    answer = _grader(form, "{{ sample.output_text }}")
    if reward:
        assert answer.compute([text, text], source="g").score == reward
        return
    with pytest.raises(Unrenderable) as caught:
        answer.compute([text, text], source="g")
    result = caught.value.result
    assert (result.score, result.errors.sample_parse_error) == (0.0, True)
    with pytest.raises(ScoreFault, match="the row cannot be graded"):
        _grader(form, "{{ item.a }}").compute(["an answer", text], source="g")


def _grader(form: str, reference: str) -> ExactMatchGrader:
    sent = {"type": "exact_match", "reference": reference, "unicode": form}
    return ExactMatchGrader.model_validate(sent)
