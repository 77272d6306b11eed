"""Long runs with processes killed at random instants; the seed is printed for a replay."""

import os
import random
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.support.embedded.installation import (
    Installation,
    child_pid,
    example_agent,
    installation,
    wait_until_final,
)
from tests.support.embedded.jobs import create_job, upload_dataset

VICTIMS = ("child", "engine", "runs", "control", "api", "valkey", "postgres")
KILLS = 14
TRAIN_ROWS, VALID_ROWS, BATCH, GROUP = 320, 20, 8, 8

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(1800)]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_random_kills_lose_and_repeat_nothing(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    with (
        example_agent() as endpoint,
        installation(
            tmp_path / "data",
            allow=[endpoint.removeprefix("http://")],
            LEASE__LEASE_S="6",
            LEASE__SWEEP_INTERVAL_S="1",
        ) as live,
    ):
        client = live.client()
        files = upload_dataset(client, tmp_path, train=TRAIN_ROWS, valid=VALID_ROWS)
        quiet = create_job(client, endpoint, files, eval_interval=1000).id
        assert wait_until_final(client, quiet, timeout_s=900).status == "succeeded"
        job_id = create_job(client, endpoint, files, eval_interval=1000).id
        live.wait_for_step(job_id, 1)
        for _ in range(KILLS):
            time.sleep(chance.uniform(0.5, 4.0))
            _kill(live, chance.choice(VICTIMS), job_id)
        job = wait_until_final(client, job_id)
        assert job.status == "succeeded", (seed, job.error)
        assert live.adapters(job_id) == live.adapters(quiet), seed
        rows = live.rollouts(job_id)
        keys = Counter((r["split"], r["step"], r["prompt_index"], r["sample_index"]) for r in rows)
        assert set(keys.values()) == {1}, seed
        assert len(rows) == TRAIN_ROWS * GROUP + 2 * 2 * VALID_ROWS, seed
        assert sorted(live.curve(job_id, "reward/mean")) == list(range(1, TRAIN_ROWS // BATCH + 1))


def _kill(live: Installation, victim: str, job_id: str) -> None:
    """A victim that is not there at this instant is left out."""
    if victim != "child":
        live.kill(victim)
        return
    pid = child_pid(job_id)
    if pid is not None:
        os.kill(pid, signal.SIGKILL)
