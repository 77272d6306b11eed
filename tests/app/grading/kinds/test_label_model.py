import json
from typing import Any

import pytest
from pydantic import ValidationError

from app.graders.definitions import read_grader
from app.graders.judge import MISSING, JudgeQuestion, JudgeReply
from app.graders.scorer import ScoreFault, TokenUsage
from tests.support.cases import cases
from tests.support.grading.judges import CODED, InMemoryJudges
from tests.support.grading.scores import scored

GRADER: dict[str, Any] = {
    "type": "label_model",
    "model": "judge-1",
    "input": [{"role": "user", "content": "Say if this is polite: {{sample.output_text}}"}],
    "labels": ["polite", "neutral", "rude"],
    "passing_labels": ["polite", "neutral"],
}
SCORES: dict[str, Any] = {
    "type": "score_model",
    "model": "judge-1",
    "input": [{"role": "user", "content": "{{sample.output_text}}"}],
}
USED_BY_BOTH = {"judge-1": TokenUsage(14, 4, 0, calls=2), "judge-2": TokenUsage(7, 2, 0, calls=1)}


NO_LABEL = "the judge's verdict is none of the labels"


def answering(text: str, **more: Any) -> InMemoryJudges:
    return InMemoryJudges(lambda _: JudgeReply(text, **more))


@cases(("label", "score"), [("polite", 1.0), ("neutral", 1.0), ("rude", 0.0)])
async def test_a_passing_label_scores_1(label: str, score: float) -> None:
    said = f"It greets.\n{json.dumps({CODED: label})}"
    judges = answering(said, prompt_tokens=7, completion_tokens=2)
    result = await scored(GRADER, "Hello", judges=judges)
    assert (result.score, result.errors.raised, result.reason) == (score, (), "It greets.")
    assert result.token_usage == {"judge-1": TokenUsage(7, 2, 0, calls=1)}
    (question,) = judges.asked
    assert 'one of "polite", "neutral", "rude"' in question.messages[0]["content"]
    assert question.messages[1]["content"] == "Say if this is polite: Hello"


@cases(("label", "score"), [("Polite", 1.0), (" RUDE ", 0.0), ("Good", 0.0), ("good", 1.0)])
async def test_a_label_counts_in_another_case(label: str, score: float) -> None:
    labels = {"labels": ["polite", "rude", "good", "Good"], "passing_labels": ["polite", "good"]}
    judges = answering(json.dumps({CODED: label}))
    assert (await scored({**GRADER, **labels}, "Hello", judges=judges)).score == score
    assert len(judges.asked) == 1


async def test_labels_count_as_they_are_written() -> None:
    labels = ["good", "good\nbut late", "bad "]
    grader = {**GRADER, "labels": labels, "passing_labels": ["good"]}
    for label, score in zip(labels, (1, 0, 0), strict=True):
        found = await scored(grader, "x", judges=answering(json.dumps({CODED: label})))
        assert found.score == score


async def test_a_label_in_a_case_of_two_labels_is_none() -> None:
    labels = {"labels": ["good", "Good"], "passing_labels": ["good"]}
    with pytest.raises(ScoreFault, match="none of the labels"):
        await scored({**GRADER, **labels}, "Hello", judges=answering('{"KEY": "GOOD"}'))


@pytest.mark.parametrize("text", ['{"KEY": "kind"}', '{"KEY": ["polite"]}', "polite", ""])
async def test_an_answer_without_a_label_is_a_fault_and_no_0(text: str) -> None:
    multi = {"type": "multi", "graders": {"a": GRADER}, "calculate_output": "a", "name": "m"}
    for grader in (GRADER, multi):
        with pytest.raises(ScoreFault) as caught:
            await scored(grader, "Hello", judges=answering(text))
        fault = caught.value
        assert (fault.kind, fault.errors.raised) == ("bad_reply", ("model_grader_parse_error",))
        assert fault.message == (NO_LABEL if text.startswith("{") else MISSING)


async def test_an_answer_without_a_label_is_paid_for() -> None:
    both = {"a": GRADER, "b": {**SCORES, "model": "judge-2"}}
    multi = {"type": "multi", "graders": both, "calculate_output": "a + b", "name": "m"}

    def answer(question: JudgeQuestion) -> JudgeReply:
        result = "kind" if question.model == "judge-1" else 1
        return JudgeReply(json.dumps({CODED: result}), prompt_tokens=7, completion_tokens=2)

    used = {"judge-1": TokenUsage(14, 4, 0, calls=2)}
    with pytest.raises(ScoreFault) as alone:
        await scored(GRADER, "Hello", judges=InMemoryJudges(answer))
    assert (alone.value.token_usage, alone.value.sampled_model_name) == (used, "judge-1")
    for grader, of_all, model in (
        ({**multi, "graders": {"a": GRADER}, "calculate_output": "a"}, used, "judge-1"),
        ({**multi, "graders": dict(reversed(both.items()))}, USED_BY_BOTH, None),
    ):
        with pytest.raises(ScoreFault) as caught:
            await scored(grader, "Hello", judges=InMemoryJudges(answer))
        assert (caught.value.token_usage, caught.value.sampled_model_name) == (of_all, model)
        assert caught.value.spent["a"] == used


@cases(
    ("changes", "path"),
    [
        ({"labels": []}, ("labels",)),
        ({"passing_labels": ["kind"]}, ("passing_labels",)),
        ({"passing_labels": []}, ("passing_labels",)),
    ],
)
def test_a_fault_is_reported_with_its_path(changes: dict[str, Any], path: tuple[str, ...]) -> None:
    with pytest.raises(ValidationError) as caught:
        read_grader({**GRADER, **changes})
    assert caught.value.errors()[0]["loc"] == path
