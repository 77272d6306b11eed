"""The scores of one item of an eval run, with a scripted judge and no database."""

import json
from types import SimpleNamespace
from typing import Any, cast

from app.domain.data.dataset import DatasetRow
from app.domain.evals.evals import Eval, Tally, result_names, token_usage
from app.domain.graders.graders import read_grader
from app.domain.ids import GroupKey
from app.domain.rollouts.trajectory import Failure, Trajectory
from app.gateways.endpoints.pool import EndpointPool
from app.gateways.endpoints.signing import CallSigner
from app.gateways.inference.judges import InMemoryJudges, JudgeReply
from app.gateways.sandbox.sandbox import InMemorySandbox
from app.grading.build import GradingPorts, build_scorer
from tests.support.rollouts import SECRET_KEY
from workers.evals.context import EvalContext
from workers.evals.criteria import CriteriaScorer
from workers.journal.journal import InMemoryJournal

LABELS: dict[str, Any] = {
    "type": "label_model",
    "name": "polite",
    "model": "judge-1",
    "input": [{"role": "user", "content": "{{sample.output_text}}"}],
    "labels": ["polite", "rude"],
    "passing_labels": ["polite"],
}


async def test_an_answer_without_a_label_is_an_error_that_quotes_it_and_counts_its_tokens() -> None:
    text = json.dumps({"result": "kind"})
    judges = InMemoryJudges(lambda _: JudgeReply(text, prompt_tokens=7, completion_tokens=2))
    no_endpoints = cast("EndpointPool", None)
    ports = GradingPorts(
        no_endpoints, CallSigner(SECRET_KEY, project_id="proj_a"), judges, InMemorySandbox()
    )
    multi = {"type": "multi", "name": "m", "graders": {"a": LABELS}, "calculate_output": "a"}
    of = Eval(id="eval_1", name="e", data_source_config={}, testing_criteria=[LABELS, multi])
    scorers = [build_scorer(read_grader(criterion), ports) for criterion in of.testing_criteria]
    context = SimpleNamespace(run=SimpleNamespace(id="evalrun_1"), of=of, scorers=scorers)
    scorer = CriteriaScorer(cast("EvalContext", context), 0, {"output_text": "Hello"})
    (key,) = GroupKey("evalrun_1", "test", 0, 0).samples(1)
    verdict = await scorer.score_early(
        Trajectory(key, [], [], []), DatasetRow(0, [], [], {}), journal=InMemoryJournal()
    )
    assert isinstance(verdict, Failure)
    assert scorer.results == []
    for fault in scorer.faults:
        assert fault["code"] == "grader_bad_reply"
        assert fault["message"].endswith(f"none of the labels as `result`: {text!r}")
    assert scorer.usage == [("judge-1", token_usage(7, 2))] * 2
    tally = Tally(result_names(of))
    tally.add("error", scorer.results, scorer.usage)
    (usage,) = tally.usage
    assert (usage["model_name"], usage["invocation_count"]) == ("judge-1", 2)
    assert (usage["prompt_tokens"], usage["total_tokens"]) == (14, 18)


async def test_a_score_beyond_the_bound_is_an_error_of_the_item_and_no_result() -> None:
    check = {"type": "string_check", "name": "a", "input": "x", "reference": "x", "operation": "eq"}
    multi = {"type": "multi", "name": "m", "graders": {"a": check}, "calculate_output": "a * 2e9"}
    ports = GradingPorts(
        cast("EndpointPool", None),
        CallSigner(SECRET_KEY, project_id="proj_a"),
        InMemoryJudges(lambda _: JudgeReply("")),
        InMemorySandbox(),
    )
    of = Eval(id="eval_1", name="e", data_source_config={}, testing_criteria=[multi])
    scorers = [build_scorer(read_grader(multi), ports)]
    context = SimpleNamespace(run=SimpleNamespace(id="evalrun_1"), of=of, scorers=scorers)
    scorer = CriteriaScorer(cast("EvalContext", context), 0, {"output_text": "Hello"})
    (key,) = GroupKey("evalrun_1", "test", 0, 0).samples(1)
    verdict = await scorer.score_early(
        Trajectory(key, [], [], []), DatasetRow(0, [], [], {}), journal=InMemoryJournal()
    )
    assert isinstance(verdict, Failure)
    assert (scorer.results, scorer.faults) == (
        [],
        [{"code": "grader_bad_score", "message": "m: the score 2e+09 is beyond ±1e+09"}],
    )
