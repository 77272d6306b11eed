"""Rollouts of several rows are trained in all of them."""

from dataclasses import replace

import pytest

from app.jobs.jobs import JobStatus
from app.rollouts.rollouts import RolloutRow
from app.rollouts.trajectory import TokenRecord
from tests.support.rollout.rollouts import schema
from tests.support.runs.real_run import QUIET, RealRuns, Script, engine_of
from tests.support.runs.spoken import SpokenInference, roomy_model
from workers.job_child import job_run


async def records(runs: RealRuns, rows: list[RolloutRow]) -> list[TokenRecord]:
    async with runs.world.app.tenant(runs.world.tenant) as unit:
        return [await unit.rollouts.tokens(row.job_id, row.id) for row in rows]


async def test_a_rollout_of_two_rows_is_trained_in_both(runs: RealRuns) -> None:
    """A call without spaces, which no template writes: the chat renders it anew."""
    lookup = schema("lookup", record="string")
    read = tuple({**row, "tools": [lookup]} for row in runs.rows)
    call = '<tool_call>\n{"name":"lookup","arguments":{"record":"P1"}}\n</tool_call>'
    with engine_of(roomy_model()) as engine:
        runs = replace(runs, engine=engine, rows=read)
        job = await runs.job(
            stop=QUIET, tools=[{"name": "lookup", "server_url": "http://tool.test/"}]
        )
        async with runs.context(job, Script(tool="found 41")) as context:
            spoken = SpokenInference(
                engine.url, lambda prompt, seed: f"It is {seed}." if "found" in prompt else call
            )
            try:
                await job_run(replace(context, inference=spoken)).run()
            finally:
                await spoken.aclose()
    ended = await runs.world.read(job)
    assert ended.status is JobStatus.SUCCEEDED, ended.error
    rows = [row for row in await runs.rollouts(job, "train") if row.advantage]
    assert rows
    for row, record in zip(rows, await records(runs, rows), strict=True):
        assert [turn["row"] for turn in row.trace["turns"]] == [0, 1]
        for turn, stored in zip(record.turns, row.trace["turns"], strict=True):
            assert turn.ratios == pytest.approx([1.0] * stored["tokens"], abs=2e-3)
    assert (await runs.curve(job, "turns/rows_mean"))[1] == 2.0
    played = [row for row in await runs.rollouts(job, "train") if row.advantage is not None]
    tokens = await runs.curve(job, "train/tokens")
    assert sum(tokens.values()) == sum(row.completion_tokens for row in played)
