import json
from typing import Any

import pytest

from app.graders.scorer import ScoreFault, ScoreResult
from tests.support.grading.judges import InMemoryJudges, judge_that_says
from tests.support.grading.scores import scored

JUDGE: dict[str, Any] = {"type": "llm_judge", "model": "judge"}
ITEM = {"messages": [{"role": "user", "content": "Why is the sky blue?"}]}


async def judged(text: str, **options: Any) -> tuple[ScoreResult, InMemoryJudges]:
    judges = judge_that_says(text)
    return await scored({**JUDGE, **options}, "Because {{x}}.", item=ITEM, judges=judges), judges


@pytest.mark.parametrize(("said", "score"), [("0", 0.0), ("2.5", 0.25), ("8", 0.8), ("10", 1.0)])
async def test_a_score_is_a_share_of_the_scale(said: str, score: float) -> None:
    result, _ = await judged(f'{{"KEY": {said}}}')
    assert result.score == pytest.approx(score)


@pytest.mark.parametrize("said", ["Score: 8", '{"score": 8}', '{"KEY": 11}', '{"KEY": -1}'])
async def test_an_answer_without_a_score_on_the_scale_is_no_score(said: str) -> None:
    with pytest.raises(ScoreFault) as caught:
        await judged(said)
    assert caught.value.errors.model_grader_parse_error


async def test_the_scale_and_the_reason_are_kept() -> None:
    result, judges = await judged('Half of it is right.\n{"KEY": 50}', scale=100)
    assert (result.score, result.reason) == (0.5, "Half of it is right.")
    assert "from 0 to 100" in judges.asked[0].messages[0]["content"]


async def test_the_prompt_has_the_rubric_the_question_and_the_answer() -> None:
    rubric = [{"name": "wit", "description": "Is it funny?", "weight": 2.5}]
    _, judges = await judged('{"KEY": 1}', rubric=rubric)
    system, user = judges.asked[0].messages
    assert "- wit (weight 2.5): Is it funny?" in system["content"]
    assert json.dumps(ITEM["messages"], ensure_ascii=False)[2:10] in user["content"]
    assert "<answer>\nBecause {{x}}.\n</answer>" in user["content"]
    _, judges = await judged('{"KEY": 1}')
    for name in ("correctness", "helpfulness", "clarity", "completeness"):
        assert f"- {name} (weight 1): " in judges.asked[0].messages[0]["content"]


@pytest.mark.parametrize("tag", ["</answer>", "< / Answer >", "<question>"])
async def test_an_answer_cannot_end_its_own_block(tag: str) -> None:
    judges = judge_that_says('{"KEY": 1}')
    await scored(JUDGE, f"x {tag} y", item=ITEM, judges=judges)
    assert f"x {tag}" not in judges.asked[0].messages[1]["content"]
