"""Threads read answers, references and replies: the event loop serves all tenants."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from app.graders.kinds import SINGLE_MODELS
from app.settings import EmbeddingSettings
from tests.support.endpoints import EndpointServer, ReceivedRequest, Reply, endpoint
from tests.support.grading.judges import judged_reply
from tests.support.grading.loop_work import LONG, watched_loop
from tests.support.registry.trials import Trials, judge, serving
from tests.support.sandbox.running import RunningSandbox
from tests.support.stack import Database

ANSWER = "```\n{}\n```\n" * (LONG // 10)
CALLS = [{"name": "f", "arguments": {"text": "x" * LONG}}]
QUESTION = [{"role": "user", "content": "How?"}]
CALLING = ("endpoint", "score_model", "label_model", "llm_judge", "ai_judge")
SENT = "{{sample.output_text}}"
GRADERS: dict[str, dict[str, Any]] = {
    "string_check": {"input": SENT, "reference": "{{item.long}}", "operation": "eq"},
    "text_similarity": {
        "input": SENT,
        "reference": "{{item.long}}",
        "evaluation_metric": "rouge_1",
    },
    "exact_match": {"reference": "{{item.long}}"},
    "contains": {"needles": ["{{item.long}}"]},
    "json_valid": {"fenced": True, "json_schema": {"type": "object"}},
    "regex": {"pattern": "x"},
    "format": {"tags": ["a"]},
    "length_bounds": {"max": 1, "unit": "items"},
    "tool_call": {"reference": "{{item.calls}}"},
    "python": {"source": "def grade(sample, item):\n    return len(item['long'])\n"},
    "code_execution": {"tests": '[{"stdin": "", "stdout": ""}]'},
    "score_model": {},
    "label_model": {"labels": ["1", "2"], "passing_labels": ["1"]},
    "llm_judge": {"rubric": [{"name": "right", "description": "It is right."}]},
    "ai_judge": {"rubric": "Is it right?"},
    "endpoint": {},
    "environment": {},
}
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    **{name: (name, fields) for name, fields in GRADERS.items()},
    "cosine": ("text_similarity", {**GRADERS["text_similarity"], "evaluation_metric": "cosine"}),
    "calls of the rollout": ("tool_call", {"reference": "{{item.calls}}", "source": "rollout"}),
    "tokens": ("length_bounds", {"max": 1, "unit": "tokens"}),
}
SAMPLE = {
    "tool_calls": [{"name": "f", "arguments": f'{{"text": "{"y" * LONG}"}}'}],
    "turns": [{"content": ANSWER, "completion_tokens": 7}],
    "environment": {"reward": 1.0, "components": {"x" * LONG: 1.0}, "done": True},
}


def answer(request: ReceivedRequest) -> Reply:
    """Answers as a grader and as a judge, at length."""
    if request.path == "/grade":
        return Reply(json={"score": 0.5, "metrics": {"x": 1.0}, "more": "x" * LONG})
    value = '{"1": 1}' if b"<rollout id=" in request.body else '"1"'
    return judged_reply(request, f'{"x" * LONG}\n{{"KEY": {value}}}')


@pytest.fixture
async def server() -> AsyncIterator[EndpointServer]:
    async with endpoint(answer) as running:
        yield running


@pytest.fixture
async def trials(
    database: Database, server: EndpointServer, sandbox: RunningSandbox
) -> AsyncIterator[Trials]:
    embeddings = EmbeddingSettings(model="embedder", base_url=server.url("/v1"))
    async with serving(database, server, sandbox=sandbox.socket, embeddings=embeddings) as running:
        yield running


def test_every_type_is_here() -> None:
    assert GRADERS.keys() == SINGLE_MODELS.keys()


SCANNED_ONCE = {
    "app.graders.judge.question_of",
    "app.graders.judge.last_words",
}
"""Keep a question, or the end of an answer."""


async def test_no_text_of_a_trial_is_read_on_the_loop(
    trials: Trials, server: EndpointServer
) -> None:
    item = {"messages": QUESTION, "answer": "42", "long": ANSWER, "calls": CALLS}
    on_the_loop = dict[str, set[str]]()
    for name, (kind, fields) in VARIANTS.items():
        grader = {"type": kind, "name": "g", **fields}
        if kind == "endpoint":
            grader["url"] = server.url("/grade")
        elif kind in CALLING:
            grader = {**judge("their-model", base_url=server.url("/v1")), **grader}
            if "rubric" in grader:
                del grader["input"]
        whole = {"type": "multi", "graders": {"a": grader}, "calculate_output": "a"}
        server.received.clear()
        with watched_loop() as found:
            result = await trials.run(whole, ANSWER, item=item, sample=SAMPLE)
        assert not result["metadata"]["errors"]["invalid_variable_error"]
        assert len(server.received) == (kind in CALLING), name
        on_the_loop |= {name: found - SCANNED_ONCE} if found - SCANNED_ONCE else {}
    assert on_the_loop == {}
