"""A job whose tools are those of an MCP server: the example's, in a process of its own. The worker
is killed in the middle of a call.
"""

import asyncio
import json
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from examples.records_agent.dataset import make_rows, write_rows
from examples.records_agent.records import build_catalogue
from examples.records_agent.tools import SCHEMAS, call_tool
from tests.support.e2e.main_job import Endpoints
from tests.support.embedded.installation import (
    Installation,
    child_pid,
    example_mcp_server,
    wait_until_final,
)
from tests.support.embedded.jobs import upload
from tests.support.endpoints import ReceivedRequest, Reply, endpoint_in_thread
from tests.support.patience import PATIENCE_S

TOKEN = "canary-of-an-mcp-server"
HELD = 30
"""The tool call whose answer the worker does not live to read."""
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


@dataclass
class Relay:
    """Passes requests on to a server, notes its tool calls, and holds the answer to one of them."""

    upstream: str
    calls: list[tuple[str, str, Any]] = field(default_factory=list)
    """Rollout, idempotency key and parameters of each call that the server has run."""
    held: threading.Event = field(default_factory=threading.Event)
    released: threading.Event = field(default_factory=threading.Event)

    async def __call__(self, received: ReceivedRequest) -> Reply:
        sent = {
            name: value
            for name, value in received.headers.items()
            if name not in ("host", "content-length", "accept-encoding", "connection")
        }
        async with httpx.AsyncClient(timeout=PATIENCE_S) as client:
            reply = await client.post(self.upstream, content=received.body, headers=sent)
        if received.json.get("method") == "tools/call":
            key = received.headers["idempotency-key"]
            self.calls.append((received.headers["x-rollout-id"], key, received.json["params"]))
            if len(self.calls) == HELD:
                self.held.set()
                await asyncio.to_thread(self.released.wait, PATIENCE_S)
        kind = {"Content-Type": reply.headers.get("content-type", "application/json")}
        return Reply(reply.status_code, body=reply.content, headers=kind)


@contextmanager
def relayed(port: int) -> Iterator[tuple[Relay, str]]:
    with example_mcp_server(0) as upstream:
        relay = Relay(upstream)
        with endpoint_in_thread(relay, port=port) as server:
            try:
                yield relay, server.url("/mcp")
            finally:
                relay.released.set()


Played = tuple[Any, Relay]
"""The ended job, and what its server was asked."""


@pytest.fixture(scope="module")
def played(live: Installation, endpoints: Endpoints, call: dict[str, Any]) -> Played:
    with relayed(endpoints.hook_port) as (relay, url):
        made = live.client().fine_tuning.jobs.create(**call, method=method(url))
        assert relay.held.wait(PATIENCE_S)
        pid = child_pid(made.id)
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        relay.released.set()
        ended = wait_until_final(live.client(), made.id)
    assert ended.status == "succeeded", ended.error
    return ended, relay


@pytest.fixture(scope="module")
def job(played: Played) -> Any:
    return played[0]


@pytest.mark.long
def test_the_ledger_has_every_call_though_the_worker_was_killed(
    live: Installation, played: Played
) -> None:
    job, relay = played
    asked = dict[str, tuple[str, Any]]()
    for rollout_id, key, parameters in relay.calls:
        one = (rollout_id, {name: parameters[name] for name in ("name", "arguments")})
        assert asked.setdefault(key, one) == one, "a key stands for one call of one rollout"
    assert len(asked) < len(relay.calls), "the call that was held is sent again under its key"
    counted, unparsed = dict[str, tuple[str, Any]](), list[str]()
    for rollout in live.rollouts(job.id):
        messages = rollout["trace"]["messages"]
        functions = {
            one["id"]: one["function"]
            for message in messages
            for one in message.get("tool_calls") or []
        }
        for message in messages:
            if message["role"] != "tool":
                continue
            called = functions.get(message["tool_call_id"])
            if called is None:  # the call's text could not be parsed: no server saw it
                unparsed.append(message["content"])
            else:
                counted[message["tool_call_id"]] = (rollout["trace_id"], called)
    assert asked.keys() <= counted.keys()
    for key, (rollout_id, parameters) in asked.items():
        ledgers, called = counted[key]
        assert (ledgers, called["name"]) == (rollout_id, parameters["name"])
        assert json.loads(called["arguments"]) == parameters["arguments"]
    usage = live.get(f"/fine_tuning/jobs/{job.id}")["usage_metrics"]
    assert all(text.startswith("Error") for text in unparsed), unparsed
    assert usage["tool_calls"] == len(counted) + len(unparsed)


@pytest.mark.long
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


@pytest.mark.long
def test_the_job_shows_what_was_listed_and_no_secret(live: Installation, job: Any) -> None:
    shown = live.get(f"/fine_tuning/jobs/{job.id}")
    (server,) = shown["method"]["reinforcement"]["mcp_servers"]
    assert server["authorization"] == "[redacted]"
    assert TOKEN not in json.dumps(shown)
    listed = [
        (tool["name"], tool["description"], json.loads(tool["input_schema_json"]))
        for tool in server["listing"]["tools"]
    ]
    (in_list,) = [each for each in live.get("/fine_tuning/jobs")["data"] if each["id"] == job.id]
    (short,) = in_list["method"]["reinforcement"]["mcp_servers"]
    assert "listing" not in short
    assert short["listing_summary"]["tool_names"] == [name for name, _, _ in listed]
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
