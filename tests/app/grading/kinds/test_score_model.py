import json
from typing import Any

import pytest

from app.graders.judge import JudgeFault, JudgeQuestion, JudgeReply
from app.graders.kinds.judges import ScoreModelGrader
from app.graders.scorer import GradeRequest, ScoreFault, Scorer, ScoreResult, TokenUsage
from app.kit.endpoints import FaultKind
from tests.support.cases import cases
from tests.support.grading.judges import CODED, InMemoryJudges
from tests.support.grading.scores import ports_of, scored

REQUEST = GradeRequest({"output_text": "Paris"}, {"q": "Capital?"}, "trace_1", "grade_1")
SPEC: dict[str, Any] = {
    "type": "score_model",
    "model": "judge-1",
    "input": [
        {"role": "developer", "content": "Grade strictly."},
        {
            "role": "user",
            "content": ["Q: {{ item.q }}", {"type": "text", "text": "A: {{ sample.output_text }}"}],
        },
    ],
}


def answer(result: Any) -> str:
    return f"It is so.\n{json.dumps({CODED: result})}"


async def run(reply: JudgeReply | JudgeFault, **spec: Any) -> tuple[ScoreResult, JudgeQuestion]:
    def script(_: JudgeQuestion) -> JudgeReply:
        if isinstance(reply, JudgeFault):
            raise reply
        return reply

    judges = InMemoryJudges(script)
    grader = ScoreModelGrader.model_validate({**SPEC, **spec})
    scorer = grader.scorer(ports_of(judges), source="j")
    return await scorer.score(REQUEST), judges.asked[0]


async def test_the_question_is_the_filled_prompt_and_the_fixed_format() -> None:
    sampling = {
        "temperature": 0,
        "top_p": 0.5,
        "seed": 7,
        "max_completions_tokens": 9,
        "reasoning_effort": "low",
    }
    _, question = await run(JudgeReply(answer(1)), sampling_params=sampling, range=[0, 10])
    assert question.messages[1] == {"role": "user", "content": "Q: Capital?\nA: Paris"}
    assert question.messages[0]["role"] == "developer"
    assert question.messages[0]["content"].startswith("Grade strictly.\n\nGive your reasons")
    assert "from 0 to 10" in question.messages[0]["content"]
    assert question.sampling == {
        "temperature": 0.0,
        "top_p": 0.5,
        "seed": 7,
        "max_completion_tokens": 9,
        "reasoning_effort": "low",
    }
    assert (question.model, question.call_id, question.trace_id) == (
        "judge-1",
        "grade_1",
        "trace_1",
    )


@cases(("text", "item"), [("x", "y" * 1_000_000), ("x" * 1_000_000, "y")])
async def test_a_prompt_that_is_too_long_is_blamed_on_the_row_or_on_the_answer(
    text: str, item: str
) -> None:
    parts = ["{{item.q}}"] * 3 + ["{{sample.output_text}}"] * 3
    spec = {**SPEC, "input": [{"role": "user", "content": parts}]}
    if len(item) > len(text):
        with pytest.raises(ScoreFault, match="the row cannot be graded") as caught:
            await scored(spec, text, item={"q": item})
        assert caught.value.kind == "item_unreadable"
    else:
        result = await scored(spec, text, item={"q": item})
        assert (result.score, result.errors.raised) == (0.0, ("other_error",))


async def test_a_prompt_without_a_system_message_gets_one() -> None:
    _, question = await run(JudgeReply(answer(1)), input=[{"role": "user", "content": "x"}])
    assert [message["role"] for message in question.messages] == ["system", "user"]
    assert question.messages[1]["content"] == "x"


@pytest.mark.parametrize(
    ("result", "limits"), [(0.25, [0, 1]), (-7, [-10, 10]), (1, [0, 1]), (5, [1, 5])]
)
async def test_a_number_of_the_range_is_the_score(result: float, limits: list[float]) -> None:
    scored, _ = await run(JudgeReply(answer(result), None, 10, 5, 2, 0.5), range=limits)
    assert (scored.score, scored.errors.raised, scored.reason) == (result, (), "It is so.")
    assert scored.token_usage == {"judge-1": TokenUsage(10, 5, 2, calls=1)}
    assert (scored.sampled_model_name, scored.execution_time_s) == ("judge-1", 0.5)


@cases(
    "text",
    [
        *(answer("high"), answer(True), answer(None), answer(7), answer(0), answer(85)),
        *('{"result": 4}', "4", "", "I think 4", "[" * 100_000),
    ],
    ids=lambda text: text[:20],
)
async def test_an_answer_without_a_number_of_the_range_is_a_fault_and_no_0(text: str) -> None:
    with pytest.raises(ScoreFault) as caught:
        await run(JudgeReply(text, None, 3, 4), range=[1, 5])
    fault = caught.value
    assert (fault.kind, fault.errors.raised) == ("bad_reply", ("model_grader_parse_error",))
    assert fault.token_usage == {"judge-1": TokenUsage(6, 8, calls=2)}


async def test_a_refusal_is_a_fault_and_no_0() -> None:
    with pytest.raises(ScoreFault) as caught:
        await run(JudgeReply("", "I cannot judge this.", 3, 4))
    fault = caught.value
    assert (fault.kind, fault.errors.raised) == ("bad_reply", ("model_grader_refusal_error",))
    assert fault.details == "j: the judge refused: 'I cannot judge this.'"
    assert fault.token_usage == {"judge-1": TokenUsage(3, 4, calls=1)}


def _reading(path: str) -> tuple[Scorer, InMemoryJudges]:
    judges = InMemoryJudges(lambda _: JudgeReply(answer(1)))
    spec = {**SPEC, "input": [{"role": "user", "content": f"{{{{ {path} }}}}"}]}
    return ScoreModelGrader.model_validate(spec).scorer(ports_of(judges), source="j"), judges


async def test_a_missing_variable_calls_no_judge() -> None:
    scorer, judges = _reading("sample.output_json.a")
    scored = await scorer.score(REQUEST)
    assert (scored.score, scored.errors.raised) == (0.0, ("invalid_variable_error",))
    assert judges.asked == []


async def test_a_key_that_the_row_lacks_is_a_fault_and_calls_no_judge() -> None:
    scorer, judges = _reading("item.absent")
    with pytest.raises(ScoreFault, match=r"j: its template reads 'item.absent'"):
        await scorer.score(REQUEST)
    assert judges.asked == []


@cases(
    ("kind", "reported"),
    [
        (FaultKind.ERROR, "error"),
        (FaultKind.TIMEOUT, "timeout"),
        (FaultKind.UNREACHABLE, "unreachable"),
        (FaultKind.TOO_LARGE, "bad_reply"),
        (FaultKind.REFUSED, "refused"),
    ],
)
async def test_a_judge_that_cannot_be_called_is_a_fault_never_a_0(
    kind: FaultKind, reported: str
) -> None:
    with pytest.raises(ScoreFault) as caught:
        await run(JudgeFault(kind, "answered 503"))
    fault = caught.value
    assert (fault.kind, fault.source, fault.message) == (reported, "j", "answered 503")
    assert fault.errors.raised == ("model_grader_server_error",)
    assert fault.errors.model_grader_server_error_details == "answered 503"
