"""Expected values by hand, from each metric's definition, or from a second library."""

import asyncio
import random
import sys
from typing import Any

import pytest

from app.graders.kinds.text_similarity import (
    MAX_COMPARED,
    MAX_FUZZY,
    MAX_PRODUCT,
    TextSimilarityGrader,
    similarity,
)
from app.graders.scorer import GradeRequest, ScoreFault, ScoreResult
from tests.support.cases import cases
from tests.support.grading.scores import ports_of


def score(metric: str, text: str, **item: Any) -> ScoreResult:
    spec = TextSimilarityGrader.model_validate(
        {
            "type": "text_similarity",
            "input": "{{ sample.output_text }}",
            "reference": "{{ item.answer }}",
            "evaluation_metric": metric,
        }
    )
    request = GradeRequest({"output_text": text}, item, "trace_1", "grade_1")
    return asyncio.run(spec.scorer(ports_of(), source="near").score(request))


@cases(
    ("metric", "text", "reference", "expected"),
    [
        # Indel: the longest common subsequence of 4 + 4 characters is 3 long.
        ("fuzzy_match", "abcd", "abce", 2 * 3 / 8),
        ("fuzzy_match", "abc", "ABC", 0.0),
        ("fuzzy_match", "", "", 1.0),
        # p1 = 3/3, p2 = 2/2, p3 = 1/1, and no 4-gram; brevity exp(1 - 4/3).
        ("bleu", "the cat sat", "the cat sat on", 0.7165313),
        # p1 = 3/4, p2 = 1/3, then 1/2 of 1/2 and 1/4 of 1/1 by smoothing.
        ("bleu", "a b c d", "a b x d", (3 / 4 * 1 / 3 * 1 / 4 * 1 / 4) ** 0.25),
        ("bleu", "Ulm", "Ulm", 1.0),
        ("bleu", "", "a", 0.0),
        # 6 of the reference's 10 n-grams (n = 1 … 4), 6 of the text's 6.
        ("gleu", "the cat sat", "the cat sat on", 0.6),
        ("gleu", "x", "", 0.0),
        # All three words match (cats by its stem) in one chunk: 1 - 0.5 * (1/3)^3.
        ("meteor", "the cats sat", "the cat sat", 1 - 0.5 / 27),
        # Two of three words match, in two chunks: F = 10PR/(R+9P) = 2/3, penalty 0.5 * (2/2)^3.
        ("meteor", "the dog sat", "the cat sat", 2 / 3 * 0.5),
        ("meteor", "car", "automobile", 0.0),
        # Two common words: P = 2/3, R = 2/4.
        ("rouge_1", "the cat sat", "The dog sat down.", 4 / 7),
        ("rouge_2", "the cat sat", "the cat ran", 0.5),
        ("rouge_3", "a b c d", "a b c e", 0.5),
        ("rouge_4", "a b c d e", "a b c d f", 0.5),
        ("rouge_5", "a b c d e", "a b c d e", 1.0),
        ("rouge_l", "the cat sat", "the dog sat down", 4 / 7),
        ("rouge_l", "...", "a", 0.0),
        ("rouge_l", "東京です", "東京だ", 4 / 7),
        ("rouge_1", "हिन्दी भाषा", "हिन्दी", 2 / 3),
        ("rouge_1", "Caf\u00e9", "cafe\u0301", 1.0),
    ],
)
def test_values(metric: str, text: str, reference: str, expected: float) -> None:
    assert score(metric, text, answer=reference).score == pytest.approx(expected, abs=1e-6)


@cases("metric", ["fuzzy_match", "bleu", "gleu", "meteor", "rouge_5", "rouge_l"])
def test_the_longest_texts_take_seconds_not_minutes(metric: str) -> None:
    """Work that grows with the square of a text would run into the limit of one test."""
    longest = MAX_FUZZY if metric == "fuzzy_match" else MAX_COMPARED
    text = "ab " * (longest // 3)
    reference = "cd ba ab " * (longest // 9)
    assert 0 <= score(metric, text, answer=reference).score < 1


def test_longer_ones_are_not_compared() -> None:
    result = score("fuzzy_match", "x" * (MAX_COMPARED + 1), answer="x")
    assert (result.score, result.errors.raised) == (0.0, ("other_error",))


@cases(("metric", "longest"), [("fuzzy_match", MAX_FUZZY), ("bleu", MAX_COMPARED)])
def test_a_reference_that_is_too_long_is_the_row_s_fault_and_no_0(
    metric: str, longest: int
) -> None:
    with pytest.raises(ScoreFault) as caught:
        score(metric, "x", answer="x" * (longest + 1))
    assert (caught.value.kind, caught.value.message) == (
        "item_unreadable",
        f"the row cannot be graded: a text is longer than {longest} characters",
    )


def test_texts_whose_comparison_takes_too_long_are_not_compared() -> None:
    result = score("fuzzy_match", "x" * (MAX_FUZZY + 2), answer="x" * MAX_FUZZY)
    assert (result.score, result.errors.raised) == (0.0, ("other_error",))
    assert result.errors.details == f"the texts' lengths have a product above {MAX_PRODUCT}"
    # One of two texts may be long.
    assert score("fuzzy_match", "x" * MAX_COMPARED, answer="x").errors.raised == ()


@cases("metric", ["fuzzy_match", "rouge_l"])
async def test_long_texts_leave_the_event_loop_free(metric: str) -> None:
    chooser = random.Random(1)
    text, reference = ("".join(chooser.choices("abcdef ", k=MAX_COMPARED)) for _ in range(2))
    similarity(metric, text[:100], reference[:100])  # slow imports
    turns = 0

    def counted() -> tuple[float, int]:
        """Returns the score and the turns of the event loop while it was computed."""
        before = turns
        found = similarity(metric, text, reference)
        return found, turns - before

    # Threads change places often, so that the turns do not depend on the speed of either.
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    try:
        work = asyncio.ensure_future(asyncio.to_thread(counted))
        while not work.done():
            turns += 1
            await asyncio.sleep(0)
        found, during = await work
    finally:
        sys.setswitchinterval(interval)
    assert 0 <= found < 1
    assert during > 50, "a score computed under the interpreter's lock leaves no turn"
