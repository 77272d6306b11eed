"""A job whose tools are those of an MCP server: the example's, in a process of its own."""

import json
from pathlib import Path
from typing import Any

import pytest

from examples.records_agent.dataset import make_rows, write_rows
from examples.records_agent.records import build_catalogue
from examples.records_agent.tools import SCHEMAS, call_tool
from tests.support.e2e.main_job import Endpoints
from tests.support.installation import Installation, example_mcp_server, wait_until_final
from tests.support.jobs import upload

TOKEN = "canary-of-an-mcp-server"
GRADER = {
    "type": "string_check",
    "name": "exact",
    "input": "{{ sample.output_text }}",
    "reference": "{{ item.reference_answer }}",
    "operation": "eq",
}


def method(url: str, **server: Any) -> Any:
    sent = {"server_label": "records", "server_url": url, "authorization": TOKEN, **server}
    return {
        "type": "reinforcement",
        "reinforcement": {
            "mcp_servers": [sent],
            "grader": GRADER,
            "hyperparameters": {
                "n_epochs": 1,
                "batch_size": 10,
                "compute_multiplier": 0.5,
                "eval_greedy": False,
            },
        },
    }


@pytest.fixture(scope="module")
def call(live: Installation, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """One step of 10 prompts × 4 rollouts; the rows offer no tool of their own."""
    directory, files = tmp_path_factory.mktemp("mcp"), {}
    for split, count in (("train", 10), ("validation", 10)):
        rows = make_rows(build_catalogue(), split, count, seed=7)  # type: ignore[arg-type]  # a literal
        path: Path = directory / f"{split}.jsonl"
        write_rows(path, ({k: v for k, v in row.items() if k != "tools"} for row in rows))
        files[split] = upload(live.client(), path)
    return {
        "model": "tiny-agent",
        "training_file": files["train"],
        "validation_file": files["validation"],
        "seed": 3,
    }


@pytest.fixture(scope="module")
def job(live: Installation, endpoints: Endpoints, call: dict[str, Any]) -> Any:
    with example_mcp_server(endpoints.hook_port) as url:
        made = live.client().fine_tuning.jobs.create(**call, method=method(url))
        ended = wait_until_final(live.client(), made.id)
    assert ended.status == "succeeded", ended.error
    return ended


def test_a_job_trains_with_the_tools_of_an_mcp_server(live: Installation, job: Any) -> None:
    catalogue, answered = build_catalogue(), 0
    for rollout in live.rollouts(job.id):
        messages = rollout["trace"]["messages"]
        called = {
            call["id"]: call["function"]
            for message in messages
            for call in message.get("tool_calls") or []
        }
        for message in messages:
            if message["role"] != "tool" or message["content"].startswith("Error"):
                continue
            function = called[message["tool_call_id"]]
            output = call_tool(catalogue, function["name"], function["arguments"])
            assert message["content"] == output
            answered += 1
    assert answered > 50
    assert live.curve(job.id, "tool_calls/mean").keys() == {1}
    assert min(live.curve(job.id, "tool_calls/mean").values()) > 0.5


def test_the_job_shows_what_was_listed_and_no_secret(live: Installation, job: Any) -> None:
    shown = live.get(f"/fine_tuning/jobs/{job.id}")
    (server,) = shown["method"]["reinforcement"]["mcp_servers"]
    assert server["authorization"] == "[redacted]"
    assert TOKEN not in json.dumps(shown)
    listed = [
        (tool["name"], tool["description"], json.loads(tool["input_schema_json"]))
        for tool in server["listing"]["tools"]
    ]
    functions = [schema["function"] for schema in SCHEMAS]
    assert listed == [(f["name"], f["description"], f["parameters"]) for f in functions]


def test_a_job_whose_server_is_down_ends_before_its_first_rollout(
    live: Installation, endpoints: Endpoints, call: dict[str, Any]
) -> None:
    made = live.client().fine_tuning.jobs.create(**call, method=method(f"{endpoints.dead}/mcp"))
    ended = wait_until_final(live.client(), made.id)
    assert ended.status == "failed"
    assert ended.error.code == "mcp_server_unavailable"
    assert ended.error.param == "method.reinforcement.mcp_servers[0].server_url"
    assert ended.error.message == (
        "The tools of the MCP server 'records' could not be listed: connection refused."
    )
    assert live.rollouts(made.id) == []
