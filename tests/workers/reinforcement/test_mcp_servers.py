"""The first run of a job lists its MCP servers; every later one offers the same tools."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.jobs.jobs import Job, JobStatus
from app.jobs.reinforcement import ReinforcementMethod
from app.kit.egress_client import EgressClient
from app.kit.errors import RunFailed
from tests.support.mcp.mcp_clients import egress_to
from tests.support.mcp.mcp_server import McpServerUnderTest, mcp_server
from tests.support.rollout.policies import call_text
from tests.support.runs.real_run import RealRuns, Script, engine_of
from tests.support.runs.spoken import SpokenInference, roomy_model
from tests.support.runs.world import METHOD, World
from workers.job_child import job_run
from workers.methods.reinforcement.method import new_listings, with_listings
from workers.methods.reinforcement.rows import load_rows
from workers.runs.context import RunContext
from workers.runs.opening import JobFile


@pytest.fixture
async def served() -> AsyncIterator[tuple[McpServerUnderTest, EgressClient]]:
    with mcp_server() as server:
        async with egress_to(server) as egress:
            yield server, egress


def method_with(*servers: dict[str, Any]) -> dict[str, Any]:
    return {**METHOD, "reinforcement": {**METHOD["reinforcement"], "mcp_servers": list(servers)}}


async def opened(
    world: World, job: Job, egress: EgressClient
) -> tuple[RunContext, ReinforcementMethod]:
    """Opens the next claim of a job, with the method as its row has it."""
    context = replace(await world.context(job), egress=egress)
    method = ReinforcementMethod.model_validate(context.job.method.options)
    return context, method


async def test_a_resumed_run_offers_what_the_first_one_listed(
    world: World, served: tuple[McpServerUnderTest, EgressClient], tmp_path: Path
) -> None:
    server, egress = served
    entry = {"server_label": "records", "server_url": server.url, "allowed_tools": ["count"]}
    job = await world.job(method=method_with(entry))
    context, method = await opened(world, job, egress)
    listings = await new_listings(context, method)
    await context.in_unit(lambda unit: unit.jobs.record_listings(listings))
    first = with_listings(method, listings)
    heard = len(server.heard)
    context, resumed = await opened(world, job, egress)
    assert await new_listings(context, resumed) == {}
    assert len(server.heard) == heard
    kept = [server.listing for server in resumed.mcp_servers]
    assert kept == [server.listing for server in first.mcp_servers]
    assert kept[0] is not None
    path = tmp_path / "rows.jsonl"
    path.write_text('{"messages": [{"role": "user", "content": "hi"}]}\n' * 10)
    file = JobFile(path, "training", 10)
    rows = await load_rows(file, resumed)
    (offered,) = rows[3].tools
    assert offered["function"]["name"] == "count"
    assert list(offered["function"]["parameters"]) == ["type", "properties", "required", "title"]
    assert rows[3].tools == (await load_rows(file, first))[3].tools


async def test_names_that_clash_end_the_job(
    world: World, served: tuple[McpServerUnderTest, EgressClient]
) -> None:
    server, egress = served
    entry = {"server_label": "records", "server_url": server.url, "allowed_tools": ["count"]}
    job = await world.job(method=method_with(entry, {**entry, "server_label": "again"}))
    context, method = await opened(world, job, egress)
    with pytest.raises(RunFailed) as ended:
        await new_listings(context, method)
    assert (ended.value.code, ended.value.param) == (
        "duplicate_tool",
        "method.reinforcement.mcp_servers[1].allowed_tools",
    )
    assert "a tool of the MCP server 'records'" in ended.value.message


async def test_an_allowed_tool_that_is_not_listed_ends_the_job(
    world: World, served: tuple[McpServerUnderTest, EgressClient]
) -> None:
    server, egress = served
    entry = {"server_label": "records", "server_url": server.url, "allowed_tools": ["cont"]}
    context, method = await opened(world, await world.job(method=method_with(entry)), egress)
    with pytest.raises(RunFailed) as ended:
        await new_listings(context, method)
    assert ended.value.code == "unknown_tool"
    assert "has no tool 'cont'. Its tools: broken, count" in ended.value.message


LISTED, TEMPLATE = "notes://a/lead", "notes://b/{name}"
READ = {LISTED: "lead costs 2", "notes://b/gold": "gold costs 7"}


def reading(prompt: str, seed: int) -> str:
    """Two of three rollouts read a resource, and answer with what they read."""
    known = [content for content in READ.values() if content in prompt]
    uri = (*READ, None)[seed % 3]
    if known:
        return known[0]
    asked = json.dumps({"uri": uri})
    return "I cannot say" if uri is None else call_text("read_records", asked)


async def test_a_job_trains_on_what_its_model_reads_of_the_resources(runs: RealRuns) -> None:
    server_options: dict[str, Any] = {
        "resources": {LISTED: READ[LISTED]},
        "templates": {TEMPLATE: {"gold": READ["notes://b/gold"]}},
    }
    with mcp_server(**server_options) as server, engine_of(roomy_model()) as engine:
        read = replace(runs, engine=engine)
        entry = {
            "server_label": "records",
            "server_url": server.url,
            "resources": True,
            "allowed_tools": ["count"],
        }
        grader = {"type": "contains", "name": "g", "needles": ["costs"]}
        job = await read.job(mcp_servers=[entry], grader=grader)
        async with egress_to(server) as egress, read.context(job, Script()) as context:
            reader = SpokenInference(engine.url, reading)
            try:
                await job_run(replace(context, egress=egress, inference=reader)).run()
            finally:
                await reader.aclose()
        assert (await read.world.read(job)).status is JobStatus.SUCCEEDED
        rollouts = [
            row for split in ("train", "valid", "report") for row in await read.rollouts(job, split)
        ]
        outputs = {
            row.id: [m["content"] for m in row.trace["messages"] if m["role"] == "tool"]
            for row in rollouts
        }
        asked = [heard.message["params"]["uri"] for heard in server.read()]
        keys = {heard.headers["idempotency-key"] for heard in server.read()}
        called = await read.curve(job, "tool_calls/mean")
    assert len(asked) == len(keys) == sum(map(len, outputs.values()))
    assert {READ[uri] for uri in asked} == set(READ.values())
    assert sorted(READ[uri] for uri in asked) == sorted(
        output for read_outputs in outputs.values() for output in read_outputs
    )
    assert {row.reward for row in rollouts if outputs[row.id]} == {1.0}
    assert {row.reward for row in rollouts if not outputs[row.id]} == {0.0}
    assert all(0 < mean < 1 for mean in called.values()), called
