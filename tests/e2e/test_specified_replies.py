"""Replies of a real installation are those that its published specification describes."""

import json
from typing import Any

import httpx
import pytest

from examples.records_agent.dataset import make_rows
from examples.records_agent.records import build_catalogue
from tests.support.e2e.main_job import FinishedJob
from tests.support.embedded.installation import Installation
from tests.support.patience import PATIENCE_S
from tests.support.web.specification import EVENTS, Specification


@pytest.fixture(scope="module")
def specification(live: Installation) -> Specification:
    return Specification(live.base_url)


def test_the_replies_about_a_job_fit(
    live: Installation, finished: FinishedJob, specification: Specification
) -> None:
    path = f"/fine_tuning/jobs/{finished.job.id}"
    for operation, suffix in (
        ("retrieveFineTuningJob", ""),
        ("listFineTuningEvents", "/events"),
        ("listFineTuningJobCheckpoints", "/checkpoints"),
        ("listFineTuningJobMetrics", "/metrics"),
        ("listFineTuningJobRollouts", "/rollouts"),
        ("retrieveFineTuningJobReport", "/report"),
    ):
        reply = live.get(f"{path}{suffix}")
        assert reply
        specification.check(operation, reply)
    specification.check("listPaginatedFineTuningJobs", live.get("/fine_tuning/jobs"))
    specification.check("listModels", live.get("/models"))
    specification.check("listFiles", live.get("/files"))


def ask(live: Installation, finished: FinishedJob, **options: Any) -> httpx.Response:
    row = make_rows(build_catalogue(), "validation", 1, seed=7)[0]
    body = {
        "model": finished.job.fine_tuned_model,
        "messages": row["messages"],
        "tools": row["tools"],
        "temperature": 0,
        "logprobs": True,
        "top_logprobs": 2,
        **options,
    }
    reply = httpx.post(
        f"{live.base_url}/chat/completions",
        json=body,
        headers={"Authorization": f"Bearer {live.api_key}"},
        timeout=PATIENCE_S,
    )
    assert reply.status_code == 200, reply.text
    return reply


def test_chat_replies_fit(
    live: Installation, finished: FinishedJob, specification: Specification
) -> None:
    called = ask(live, finished).json()
    assert called["choices"][0]["message"]["tool_calls"], "the tuned model looks records up"
    assert len(called["choices"][0]["logprobs"]["content"][0]["top_logprobs"]) == 2
    plain = ask(live, finished, tools=None, logprobs=None, top_logprobs=None, max_tokens=4).json()
    assert plain["choices"][0]["message"]["content"]
    for reply in (called, plain):
        specification.check("createChatCompletion", reply)


def test_the_chunks_of_a_stream_fit(
    live: Installation, finished: FinishedJob, specification: Specification
) -> None:
    reply = ask(live, finished, stream=True, stream_options={"include_usage": True})
    *events, done = [line for line in reply.text.split("\n\n") if line]
    assert done == "data: [DONE]"
    chunks = [json.loads(event.removeprefix("data: ")) for event in events]
    assert chunks[-1]["choices"] == []
    assert any(c["choices"][0]["delta"].get("tool_calls") for c in chunks[:-1])
    for chunk in chunks:
        specification.check("createChatCompletion", chunk, kind=EVENTS)
