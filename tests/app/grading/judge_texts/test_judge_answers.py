"""Answers of judges that reason aloud, fence their JSON or add a sentence."""

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.graders.coded_verdicts import CodedKey
from app.graders.judge_answers import UNCLEAR, UnreadableAnswer, read_answer
from app.graders.judge_calls import InMemoryJudges, JudgeReply
from app.graders.scorer import ScoreFault
from tests.support.grading.coded_judges import judge_that_says
from tests.support.grading.judge_graders import LABEL, RUBRIC, SCORE
from tests.support.grading.scores import scored


@pytest.mark.parametrize(
    ("grader", "text", "score"),
    [
        (SCORE, '<think>a {"result": 2}?</think>\n{"KEY": 7}', 7.0),
        (SCORE, 'no mark at first, 2?</think>{"KEY": 7}', 7.0),
        (SCORE, '<think>a</think><think>b</think>{"KEY": 7}', 7.0),
        (SCORE, 'Here:\n```json\n{"KEY": 7}\n```\nIn short, {"KEY": 7}.', 7.0),
        (SCORE, '```json\n{"why": "a"}\n```\nso:\n```\n{"KEY": 7}\n```', 7.0),
        (SCORE, '```json\n{"KEY": 7}\n```\nThe code:\n```python\nf(x)\n```', 7.0),
        (SCORE, 'Not {"mark": 2} but\n{"KEY": 7, "of": {"other": 9}}, surely.', 7.0),
        (SCORE, 'With {x} and {a, b}.\n{"KEY": 7}', 7.0),
        (SCORE, '{"KEY": 7, "why": "it has <think> and </think>, and </think>"}', 7.0),
        (SCORE, 'The mark `<think>` is absent. {"KEY": "7"}', 7.0),
        (LABEL, '<think>"bad"? {"KEY": "bad"}</think>```json\n{"KEY": "good"}\n```', 1.0),
        (LABEL, 'It is.\n{"KEY": "bad"}, sorry.', 0.0),
        (LABEL, "KEY: Good", 1.0),
        (LABEL, "KEY: good, but late", 1.0),
        (RUBRIC, "<think>Score: 2</think>Score: 7", 0.7),
        (RUBRIC, '<think>[[2]]</think>So:\n{"reason": "Score: 1", "KEY": 7} as asked', 0.7),
        (RUBRIC, "Score: 2.\nKEY: 7", 0.7),
        (RUBRIC, '{"KEY": "7/10"} after all', 0.7),
        (RUBRIC, '{"score": 7, "text": 5}', 0.7),
    ],
)
async def test_a_repeated_answer_is_read_at_the_code(
    grader: dict[str, Any], text: str, score: float
) -> None:
    result = await scored(grader, "x", judges=judge_that_says("Hm.", text))
    assert result.score == pytest.approx(score)


@pytest.mark.parametrize(
    ("grader", "text", "message"),
    [
        (SCORE, '<think>maybe {"result": 2}', "the judge's answer is not one JSON object alone"),
        (SCORE, 'So {"result": 2}', "the judge's answer is not one JSON object alone"),
        (SCORE, '[{"result": 2}]', "the judge's answer is not one JSON object alone"),
        (SCORE, '{"steps": [{"result": 2}]}', "the judge's answer contains no number `result`"),
        (SCORE, '{"result": 2} {"KEY": []}', UNCLEAR),
        (LABEL, "KEY: polite", UNCLEAR),
        (SCORE, 'It is wrong: {"KEY": 0}', UNCLEAR),
        (SCORE, '<think>maybe.\n{"KEY": 7}', UNCLEAR),
        (
            SCORE,
            '{"result": 2}\n\nIt demands, in its last line, KEY: 10.',
            UNCLEAR,
        ),
        (SCORE, "{x} is a set. It then demands (in capitals, KEY: 10).", UNCLEAR),
        (SCORE, "It demands:\nKEY: 10\nI refuse. KEY: N/A", UNCLEAR),
        (SCORE, 'It demands:\n```json\n{"KEY": 10}\n```\nI refuse. KEY (0-10): 2', UNCLEAR),
        (RUBRIC, "Score: 2. KEY: 7", UNCLEAR),
        (LABEL, "KEY: Good - as it demands, but really BAD", UNCLEAR),
        (LABEL, "KEY: good or bad", UNCLEAR),
        (RUBRIC, "<think>Score: 2", "the judge's answer has no certain end of its thinking"),
        (RUBRIC, "<think>Score: 2</think>Hm.", "the judge's answer contains no score"),
        (RUBRIC, '{"KEY": "7 to 8"}', UNCLEAR),
        (RUBRIC, "KEY: 8/10 or 9/10", UNCLEAR),
        (RUBRIC, '{"KEY": 11}', "the judge's score is not between 0 and 10"),
    ],
)
async def test_nothing_else_is_a_verdict(grader: dict[str, Any], text: str, message: str) -> None:
    with pytest.raises(ScoreFault) as caught:
        await scored(grader, "x", judges=judge_that_says("Hm.", text))
    fault = caught.value
    assert (fault.kind, fault.message) == ("bad_reply", message)
    assert fault.errors is not None
    assert fault.errors.raised == ("model_grader_parse_error",)


async def test_a_fault_has_the_tokens_of_all_answers() -> None:
    judges = InMemoryJudges(lambda _: JudgeReply("Hm.", prompt_tokens=3, completion_tokens=4))
    with pytest.raises(ScoreFault) as caught:
        await scored(SCORE, "x", judges=judges)
    assert caught.value.token_usage["judge"].completion_tokens == 3 * 4


PIECES = ("<think>", "</think>", "```", "\n", "{", "}", "[", "]", '"', "\\", "a", '{"result": 1}')
TEXTS = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
CONTENTS = st.dictionaries(st.text(max_size=4), st.integers() | TEXTS, min_size=1, max_size=3)
KEY = CodedKey("result", "0123456789")


@settings(max_examples=500, deadline=None)
@given(thinking=TEXTS, content=CONTENTS)
def test_an_object_after_any_thinking_is_read_whole(thinking: str, content: dict[str, Any]) -> None:
    plain = json.dumps(content)
    assert read_answer(plain).content == content
    quiet = re.sub("</think>|[{}]", "", thinking)
    if "</think>" not in plain:  # a second mark may be a quotation
        assert read_answer(f"<think>{quiet}</think>\n{plain}\n").content == content


@settings(max_examples=500, deadline=None)
@given(text=TEXTS, is_repeated=st.booleans())
def test_thinking_without_an_end_is_never_read(text: str, is_repeated: bool) -> None:
    quiet = text.replace("</think>", "").replace('"', "")
    with pytest.raises(UnreadableAnswer, match="not one JSON object alone"):
        read_answer(f"<think>{quiet}", key=KEY if is_repeated else None)


@pytest.mark.parametrize(
    "unit",
    [*('{"', '{"a":', '"\\', '{"\\"', "{", "[", "[ ", '[{"', '{"a":1}', "```\n", "</think>{")],
)
def test_a_hostile_answer_has_nothing_in_it(unit: str) -> None:
    with pytest.raises(UnreadableAnswer):
        read_answer(unit * 50_000)


def test_an_answer_of_too_many_objects_is_not_read() -> None:
    with pytest.raises(UnreadableAnswer, match="more than 50000 brackets"):
        read_answer("{}" * 50_001)


def test_many_marks_are_thinking() -> None:
    with pytest.raises(UnreadableAnswer):
        read_answer("<think>" * 100_000)
