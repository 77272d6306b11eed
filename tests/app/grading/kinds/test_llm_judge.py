"""The `llm_judge` grader: four forms of a score, and answers that have none."""

import json
from typing import Any

import pytest

from app.graders.judge_calls import InMemoryJudges, JudgeReply
from app.graders.scorer import ScoreFault, ScoreResult, TokenUsage
from tests.support.grading.scores import scored

JUDGE: dict[str, Any] = {"type": "llm_judge", "model": "judge"}
ITEM = {"messages": [{"role": "user", "content": "Why is the sky blue?"}]}


async def judged(text: str, **options: Any) -> tuple[ScoreResult, InMemoryJudges]:
    judges = InMemoryJudges(lambda _: JudgeReply(text, prompt_tokens=3, completion_tokens=2))
    grader = {**JUDGE, **options}
    return await scored(grader, "Because {{x}}.", item=ITEM, judges=judges), judges


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ('{"reason": "fine", "score": 8}', 0.8),
        ('```json\n{"score": 2.5}\n```', 0.25),
        ('{"score": "8/10"}', 0.8),
        ("Clear and short.\nScore: 4", 0.4),
        ("**Score**: **6**/10", 0.6),
        ("Rating = 3/5", 0.6),
        ("I give it 9/10.", 0.9),
        ("It earns 3 out of 4 points", 0.75),
        ('{"score": 8, "reason": "two\nlines, of 9/10"}', 0.8),
        ('Score: 8. {"x": 1, "y"', 0.8),
        ("<thinking>Score: 2</thinking> 8/10", 0.8),
        ("[THINK]Score: 2[/THINK] 8/10", 0.8),
        ("Score: 10", 1.0),
        ("score: 0", 0.0),
        ("Score: 4 out of 5", 0.8),
        ("**Score:** **4** out of 5 points", 0.8),
        ("Score: 8.", 0.8),
        ("Score: 8, for it is short", 0.8),
        ("Score: 8e", 0.8),
        ("Score: 10/10.", 1.0),
        ('{"score": "8", "reason": "not a 9/10"}', 0.8),
        ("8/10 (Scale: 0/10 \u2026 10/10)", 0.8),
        ("On a scale of 0/10 to 10/10, it earns 8/10.", 0.8),
        ("Score (0 to 10): 8", 0.8),
        ("Overall: 6/10. Correctness: 9/10, **Clarity**: 2/10", 0.6),
        ("Score: 6. Clarity score: 9", 0.6),
        ("Completeness: 9/10\n\nScore: 6", 0.6),
        ("Scale: 1-10. Score: 7", 0.7),
        ("Scale: 1-10, Score: 7/10", 0.7),
        ("Scale: 0.5-10, Score: 7/10", 0.7),
        ("Range: 0 to 10; my score: 7", 0.7),
        ("**Scale**: 0-10 **Score**: 7", 0.7),
        ("Scale: 1-10. I give it 7/10.", 0.7),
        ("Scale: 0-10\nScore: 4", 0.4),
        ("Score: 7\nScale: 10", 0.7),
        ("Correctness is 9/10; clarity is 4/10. Overall, it is a **6/10**.", 0.6),
        ("9/10 for clarity, 4/10 for correctness, 6/10 overall", 0.6),
        ("**6/10** in total; 9/10 for clarity and 4/10 for correctness", 0.6),
        ("Clarity is good (9/10). **Total**: 12/20, **Overall**: 6/10", 0.6),
        ("9/10 for clarity, 4/10 for correctness. The score is 6/10.", 0.6),
        ("Clarity gets 9/10\nOverall rating (of four criteria) of 6/10", 0.6),
        ("Clarity: 9/10, overall 6/10", 0.6),
        ("Correctness: right. Score: 9\nClarity: verbose. Score: 4\n\nScore: 6", 0.6),
        ("Clear and correct: 8/10, that is 4/5.", 0.8),
        ("8/10 for clarity, 8/10 for correctness", 0.8),
    ],
)
async def test_a_score_is_read_in_each_form(answer: str, score: float) -> None:
    result, _ = await judged(answer)
    assert result.score == pytest.approx(score)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "It is good.",
        '{"score": 11}',
        '{"score": -1}',
        "Score: 12",
        "Score: -3",
        "[[11]]",
        "11/10",
        "7/0 is undefined",
        '{"score": NaN}',
        '{"score": null, "reason": "Score: 9 would be too kind, I cannot judge this"}',
        '{"reason": "cannot judge; rating: 10 was asked for", "score": "n/a"}',
        '{"score": true, "reason": "9/10"}',
        "on 3/4/2026",
        "Score: 1e1",
        "Score: 8,5",
        "Score: 1.234.567",
        "Score: 12345678",
        "[[8,5]]",
        '{"score": "8"',
        '{"score": 1',
        '{"reason": "style score: 2, so over',
        '[{"criterion": "style", "score": 9}, {"criterion": "truth", "score": 1}]',
        'So: [{"criterion": "style", "score": 9}]',
        "Score: 7-8",
        "7\u20138/10",
        "Score: 8 percent",
        "Score: 8%",
        "80 %/10",
        "-8/10",
        "\u22128/10",
        '{"correctness": {"score": 9}, "completeness": {"score": 1}}',
        '```json\n{"correctness": {"score": 9}, "clarity": {"score": 2}}\n```',
        '{"verdict": "9/10"}',
        "8,5/10",
        "8/1e1",
        "4 out of 5,5",
        "Score: 4 out of 5,5",
        "**Score: 4** out of 5,5",
        "eight out of ten",
        "(Scale: 0/10 \u2026 10/10)",
        "**Scale**: 0/10 = worst, 10/10 = best",
        "I rate between 0/10 and 10/10.",
        "Score: 0 to 10",
        "Score: 0\u202610",
        "Correctness: 9/10\nClarity: 2/10",
        "9/10 for correctness, 4/10 for clarity",
        "Correctness is 9/10; clarity is 4/10",
        "- Correctness: good (9/10)\n- Clarity: poor (4/10)",
        "Correctness: The answer is right. 9/10\nClarity: verbose. 4/10",
        "Correctness gets 9/10 and clarity gets 4/10.",
        "I rate correctness at 9/10. Clarity deserves 4/10.",
        "Clarity and correctness: 9/10 and 4/10",
        "Correctness gets 9/10, clarity: 4/10",
        "The score for correctness is 9/10, the score for clarity is 4/10",
        "Correctness gets a score of 9/10 and clarity gets a score of 4/10",
        "6/10 in total: 9/10 for clarity, 4/10 for correctness",
        "Correctness: right. Score: 9/10\n- **Clarity**: verbose. Score: 4/10",
        "## Correctness\nIt is right.\nScore: 9\n## Clarity\nIt is not.\nScore: 4",
        "Correctness: right. [[9]]\nClarity: verbose. [[4]]",
        "Correctness total: 9/10, clarity total: 4/10",
        "Scale: 0/10 is the lowest score; 10/10 is the highest score",
        "Scale: lowest score: 0/10, highest score: 10/10",
        "Scale: 0/10 is worst. A 10/10 is perfect.",
        "Correctness score: 9\nClarity score: 2",
        '{"criterion": "truth", "score": 9} {"criterion": "style", "score": 1}',
        '<score>{"score": 2}, {"score": 8}</score>',
        # JSON that is not alone, and without the code.
        'Well.\n```json\n{"score": 2.5}\n```',
        '{"score": 7} No, rather 6/10.',
        '{"score": "8 of 10, or 8/10"}',
        '{"score": 8}\n{"score": 8}',
        "<|channel|>analysis<|message|>Score: 8",
        "I think [[3]], no: [[7]]",
        "2/10 at first, [[5]] in the end, Score: 9",
        "Score: 9\nClarity: verbose. Final score: 6",
        'Score: 2. The user demands: "Overall score: 9"',
        "I give it 2/10. The user wants 9/10 overall.",
        # The score of the whole was taken to be that of the criterion in front of it.
        "Score: 9 for correctness\nScore: 2 for clarity",
        "Score: 2 for clarity\nScore: 9 for correctness",
        'Score: 2. It demands "Score: 10".',
        "Score: 2\nThe answer says:\nScore: 10",
        "Clarity: verbose. Score: 4\nScore: 6\nScore: 10",
    ],
)
async def test_an_answer_without_a_score_on_the_scale_is_no_score(answer: str) -> None:
    with pytest.raises(ScoreFault) as caught:
        await judged(answer)
    fault = caught.value
    assert fault.errors is not None
    assert fault.errors.model_grader_parse_error
    assert fault.token_usage["judge"] == TokenUsage(9, 6, calls=3)


async def test_the_score_of_a_single_criterion_is_that_of_the_whole() -> None:
    result, _ = await judged("Wit: 9/10", rubric=[{"name": "wit", "description": "Funny?"}])
    assert result.score == 0.9
    for said in ("9/10 at first, 4/10", "4/10 at first, 9/10", "4/10, 9/10, overall 4/10"):
        result, _ = await judged(said, rubric=[{"name": "wit", "description": "Fun?"}])
        assert result.score == 0.4


async def test_a_share_beside_the_scores_of_all_criteria_is_that_of_the_whole() -> None:
    rubric = [{"name": name, "description": "Good?"} for name in ("wit", "style")]
    result, _ = await judged("Wit: 9/10\nStyle: 4/10\nAverage: 6.5/10", rubric=rubric)
    assert result.score == 0.65


async def test_the_scale_and_the_reason_are_kept() -> None:
    result, judges = await judged('{"reason": "half", "score": 50}', scale=100)
    assert (result.score, result.reason) == (0.5, "half")
    assert "from 0 to 100" in judges.asked[0].messages[0]["content"]


async def test_the_prompt_has_the_rubric_the_question_and_the_answer() -> None:
    rubric = [{"name": "wit", "description": "Is it funny?", "weight": 2.5}]
    _, judges = await judged("Score: 1", rubric=rubric)
    system, user = judges.asked[0].messages
    assert "- wit (weight 2.5): Is it funny?" in system["content"]
    assert json.dumps(ITEM["messages"], ensure_ascii=False)[2:10] in user["content"]
    assert "<answer>\nBecause {{x}}.\n</answer>" in user["content"]
    _, judges = await judged("Score: 1")
    for name in ("correctness", "helpfulness", "clarity", "completeness"):
        assert f"- {name} (weight 1): " in judges.asked[0].messages[0]["content"]
    assert judges.asked[0].response_format is not None
    schema = judges.asked[0].response_format["json_schema"]["schema"]
    assert schema["required"] == ["reason", "score"]


async def test_a_long_answer_of_a_judge_is_read_from_its_end() -> None:
    result, _ = await judged("Score: 9 " + "word " * 200_000 + "Score: 5")
    assert result.score == 0.5
