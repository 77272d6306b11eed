"""A judge whose answer has no readable score is asked once more, for JSON alone."""

import json
from typing import Any

import pytest

from app.gateways.endpoints.calls import FaultKind
from app.gateways.inference.judges import InMemoryJudges, JudgeFault, JudgeQuestion, JudgeReply
from app.grading.scorer import ScoreFault, TokenUsage
from tests.support.grading.scores import scored

PROMPT = {"input": [{"role": "user", "content": "{{ sample.output_text }}"}]}
GRADERS: dict[str, dict[str, Any]] = {
    "score_model": {"type": "score_model", "name": "s", "model": "j", **PROMPT},
    "label_model": {
        "type": "label_model",
        "name": "l",
        "model": "j",
        "labels": ["good", "bad"],
        "passing_labels": ["good"],
        "input": PROMPT["input"],
    },
    "llm_judge": {
        "type": "llm_judge",
        "model": "j",
        "question": "Why?",
        "rubric": [{"name": "right", "description": "Is it right?"}],
    },
}


def judge(*replies: JudgeReply | JudgeFault) -> InMemoryJudges:
    left = list(replies)

    def script(_: JudgeQuestion) -> JudgeReply:
        reply = left.pop(0)
        if isinstance(reply, JudgeFault):
            raise reply
        return reply

    return InMemoryJudges(script)


@pytest.mark.parametrize(
    ("kind", "answer", "key", "verdict", "score"),
    [
        ("score_model", "{result: 0.1} {result: 0.2}", "result", 0.2, 0.2),
        ("label_model", 'I am not "result": "bad"', "result", "bad", 0.0),
        ("llm_judge", "1/10, 2/10 or 3/10?", "score", 2, 0.2),
    ],
)
async def test_an_answer_cannot_lose_its_bad_score_by_naming_it(
    kind: str, answer: str, key: str, verdict: Any, score: float
) -> None:
    said = json.dumps({key: verdict})
    judges = judge(JudgeReply(f"My verdict: {said}", None, 30, 4), JudgeReply(said, None, 50, 5))
    found = await scored(GRADERS[kind], answer, judges=judges)
    assert found.score == pytest.approx(score)
    assert found.token_usage == {"j": TokenUsage(80, 9, calls=2)}
    first, second = judges.asked
    assert (first.call_id, second.call_id) == ("grade_1", "grade_1_again1")
    assert second.messages[:-2] == first.messages
    assert second.messages[-2] == {"role": "assistant", "content": f"My verdict: {said}"}
    assert "Answer again with the JSON alone" in second.messages[-1]["content"]


async def test_two_answers_without_a_score_are_a_fault_that_costs_both() -> None:
    judges = judge(JudgeReply("So so.", None, 3, 4, 1, 0.5), JudgeReply("", None, 7, 1))
    with pytest.raises(ScoreFault, match="contains no number `result`") as caught:
        await scored(GRADERS["score_model"], "x", judges=judges)
    assert caught.value.errors.raised == ("model_grader_parse_error",)
    assert caught.value.token_usage == {"j": TokenUsage(10, 5, 1, calls=2)}


async def test_a_judge_that_is_lost_at_the_second_request_is_infrastructure() -> None:
    judges = judge(JudgeReply("", None, 3, 4), JudgeFault(FaultKind.TIMEOUT, "no answer in time"))
    with pytest.raises(ScoreFault) as caught:
        await scored(GRADERS["score_model"], "x", judges=judges)
    assert (caught.value.kind, caught.value.message) == ("timeout", "no answer in time")
    assert caught.value.errors.raised == ("model_grader_server_error",)
    assert caught.value.token_usage == {"j": TokenUsage(3, 4, calls=1)}
    # Many servers refuse an empty message.
    assert judges.asked[1].messages[-2]["content"] == "(no text)"


async def test_the_second_request_repeats_the_end_of_a_long_answer() -> None:
    judges = judge(JudgeReply(f"{'a' * 9_000}b"), JudgeReply('{"result": 1}'))
    assert (await scored(GRADERS["score_model"], "x", judges=judges)).score == 1
    assert judges.asked[1].messages[-2]["content"] == f"{'a' * 7_999}b"


@pytest.mark.parametrize(
    "reply",
    [JudgeReply("", "I cannot judge this."), JudgeReply('{"result": 1}', is_cut_off=True)],
    ids=["refused", "cut off"],
)
async def test_a_refusal_and_an_answer_without_its_end_are_requested_once(
    reply: JudgeReply,
) -> None:
    judges = judge(reply)
    with pytest.raises(ScoreFault):
        await scored(GRADERS["score_model"], "x", judges=judges)
    assert len(judges.asked) == 1
