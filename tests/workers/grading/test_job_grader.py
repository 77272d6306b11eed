import json
from dataclasses import replace
from typing import Any

import pytest
from pydantic import TypeAdapter

from app.graders.definitions import Grader as GraderUnion
from app.graders.judge import JudgeFault, JudgeQuestion, JudgeReply
from app.graders.scorer import GradeRequest, GradingPorts, ScoreResult
from app.kit.endpoints import CallSigner, FaultKind
from app.rollouts.trajectory import FailureClass, Grade, TokenRow, Trajectory, Turn
from app.tools.programs import ProgramOutcome
from app.tools.sandbox import Sandbox
from tests.support.cases import cases
from tests.support.endpoints import ReceivedRequest, Reply, Script, endpoint
from tests.support.grading.judges import CODED, InMemoryJudges
from tests.support.reinforcement.scored_rollouts import scored
from tests.support.rollout.rollouts import KEY, SECRET_KEY, egress_to, pool, row
from tests.support.sandbox.in_memory import InMemorySandbox
from workers.grading.job_grader import GraderFailure, JobGrader, build_grader
from workers.journal import InMemoryJournal
from workers.methods.reinforcement.loop import too_many_lost

GRADERS: TypeAdapter[Any] = TypeAdapter(GraderUnion)
CHECK = {
    "type": "string_check",
    "input": "{{ sample.output_text }}",
    "reference": "{{ item.answer }}",
    "operation": "eq",
}
JUDGE = {
    "type": "score_model",
    "model": "judge-1",
    "input": [{"role": "user", "content": "{{ sample.output_text }}"}],
}


def trajectory(content: str = "42") -> Trajectory:
    turn = Turn((5,), (-0.5,), 1, content, 0, "stop")
    messages = [{"role": "user", "content": "q"}, {"role": "assistant", "content": content}]
    return Trajectory(KEY, [TokenRow([5], [1], [-0.5])], [turn], messages)


def verdict(result: Any, **usage: Any) -> JudgeReply:
    return JudgeReply(json.dumps({CODED: result}), **usage)


async def run(
    spec: dict[str, Any],
    *,
    judges: InMemoryJudges | None = None,
    script: Script = lambda _: Reply(json={"score": 0.25, "metrics": {"part": 3}}),
    journal: InMemoryJournal | None = None,
    content: str = "42",
    sandbox: Sandbox | None = None,
) -> tuple[Grade | GraderFailure, list[ReceivedRequest]]:
    async with endpoint(script) as server:
        egress = egress_to(server)
        text = json.dumps(spec).replace("ENDPOINT", server.url())
        ports = GradingPorts(
            pool(egress),
            CallSigner(SECRET_KEY, project_id="proj_a"),
            judges or InMemoryJudges(lambda _: verdict(1)),
            sandbox or InMemorySandbox(),
        )
        grader = build_grader(GRADERS.validate_json(text), ports)
        try:
            result: Grade | GraderFailure = await grader.grade(
                trajectory(content),
                row("search", answer="42"),
                KEY,
                journal=journal or InMemoryJournal(),
            )
        except GraderFailure as failure:
            result = failure
        await egress.aclose()
    return result, server.received


def graded(result: Grade | GraderFailure) -> Grade:
    assert isinstance(result, Grade), result
    return result


MULTI = {
    "type": "multi",
    "name": "whole",
    "graders": {"exact": CHECK, "judge": JUDGE, "hook": {"type": "endpoint", "url": "ENDPOINT"}},
    "calculate_output": "exact + 2 * judge + 4 * hook",
}


async def test_children_are_components_with_their_own_measures() -> None:
    judges = InMemoryJudges(
        lambda _: verdict(0.5, prompt_tokens=7, completion_tokens=3, cached_tokens=2)
    )
    result, received = await run(MULTI, judges=judges)
    grade = graded(result)
    assert grade.score == 1 + 2 * 0.5 + 4 * 0.25
    assert grade.components == {"exact": 1.0, "judge": 0.5, "hook": 0.25, "hook.part": 3.0}
    assert grade.measures["judge"] == {
        "latency_s": 0.0,
        "prompt_tokens": 7.0,
        "completion_tokens": 3.0,
        "cached_tokens": 2.0,
        "judge_calls": 1.0,
    }
    assert set(grade.measures) == {"", "exact", "judge", "hook"}
    assert grade.measures[""] == {"latency_s": grade.latency_s}
    assert grade.measures["hook"]["latency_s"] > 0
    assert grade.measures["exact"]["latency_s"] > 0
    assert received[0].json["item"]["answer"] == "42"
    assert judges.asked[0].trace_id == KEY.trace_id


async def test_an_answer_from_outside_is_journalled_and_replayed() -> None:
    journal = InMemoryJournal()
    scores = iter([0.25, 0.75])
    judges = InMemoryJudges(lambda _: verdict(next(scores)))
    first, _ = await run(MULTI, judges=judges, journal=journal)
    again, received = await run(MULTI, judges=judges, journal=journal)
    assert again == first
    assert (len(judges.asked), received) == (1, [])
    assert list(journal.entries) == [KEY.grade_id("whole")]
    json.dumps([payload for _, payload in journal.entries.values()])
    other, _ = await run(MULTI, judges=judges, journal=journal, content="41")
    assert graded(other).score == 0 + 2 * 0.75 + 4 * 0.25


async def test_a_grader_without_calls_needs_no_journal() -> None:
    journal = InMemoryJournal()
    result, _ = await run(CHECK, journal=journal)
    assert (graded(result).score, journal.entries) == (1.0, {})


@cases(
    ("kind", "expected"),
    [
        (FaultKind.ERROR, FailureClass.GRADER_ERROR),
        (FaultKind.TIMEOUT, FailureClass.GRADER_TIMEOUT),
        (FaultKind.UNREACHABLE, FailureClass.GRADER_UNREACHABLE),
        (FaultKind.BAD_REPLY, FailureClass.GRADER_BAD_REPLY),
        (FaultKind.TOO_LARGE, FailureClass.GRADER_BAD_REPLY),
        (FaultKind.REFUSED, FailureClass.ENDPOINT_REFUSED),
    ],
)
async def test_a_judge_that_fails_costs_the_rollout(
    kind: FaultKind, expected: FailureClass
) -> None:
    def script(_: JudgeQuestion) -> JudgeReply:
        raise JudgeFault(kind, "answered 503")

    journal = InMemoryJournal()
    whole = {"type": "multi", "name": "whole", "graders": {"a": CHECK, "judge": JUDGE}}
    whole["calculate_output"] = "a + judge"
    for spec, source, child in ((JUDGE, "score_model", None), (whole, "whole.judge", "judge")):
        result, _ = await run(spec, judges=InMemoryJudges(script), journal=journal)
        assert isinstance(result, GraderFailure)
        failure = result.failure
        assert (failure.failure_class, failure.source, failure.child) == (expected, source, child)
    assert journal.entries == {}


@cases("judged", [False, True])
async def test_a_key_that_the_row_lacks_costs_the_rollout_and_is_no_0(judged: bool) -> None:
    text = "{{ item.zzz }}"
    reading: dict[str, Any] = (
        {**JUDGE, "input": [{"role": "user", "content": text}]}
        if judged
        else {**CHECK, "reference": text}
    )
    whole = {"type": "multi", "name": "whole", "graders": {"a": CHECK, "b": reading}}
    whole["calculate_output"] = "a + b"
    for spec, source in ((reading, reading["type"]), (whole, "whole.b")):
        result, _ = await run(spec)
        assert isinstance(result, GraderFailure)
        failure = result.failure
        assert (failure.failure_class, failure.source, failure.message) == (
            FailureClass.GRADER_ITEM_MISSING,
            source,
            "its template reads 'item.zzz', which the row does not have",
        )


async def test_what_the_sample_wrote_badly_is_a_counted_0() -> None:
    spec = {**CHECK, "input": "{{ sample.output_json.a }}"}
    alone = graded((await run(spec))[0])
    assert alone.score == 0.0
    assert alone.measures[""]["errors/invalid_variable_error"] == 1.0
    multi = {"type": "multi", "graders": {"a": spec, "b": CHECK}, "calculate_output": "a + b"}
    inside = graded((await run(multi))[0])
    assert inside.score == 1.0
    assert inside.measures["a"]["errors/invalid_variable_error"] == 1.0
    assert not [name for name in (*inside.measures[""], *inside.measures["b"]) if "error" in name]


@cases(
    ("reply", "flag"),
    [
        (verdict("much"), "model_grader_parse_error"),
        (JudgeReply("", "no", 3, 4), "model_grader_refusal_error"),
    ],
)
async def test_a_judge_without_a_score_costs_the_rollout_with_its_flag(
    reply: JudgeReply, flag: str
) -> None:
    multi = {"type": "multi", "graders": {"a": CHECK, "judge": JUDGE}, "calculate_output": "a"}
    for spec, name in ((JUDGE, ""), ({**multi, "calculate_output": "a + judge"}, "judge")):
        result, _ = await run(spec, judges=InMemoryJudges(lambda _: reply))
        assert isinstance(result, GraderFailure)
        assert result.failure.failure_class is FailureClass.GRADER_BAD_REPLY
        measured = result.failure.measures
        assert measured[name][f"errors/{flag}"] == 1.0
        assert measured[name]["prompt_tokens"] == reply.prompt_tokens
        assert [key for key in measured if f"errors/{flag}" in measured[key]] == [name]


async def test_a_function_that_fails_costs_the_rollout_and_ends_a_job_with_its_code() -> None:
    spec = {"type": "python", "source": "def grade(sample, item):\n    return 'x'"}
    sandbox = InMemorySandbox(
        lambda _: ProgramOutcome("time_limit", "", "no result within 5 s", 5.0)
    )
    result, _ = await run(spec, sandbox=sandbox)
    assert isinstance(result, GraderFailure)
    assert result.failure.measures[""]["errors/python_grader_runtime_error"] == 1.0
    rollout = replace(scored(("valid", 1, 0, 0), None), failure=result.failure)
    lost = too_many_lost([rollout], limit=0.5)
    assert lost is not None
    assert (lost.code, lost.flag) == ("python_grader_runtime_error",) * 2


async def test_a_formula_without_a_value_is_counted_at_the_whole() -> None:
    spec = {"type": "multi", "graders": {"a": CHECK}, "calculate_output": "log(a - 1)"}
    grade = graded((await run({**spec, "invalid_grade": -1.0}))[0])
    assert (grade.score, grade.measures[""]["errors/formula_parse_error"]) == (-1.0, 1.0)
    result, _ = await run(spec)
    assert isinstance(result, GraderFailure)
    assert result.failure.failure_class is FailureClass.GRADER_BAD_SCORE
    assert result.failure.measures[""]["errors/formula_parse_error"] == 1.0
    rollout = replace(scored(("valid", 1, 0, 0), None), failure=result.failure)
    lost = too_many_lost([rollout], limit=0.5)
    assert lost is not None
    assert lost.code == "invalid_score"


@cases("score", [1.7e308, -1.7e308, 1.1e9])
async def test_a_score_that_no_step_could_train_on_is_no_score(score: float) -> None:
    spec = {"type": "endpoint", "name": "mine", "url": "ENDPOINT"}
    result, _ = await run(spec, script=lambda _: Reply(json={"score": score}))
    assert isinstance(result, GraderFailure)
    assert result.failure.failure_class is FailureClass.GRADER_BAD_SCORE
    assert (result.failure.source, result.failure.message) == (
        "mine",
        f"the score {score:g} is beyond ±1e+09",
    )


class IntegerScorer:
    """Scores with an integer that no float can hold."""

    async def score(self, request: GradeRequest) -> ScoreResult:  # noqa: ARG002 - one score
        return ScoreResult(10**400)


async def test_an_integer_score_that_no_float_can_hold_costs_the_rollout() -> None:
    grader = JobGrader("mine", IntegerScorer(), journalled=True)
    with pytest.raises(GraderFailure, match="the score of more than 308 digits is beyond"):
        await grader.grade(trajectory("42"), row(), KEY, journal=InMemoryJournal())


async def test_a_large_score_trains_and_a_part_that_no_mean_holds_has_no_curve() -> None:
    answer = {"score": -1e9, "metrics": {"huge": 1.7e308, "part": 3}}
    spec = {"type": "endpoint", "name": "mine", "url": "ENDPOINT"}
    result, _ = await run(spec, script=lambda _: Reply(json=answer))
    grade = graded(result)
    assert (grade.score, grade.components) == (-1e9, {"part": 3.0})


async def test_a_failure_has_the_tokens_of_the_judges_that_answered() -> None:
    labels = {**JUDGE, "type": "label_model", "labels": ["a"], "passing_labels": ["a"]}
    whole = {**MULTI, "graders": {"judge": labels}, "calculate_output": "judge"}
    for spec, name in ((labels, ""), (whole, "judge")):
        judges = InMemoryJudges(lambda _: verdict("b", prompt_tokens=7, completion_tokens=3))
        result, _ = await run(spec, judges=judges)
        assert isinstance(result, GraderFailure)
        tokens = {"prompt_tokens": 14.0, "completion_tokens": 6.0, "cached_tokens": 0.0}
        calls = {"judge_calls": 2.0}
        flags = {"errors/model_grader_parse_error": 1.0}
        assert result.failure.measures == {name: {**tokens, **calls, **flags}}
