"""Real runs in every mode store the tokens of their rollouts, with the ratios of trained ones."""

from itertools import cycle
from typing import Any

import pytest

from app.jobs.jobs import JobStatus
from app.rollouts.rollouts import RolloutRow
from app.rollouts.trajectory import TokenRecord
from tests.support.runs.real_run import QUIET, RealRuns, Script

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
