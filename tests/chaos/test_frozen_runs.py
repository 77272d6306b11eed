"""Runs frozen at random instants, outside and inside a transaction: each is replaced, and the
adapter is that of the uninterrupted run. The seed is printed for a replay.
"""

import os
import random
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import psycopg
import pytest

from tests.support.embedded.installation import (
    Installation,
    child_pid,
    example_agent,
    installation,
    wait_until_final,
)
from tests.support.embedded.jobs import create_job, upload_dataset
from tests.support.patience import wait_for

FREEZES = 10
TRAIN_ROWS, VALID_ROWS = 160, 10
LEASE_S = 2.0
MOST_LEASES = 3.0
"""Leases after which a frozen process has ended: `make chaos` is of a machine with nothing else."""

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(1800)]


def _in_transaction(live: Installation) -> bool:
    """Returns True while a session of a worker is idle in a transaction."""
    with psycopg.connect(live.superuser_url(), autocommit=True) as connection:
        row = connection.execute(
            "SELECT count(*) FROM pg_stat_activity "
            "WHERE state = 'idle in transaction' AND usename = 'agent_rft_worker'"
        ).fetchone()
    return row is not None and row[0] > 0


def _frozen(live: Installation, job_id: str, chance: random.Random, *, inside: bool) -> int:
    """Stops the process of the run inside or outside a transaction, and returns its id."""
    while True:
        time.sleep(chance.uniform(0.2, 1.0))
        pid = child_pid(job_id)
        if pid is None:
            continue
        os.kill(pid, signal.SIGSTOP)
        if _in_transaction(live) == inside:
            return pid
        os.kill(pid, signal.SIGCONT)
        time.sleep(chance.uniform(0.0, 0.05))


def _has_ended(pid: int) -> bool:
    return not Path(f"/proc/{pid}").exists()


@pytest.mark.parametrize("seed", [1])
@pytest.mark.parametrize("inside", [False, True])
def test_every_frozen_run_is_replaced(
    tmp_path: Path, record_property: Callable[[str, object], None], seed: int, *, inside: bool
) -> None:
    chance = random.Random(seed)
    with (
        example_agent() as endpoint,
        installation(
            tmp_path / "data",
            allow=[endpoint.removeprefix("http://")],
            LEASE__LEASE_S=str(LEASE_S),
            LEASE__SWEEP_INTERVAL_S="0.5",
            LEASE__MAX_ATTEMPTS="50",
        ) as live,
    ):
        client = live.client()
        files = upload_dataset(client, tmp_path, train=TRAIN_ROWS, valid=VALID_ROWS)
        quiet = create_job(client, endpoint, files, eval_interval=1000).id
        assert wait_until_final(client, quiet, timeout_s=900).status == "succeeded"
        job_id = create_job(client, endpoint, files, eval_interval=1000).id
        leases: list[float] = []
        for number in range(FREEZES):
            pid = _frozen(live, job_id, chance, inside=inside)
            frozen_at = time.monotonic()
            wait_for(
                partial(_has_ended, pid),
                timeout_s=120,
                what=f"the end of frozen run {number}, seed {seed}",
            )
            leases.append((time.monotonic() - frozen_at) / LEASE_S)
        job = wait_until_final(client, job_id, timeout_s=900)
        assert job.status == "succeeded", (seed, job.error)
        assert live.adapters(job_id) == live.adapters(quiet), seed
    record_property("leases until the end of each frozen process", leases)
    assert max(leases) <= MOST_LEASES, (seed, leases)
