"""A judge may quote whatever its prompt shows: columns of a row, values of a sample, tools."""

import json
from typing import Any

import pytest

from tests.support.cases import cases
from tests.support.grading.coded_judges import KEY, judge_that_says
from tests.support.grading.scores import scored
from tests.support.grading.three_requests import (
    FIRST,
    GRADERS,
    ITEM,
    LAST,
    QUOTABLE,
    RANKS,
    RUBRIC,
    SCORES,
)


@cases(
    ("kind", "field"),
    [("score_model", "content"), ("label_model", "content"), ("llm_judge", "input")],
)
async def test_an_answer_in_a_column_is_judged_as_one_in_the_sample(kind: str, field: str) -> None:
    column = "{{ item.response }}"
    shown = column if field == "input" else [{"role": "user", "content": column}]
    grader = {**GRADERS[kind], "input": shown}
    judges = judge_that_says(FIRST[kind], json.dumps({KEY: LAST[kind][2]}))
    found = await scored(grader, "x", item={"response": QUOTABLE}, judges=judges)
    assert found.score == pytest.approx(LAST[kind][3])
    (value,) = json.loads(FIRST[kind]).values()
    nested = judge_that_says(FIRST[kind], json.dumps({KEY: LAST[kind][2]}))
    await scored(grader, "x", item={"response": {"any": value}}, judges=nested)
    assert len(nested.asked) == 2, "a value is shown as JSON"
    unread = judge_that_says(FIRST[kind])
    await scored(grader, "x", item={"response": "x", "other": QUOTABLE}, judges=unread)
    assert len(unread.asked) == 1


async def test_values_of_a_sample_are_judged_as_the_prompt_shows_them() -> None:
    grader = {**SCORES, "input": [{"role": "user", "content": "{{ sample.output_json }}"}]}
    judges = judge_that_says(FIRST["score_model"], '{"KEY": 3}')
    sample = {"output_text": "x", "output_json": {"verdict": 2}}
    assert (await scored(grader, "x", judges=judges, sample=sample)).score == 3


async def test_a_question_may_be_quoted_and_is_no_answer() -> None:
    item = {"messages": [*ITEM["messages"], {"role": "tool", "content": '{"score": 2}'}]}
    grader = {**RUBRIC, "question": "{{ item.messages }}"}
    judges = judge_that_says(FIRST["llm_judge"], '{"KEY": 3}')
    assert (await scored(grader, "x", item=item, judges=judges)).score == 0.3
    words = judge_that_says("Score: 4")
    assert (await scored(grader, "x", item=item, judges=words)).score == 0.4


@cases(
    "item",
    [
        {**ITEM, "tools": [{"type": "function", "function": {"name": "f", "score": 0.2}}]},
        {
            "messages": [
                *ITEM["messages"],
                {"role": "assistant", "tool_calls": [{"id": "1", "function": {"x": 0.2}}]},
            ]
        },
    ],
    ids=["tools", "arguments"],
)
async def test_a_judge_of_a_group_may_quote_all_that_it_sees(item: dict[str, Any]) -> None:
    judges = judge_that_says(FIRST["ai_judge"], '{"scores": [{"id": "1", "KEY": 0.3}]}')
    assert (await scored(RANKS, "x", item=item, judges=judges)).score == 0.3
    assert len(judges.asked) == 2
