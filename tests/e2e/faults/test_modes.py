"""Streaming and async jobs on the whole product, killed and paused on the way: each sample trains
once. The async job also learns by options of its own.
"""

import os
import signal
from collections import Counter
from typing import Any

import pytest

from tests.support.e2e.main_job import BATCH, Endpoints
from tests.support.e2e.quiet_job import GROUP, STEPS, VALID_ROWS
from tests.support.embedded.installation import Installation, child_pid, wait_until_final
from tests.support.embedded.jobs import records_method

pytestmark = pytest.mark.chaos

STALE: dict[str, Any] = {
    "mode": {"type": "async", "max_staleness": 2},
    "loss": {"type": "importance_sampling"},
    "advantage": {"type": "batch_std"},
    "mismatch": {"truncation": {"level": "sequence"}},
}


def start_job(
    live: Installation, endpoint: str, files: tuple[str, str], choices: dict[str, Any]
) -> str:
    method = records_method(
        endpoint, eval_interval=100, compute_multiplier=GROUP / 8, learning_rate_multiplier=2
    )
    method["reinforcement"].update(choices)
    job = live.client().fine_tuning.jobs.create(
        model="tiny-agent", training_file=files[0], validation_file=files[1], seed=3, method=method
    )
    return str(job.id)


def kill(live: Installation, job_id: str, victim: str) -> None:
    if victim == "child":
        pid = child_pid(job_id)
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
    else:
        live.kill(victim)


def check_ledger(live: Installation, job_id: str, *, max_staleness: int) -> None:
    """Each place of the curriculum once, in a batch of the right size, from young versions."""
    rows = live.rollouts(job_id)
    keys = Counter((r["split"], r["step"], r["prompt_index"], r["sample_index"]) for r in rows)
    assert set(keys.values()) == {1}
    # Two validations, each of them with a sampled and a greedy rollout of every row, and the
    # report's rollouts of the base and the published step.
    assert len(rows) == STEPS * BATCH * GROUP + (2 * 2 + 2) * VALID_ROWS
    train = [row for row in rows if row["split"] == "train"]
    trained = Counter(row["trace"]["trained_step"] for row in train)
    assert trained == dict.fromkeys(range(1, STEPS + 1), BATCH * GROUP)
    for row in train:
        oldest, newest = row["trace"]["policy_versions"]
        served = row["trace"]["trained_step"] - 1
        assert served - max_staleness <= oldest <= newest <= served
    usage = live.get(f"/fine_tuning/jobs/{job_id}")["usage_metrics"]
    assert usage["rollouts"] == len(rows)
    assert usage["completion_tokens"] == sum(row["completion_tokens"] for row in rows)


def pause_and_resume(live: Installation, job_id: str) -> int:
    """Returns the step at which the job was paused."""
    jobs = live.client().fine_tuning.jobs
    jobs.pause(job_id)
    live.wait_for_status(job_id, "paused")
    step: int = live.get(f"/fine_tuning/jobs/{job_id}")["step"]
    jobs.resume(job_id)
    return step


def test_an_async_job_that_is_killed_and_paused_loses_and_doubles_nothing(
    live: Installation, endpoints: Endpoints, quiet_files: tuple[str, str]
) -> None:
    job_id = start_job(live, endpoints.good, quiet_files, STALE)
    for step, victim in ((1, "child"), (2, "engine")):
        live.wait_for_step(job_id, step)
        kill(live, job_id, victim)
    live.wait_for_step(job_id, 3)
    paused = pause_and_resume(live, job_id)
    for step, victim in ((paused + 1, "child"), (paused + 2, "runs")):
        live.wait_for_step(job_id, step)
        kill(live, job_id, victim)
    job = wait_until_final(live.client(), job_id)
    assert job.status == "succeeded", job.error
    check_ledger(live, job_id, max_staleness=2)
    ages = live.curve(job_id, "staleness/max")
    assert 1 <= max(ages.values()) <= 2
    shown = live.get(f"/fine_tuning/jobs/{job_id}")["method"]["reinforcement"]
    assert {name: shown[name] for name in STALE} == {
        "mode": {"type": "async", "max_staleness": 2, "max_requeues": 2},
        "loss": {"type": "importance_sampling"},
        "advantage": {"type": "batch_std"},
        "mismatch": {
            "truncation": {"level": "sequence", "cap": 5.0},
            "sequence_mask": None,
            "max_log_ratio": 20.0,
        },
    }
    for name in (*("staleness/max", "queue/depth", "train/tokens"),):
        assert sorted(live.curve(job_id, name)) == list(range(1, STEPS + 1)), name
    # A step whose groups all have equal rewards trains nothing.
    trained = [step for step, tokens in live.curve(job_id, "train/tokens").items() if tokens]
    assert len(trained) >= STEPS / 2
    for name in ("loss", "sampler_kl_k3", "masked_share", "truncated_share"):
        assert sorted(live.curve(job_id, f"train/{name}")) == sorted(trained), name
    assert max(abs(value) for value in live.curve(job_id, "train/grad_norm").values()) > 0


def test_a_streaming_job_that_is_killed_stays_on_policy(
    live: Installation, endpoints: Endpoints, quiet_files: tuple[str, str]
) -> None:
    mode = {"type": "streaming", "minibatches": 4}
    job_id = start_job(live, endpoints.good, quiet_files, {"mode": mode})
    for step, victim in ((2, "child"), (5, "engine")):
        live.wait_for_step(job_id, step)
        kill(live, job_id, victim)
    job = wait_until_final(live.client(), job_id)
    assert job.status == "succeeded", job.error
    check_ledger(live, job_id, max_staleness=0)
    assert set(live.curve(job_id, "staleness/max").values()) == {0.0}
    assert live.curve(job_id, "reward/mean")[STEPS] > live.curve(job_id, "reward/mean")[1]
