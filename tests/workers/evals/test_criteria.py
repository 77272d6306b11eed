"""The scores of one item of an eval run, with a scripted judge and no database."""

import json
import re
from types import SimpleNamespace
from typing import Any, cast

from app.evals.evals import INVOCATIONS, Eval, Tally, result_names, token_usage
from app.files.datasets import DatasetRow
from app.graders.definitions import read_grader
from app.graders.judge import JudgeFault, JudgeQuestion, JudgeReply
from app.graders.scorer import GradingPorts
from app.kit.endpoint_pool import EndpointPool
from app.kit.endpoints import CallSigner, FaultKind
from app.kit.ids import GroupKey, SampleKey
from app.rollouts.trajectory import Failure, Grade, GradeOrFailure, Trajectory
from tests.support.grading.judges import CODED, InMemoryJudges
from tests.support.rollout.rollouts import SECRET_KEY
from tests.support.sandbox.in_memory import InMemorySandbox
from workers.evals.context import EvalContext, build_criterion
from workers.evals.items import CriteriaScorer
from workers.journal import InMemoryJournal

LABELS: dict[str, Any] = {
    "type": "label_model",
    "name": "polite",
    "model": "judge-1",
    "input": [{"role": "user", "content": "{{sample.output_text}}"}],
    "labels": ["polite", "rude"],
    "passing_labels": ["polite"],
}
RULER: dict[str, Any] = {"type": "ai_judge", "name": "ruler", "model": "judge-2"}
PROMPT = {"role": "user", "content": "How long?"}


def scorer_of(
    judges: InMemoryJudges, *criteria: dict[str, Any], answers: list[str], compares: bool = True
) -> tuple[CriteriaScorer, dict[SampleKey, str]]:
    ports = GradingPorts(
        cast("EndpointPool", None),
        CallSigner(SECRET_KEY, project_id="proj_a"),
        judges,
        InMemorySandbox(),
    )
    of = Eval(id="eval_1", name="e", data_source_config={}, testing_criteria=list(criteria))
    context = SimpleNamespace(
        run=SimpleNamespace(id="evalrun_1"),
        of=of,
        source=SimpleNamespace(samples=len(answers)),
        criteria=[
            build_criterion(read_grader(criterion), ports, compares=compares)
            for criterion in criteria
        ],
    )
    keys = GroupKey("evalrun_1", "test", 0, 0).samples(len(answers))
    texts = dict(zip(keys, answers, strict=True))
    samples = {key: {"output_text": text} for key, text in texts.items()}
    return CriteriaScorer(cast("EvalContext", context), 0, samples), texts


async def scored(scorer: CriteriaScorer, samples: dict[SampleKey, str]) -> list[GradeOrFailure]:
    rollouts = [
        Trajectory(key, messages=[PROMPT, {"role": "assistant", "content": text}])
        for key, text in samples.items()
    ]
    return await scorer.score(rollouts, DatasetRow(0, [], [], {}), journal=InMemoryJournal())


async def test_an_answer_without_a_label_is_an_error_that_quotes_it_and_counts_its_tokens() -> None:
    judges = InMemoryJudges(
        lambda _: JudgeReply('{"KEY": "kind"}', prompt_tokens=7, completion_tokens=2)
    )
    multi = {"type": "multi", "name": "m", "graders": {"a": LABELS}, "calculate_output": "a"}
    scorer, keys = scorer_of(judges, LABELS, multi, answers=["Hello"])
    (verdict,) = await scored(scorer, keys)
    (outcome,) = scorer.outcomes.values()
    assert isinstance(verdict, Failure)
    assert outcome.results == []
    assert len(outcome.faults) == 2
    for fault in outcome.faults:
        assert fault["code"] == "grader_bad_reply"
        assert "the judge's verdict is none of the labels: " in fault["message"]
        assert fault["message"].endswith(': "kind"}\'')
    assert outcome.usage == [("judge-1", {INVOCATIONS: 2, **token_usage(14, 4)})] * 2
    of = Eval(id="eval_1", name="e", data_source_config={}, testing_criteria=[LABELS, multi])
    tally = Tally(result_names(of))
    tally.add("error", outcome.results, outcome.usage)
    (usage,) = tally.usage
    assert (usage["model_name"], usage["invocation_count"]) == ("judge-1", 4)
    assert (usage["prompt_tokens"], usage["total_tokens"]) == (28, 36)


async def test_a_score_beyond_the_bound_is_an_error_of_the_item_and_no_result() -> None:
    check = {"type": "string_check", "name": "a", "input": "x", "reference": "x", "operation": "eq"}
    multi = {"type": "multi", "name": "m", "graders": {"a": check}, "calculate_output": "a * 2e9"}
    scorer, keys = scorer_of(InMemoryJudges(lambda _: JudgeReply("")), multi, answers=["Hello"])
    (verdict,) = await scored(scorer, keys)
    (outcome,) = scorer.outcomes.values()
    assert isinstance(verdict, Failure)
    assert (outcome.results, outcome.faults) == (
        [],
        [{"code": "grader_bad_score", "message": "m: the score 2e+09 is beyond ±1e+09"}],
    )


def by_length(question: JudgeQuestion) -> JudgeReply:
    """Scores each rollout by the length of its answer, the longest 1."""
    asked = question.messages[-1]["content"]
    shown = re.findall(r'<rollout id="(\d+)">\n(.*?)\n</rollout>', asked, re.DOTALL)
    lengths = {number: len(json.loads(text)[-1]["content"]) for number, text in shown}
    scores = {number: length / max(lengths.values()) for number, length in lengths.items()}
    reasons = "".join(f"{number}: {length} long\n" for number, length in lengths.items())
    said = reasons + json.dumps({CODED: scores})
    return JudgeReply(said, prompt_tokens=30, completion_tokens=9)


async def test_a_judge_of_groups_sees_all_samples_of_an_item_in_one_question() -> None:
    judges = InMemoryJudges(by_length)
    answers = ["a" * 8, "b" * 2, "c" * 4]
    scorer, keys = scorer_of(judges, {**RULER, "pass_threshold": 0.5}, answers=answers)
    verdicts = await scored(scorer, keys)
    (question,) = judges.asked
    assert question.messages[-1]["content"].count("How long?") == 1, "a prompt stands there once"
    results = [scorer.outcomes[key].results[0] for key in keys]
    assert [(each["score"], each["passed"]) for each in results] == [
        (1.0, True), (0.25, False), (0.5, True),
    ]  # fmt: skip
    assert results[1]["sample"]["reasons"] == {"": "2 long"}
    assert [verdict.score for verdict in verdicts if isinstance(verdict, Grade)] == [1.0, 0.0, 1.0]
    used = [scorer.outcomes[key].usage for key in keys]
    assert used == [[("judge-2", {INVOCATIONS: 1, **token_usage(30, 9)})], [], []], (
        "a question counts once"
    )


async def test_a_multi_joins_the_judge_of_the_group_with_scores_of_single_samples() -> None:
    def answer(question: JudgeQuestion) -> JudgeReply:
        if question.model == "judge-2":
            return by_length(question)
        polite = "rude" if "cccc" in str(question.messages) else "polite"
        text = json.dumps({CODED: polite})
        return JudgeReply(text, prompt_tokens=5, completion_tokens=1)

    judges = InMemoryJudges(answer)
    multi = {
        "type": "multi",
        "name": "m",
        "graders": {"ruler": RULER, "polite": LABELS},
        "calculate_output": "ruler + polite",
    }
    scorer, keys = scorer_of(judges, multi, answers=["a" * 8, "b" * 2, "c" * 4])
    await scored(scorer, keys)
    assert [scorer.outcomes[key].results[0]["score"] for key in keys] == [2.0, 1.25, 0.5]
    assert sorted(question.model for question in judges.asked) == ["judge-1"] * 3 + ["judge-2"]
    own = ("judge-1", {INVOCATIONS: 1, **token_usage(5, 1)})
    assert [sorted(scorer.outcomes[key].usage) for key in keys] == [
        [own, ("judge-2", {INVOCATIONS: 1, **token_usage(30, 9)})], [own], [own],
    ]  # fmt: skip


async def test_a_judge_that_is_unavailable_makes_every_sample_of_the_item_an_error() -> None:
    def unavailable(_: JudgeQuestion) -> JudgeReply:
        raise JudgeFault(FaultKind.UNREACHABLE, "no connection")

    scorer, keys = scorer_of(InMemoryJudges(unavailable), RULER, answers=["a", "b"])
    verdicts = await scored(scorer, keys)
    assert all(isinstance(verdict, Failure) for verdict in verdicts)
    codes = [[fault["code"] for fault in scorer.outcomes[key].faults] for key in keys]
    assert codes == [["grader_unreachable"]] * 2


async def test_a_sample_that_came_with_its_item_is_judged_alone() -> None:
    judges = InMemoryJudges(by_length)
    scorer, keys = scorer_of(judges, RULER, answers=["abc"], compares=False)
    await scored(scorer, keys)
    (question,) = judges.asked
    assert "How long?" not in question.messages[-1]["content"]
    assert next(iter(scorer.outcomes.values())).results[0]["score"] == 1.0
