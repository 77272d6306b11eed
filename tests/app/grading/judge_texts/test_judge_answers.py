"""Answers of judges that reason aloud, fence their JSON or add a sentence."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.gateways.inference.judges import InMemoryJudges, JudgeReply
from app.grading.judge_texts.judge_answers import UnreadableAnswer, read_answer
from app.grading.scorer import ScoreFault
from tests.support.grading.scores import scored

INPUT = [{"role": "user", "content": "{{sample.output_text}}"}]
SCORE: dict[str, Any] = {
    "type": "score_model",
    "model": "judge",
    "range": [0, 10],
    "input": INPUT,
}
LABEL: dict[str, Any] = {
    "type": "label_model",
    "model": "judge",
    "labels": ["good", "bad"],
    "passing_labels": ["good"],
    "input": INPUT,
}
DIFFERENT = "the judge's answer has several JSON objects whose verdicts differ"
RUBRIC: dict[str, Any] = {"type": "llm_judge", "model": "judge", "question": "Why?"}


@pytest.mark.parametrize(
    ("grader", "text", "score"),
    [
        (SCORE, '<think>a {"result": 2}?</think>\n{"result": 7}', 7.0),
        (SCORE, 'no mark at first, 2?</think>{"result": 7}', 7.0),
        (SCORE, '<think>a</think><think>b {"result": 2}</think>{"result": 7}', 7.0),
        (SCORE, 'Here:\n```json\n{"result": 7}\n```\nIn short, {"result": 7}.', 7.0),
        (SCORE, '```json\n{"why": "a"}\n```\nso:\n```\n{"result": 7}\n```', 7.0),
        (SCORE, '```json\n{"result": 7}\n```\nThe code:\n```python\nf(x)\n```', 7.0),
        (SCORE, 'Not {"mark": 2} but {"result": 7, "of": {"result": 9}}, surely.', 7.0),
        (SCORE, 'With {x} and {a, b}: {"result": 7}', 7.0),
        (SCORE, '{"result": 7, "why": "it has <think> and </think>, and </think>"}', 7.0),
        (SCORE, '<think>a</think>{"why": "no <think>", "result": 7}', 7.0),
        (SCORE, '<think>a</think>So {"why": "no <think>, } {", "result": 7}.', 7.0),
        (SCORE, 'The mark `<think>` is absent: {"result": 7}', 7.0),
        (LABEL, '<think>"bad"? {"result": "bad"}</think>```json\n{"result": "good"}\n```', 1.0),
        (LABEL, 'It is {"result": "bad"}, sorry.', 0.0),
        (RUBRIC, "<think>Score: 2</think>Score: 7", 0.7),
        (RUBRIC, '<think>[[2]]</think>So: {"score": 7, "reason": "Score: 1"} as asked', 0.7),
        (RUBRIC, '{"score": 7, "text": 5}', 0.7),
    ],
)
async def test_the_answer_behind_the_thinking_is_read(
    grader: dict[str, Any], text: str, score: float
) -> None:
    result = await scored(grader, "x", judges=InMemoryJudges(lambda _: JudgeReply(text)))
    assert result.score == score


@pytest.mark.parametrize(
    ("grader", "text", "message"),
    [
        (SCORE, '<think>maybe {"result": 2}', "the judge's answer ends in its thinking"),
        (SCORE, '{"result": 2}<think>or not', "the judge's answer ends in its thinking"),
        (RUBRIC, "<think>Score: 2", "the judge's answer ends in its thinking"),
        (SCORE, '<think>{"result": 2}</think>', "the judge's answer contains no number `result`"),
        (SCORE, '{"steps": [{"result": 2}', "the judge's answer contains no number `result`"),
        (SCORE, '[{"result": 2}]', "the judge's answer contains no number `result`"),
        (SCORE, 'Draft: {"result": 2}. Final: {"result": 7}', DIFFERENT),
        (SCORE, '```\n{"result": 2}\n```\nno:\n```\n{"result": 7}\n```', DIFFERENT),
        (SCORE, 'a list: [{"result": 2}]', "the judge's answer contains no number `result`"),
        (RUBRIC, "<think>Score: 2</think>Hm.", "the judge's answer contains no score"),
    ],
)
async def test_nothing_is_read_out_of_thinking_or_a_part(
    grader: dict[str, Any], text: str, message: str
) -> None:
    judges = InMemoryJudges(lambda _: JudgeReply(text, prompt_tokens=3, completion_tokens=4))
    with pytest.raises(ScoreFault) as caught:
        await scored(grader, "x", judges=judges)
    fault = caught.value
    assert (fault.kind, fault.message) == ("bad_reply", message)
    assert fault.errors is not None
    assert fault.errors.raised == ("model_grader_parse_error",)
    assert fault.token_usage["judge"].completion_tokens == 2 * 4


PIECES = ("<think>", "</think>", "```", "\n", "{", "}", "[", "]", '"', "\\", "a", '{"result": 1}')
TEXTS = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
CONTENTS = st.dictionaries(st.text(max_size=4), st.integers() | TEXTS, max_size=3)


@settings(max_examples=500, deadline=None)
@given(thinking=TEXTS, content=CONTENTS)
def test_an_object_after_any_thinking_is_read_whole(thinking: str, content: dict[str, Any]) -> None:
    plain = json.dumps(content)
    assert read_answer(plain).content == content
    quiet = thinking.replace("</think>", "")
    assert read_answer(f"<think>{quiet}</think>\n{plain}\n").content == content


@settings(max_examples=500, deadline=None)
@given(text=TEXTS)
def test_thinking_without_an_end_is_never_read(text: str) -> None:
    quiet = text.replace("</think>", "").replace('"', "")
    with pytest.raises(UnreadableAnswer, match="ends in its thinking"):
        read_answer(f"<think>{quiet}")


@pytest.mark.parametrize(
    "unit",
    [*('{"', '{"a":', '"\\', '{"\\"', "{", "[", "[ ", '[{"', '{"a":1}', "```\n", "</think>{")],
)
def test_a_hostile_answer_has_no_more_in_it(unit: str) -> None:
    content = read_answer(unit * 50_000).content
    assert content == ({"a": 1} if unit == '{"a":1}' else {})


def test_an_answer_of_too_many_objects_is_not_read() -> None:
    with pytest.raises(UnreadableAnswer, match="more than 50000 brackets"):
        read_answer("{}" * 50_001)


def test_many_marks_are_thinking() -> None:
    with pytest.raises(UnreadableAnswer):
        read_answer("<think>" * 100_000)
