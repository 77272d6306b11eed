"""The worker that reads a job's files first reports what `validate` warns about in them."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.mcp.mcp_clients import egress_to
from tests.support.mcp.mcp_server import mcp_server
from tests.support.models.tiny_model import DROPS_THINKING
from tests.support.runs.real_run import QUIET, ROWS, RealRuns, Script, TinyEngine, tiny_engine
from tests.support.runs.world import World
from workers.job_child import job_run

NAMES_ONLY = DROPS_THINKING.replace("tool | tojson", "tool.function.name")
ROW = {"messages": [{"role": "user", "content": "part P?"}]}


async def test_the_first_claim_reports_the_warnings_about_the_files_once(
    world: World, engine: TinyEngine
) -> None:
    runs = RealRuns(world, engine, rows=(ROW,) * ROWS)
    job = await runs.job(stop=QUIET, nothing_to_learn={"action": "off"})
    await runs.run(job)
    warned = [event.message for event in await runs.events(job) if event.level == "warn"]
    assert warned[:3] == [
        "9 rows of the training file repeat an earlier prompt.",
        "9 rows of the validation file repeat an earlier prompt.",
        warned[2],
    ]
    assert warned[2].startswith("10 rows of the validation file are in the training file too")
    assert len(warned) == len(set(warned))


async def test_a_claim_after_the_control_plane_read_the_files_does_not_repeat_them(
    world: World, engine: TinyEngine
) -> None:
    runs = RealRuns(world, engine, rows=(ROW,) * ROWS)
    job = await runs.job(stop=QUIET, nothing_to_learn={"action": "off"})
    async with world.app.tenant(world.tenant) as unit:
        await unit.jobs.mark_validated(job.id, 2, job.method)
    await runs.run(job)
    warned = [event.message for event in await runs.events(job) if event.level == "warn"]
    assert not [message for message in warned if "repeat an earlier prompt" in message]


@pytest.mark.parametrize("is_validated", [False, True])
async def test_tools_of_servers_that_the_template_hides_are_reported_by_the_first_run(
    world: World, tmp_path: Path, *, is_validated: bool
) -> None:
    assert NAMES_ONLY != DROPS_THINKING
    with mcp_server() as server, tiny_engine(tmp_path / "model", NAMES_ONLY) as engine:
        runs = RealRuns(world, engine)
        entry = {"server_label": "records", "server_url": server.url, "allowed_tools": ["count"]}
        job = await runs.job(mcp_servers=[entry], nothing_to_learn={"action": "off"})
        if is_validated:
            async with world.app.tenant(world.tenant) as unit:
                await unit.jobs.mark_validated(job.id, 2, job.method)
        async with egress_to(server) as egress, runs.context(job, Script()) as context:
            await job_run(replace(context, egress=egress)).run()
    warned = [event.message for event in await runs.events(job) if event.level == "warn"]
    hidden = [text for text in warned if text.startswith("Tool 'count': the chat template")]
    assert len(hidden) == 1, warned
