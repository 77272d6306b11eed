"""Real runs in every mode store the tokens of their rollouts, with the ratios of trained ones."""

from dataclasses import replace
from itertools import cycle
from typing import Any

import pytest

from app.jobs.jobs import JobStatus
from app.rollouts.rollouts import RolloutRow
from app.rollouts.trajectory import TokenRecord
from tests.support.rollout.rollouts import schema
from tests.support.runs.real_run import QUIET, RealRuns, Script, engine_of
from tests.support.runs.spoken import SpokenInference, roomy_model
from workers.job_child import job_run

MODES: list[dict[str, Any]] = [
    {"type": "sync"},
    {"type": "streaming", "minibatches": 2},
    {"type": "async", "max_staleness": 2},
]


async def records(runs: RealRuns, rows: list[RolloutRow]) -> list[TokenRecord]:
    async with runs.world.app.tenant(runs.world.tenant) as unit:
        return [await unit.rollouts.tokens(row.job_id, row.id) for row in rows]


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: str(mode["type"]))
async def test_each_rollout_has_its_tokens(runs: RealRuns, mode: dict[str, Any]) -> None:
    job = await runs.job(stop=QUIET, mode=mode, hyperparameters={"n_epochs": 2})
    rewards = cycle((0.0, 1.0, 0.25, 0.25))
    ended = await runs.run(job, Script(train=lambda _: next(rewards)))
    assert ended.status is JobStatus.SUCCEEDED
    trained = 0
    for split in ("train", "valid", "report"):
        rows = await runs.rollouts(job, split)
        assert rows
        for row, record in zip(rows, await records(runs, rows), strict=True):
            assert_texts(row, record)
            ratios = [ratio for turn in record.turns for ratio in turn.ratios]
            assert len(ratios) == row.completion_tokens
            if row.advantage:
                trained += 1
                assert all(ratio is not None for ratio in ratios)
            else:
                assert set(ratios) == {None}, split
            if row.advantage and row.trace["trained_step"] == 1:
                assert [ratio for turn in record.turns for ratio in turn.ratios] == pytest.approx(
                    [1.0] * len(ratios), abs=2e-3
                ), "the first step trains the policy that sampled"
    assert trained > 4


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


def assert_texts(row: RolloutRow, record: TokenRecord) -> None:
    written = [one for one in row.trace["messages"] if one["role"] == "assistant"]
    assert len(record.turns) == len(row.trace["turns"])
    for turn, message, stored in zip(record.turns, written, row.trace["turns"], strict=True):
        assert len(turn.texts) == len(turn.log_probs) == stored["tokens"]
        shown = "".join(turn.texts)
        if "<think>" not in shown:
            assert shown.strip() == message["content"]
        assert message["content"] in shown
        assert message.get("reasoning_content", "") in shown
        assert all(logprob is not None and logprob <= 0 for logprob in turn.log_probs)
    assert record.omitted == 0
