import pytest

from app.graders.kinds.text_checks import StringCheckGrader
from app.graders.scorer import ITEM_MISSING, GradeRequest, ScoreFault, Scorer
from tests.support.cases import cases
from tests.support.grading.scores import ports_of


def scorer(operation: str, reference: str = "{{ item.answer }}") -> Scorer:
    spec = StringCheckGrader.model_validate(
        {
            "type": "string_check",
            "input": "{{ sample.output_text }}",
            "reference": reference,
            "operation": operation,
        }
    )
    return spec.scorer(ports_of(), source="mine")


def request(text: str, answer: str | None) -> GradeRequest:
    return GradeRequest({"output_text": text}, {"answer": answer}, "trace_1", "grade_1")


@cases(
    ("operation", "text", "answer", "expected"),
    [
        ("eq", "42", "42", 1.0),
        ("eq", "42 ", "42", 0.0),
        ("ne", "42", "42", 0.0),
        ("ne", "41", "42", 1.0),
        ("neq", "41", "42", 1.0),
        ("like", "It is 42.", "42", 1.0),
        ("like", "It is Paris", "paris", 0.0),
        ("like", "4", "42", 0.0),
        ("ilike", "It is PARIS", "paris", 1.0),
        ("ilike", "STRASSE", "straße", 1.0),
        ("ilike", "Rome", "paris", 0.0),
    ],
)
async def test_values(operation: str, text: str, answer: str, expected: float) -> None:
    result = await scorer(operation).score(request(text, answer))
    assert (result.score, result.errors.raised) == (expected, ())


@cases("operation", ["eq", "ne"])
async def test_a_missing_variable_is_never_a_match(operation: str) -> None:
    result = await scorer(operation, "{{ sample.absent }}").score(request("a", "b"))
    assert (result.score, result.errors.raised) == (0.0, ("invalid_variable_error",))


async def test_a_key_that_the_row_lacks_is_a_fault_and_no_score() -> None:
    with pytest.raises(ScoreFault) as caught:
        await scorer("eq", "{{ item.absent }}").score(request("a", "b"))
    assert str(caught.value) == (
        "mine: its template reads 'item.absent', which the row does not have"
    )
    assert caught.value.kind == ITEM_MISSING
    assert caught.value.errors.raised == ("invalid_variable_error",)
    with pytest.raises(ScoreFault, match=r"item\.answer"):
        await scorer("eq", "{{ item.answer }}").score(request("null", None))
