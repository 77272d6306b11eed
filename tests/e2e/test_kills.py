import os
import signal
from collections import Counter

from tests.support.e2e.main_job import (
    BATCH,
    EVAL_INTERVAL,
    GROUP,
    STEPS,
    VALID_ROWS,
    Endpoints,
    FinishedJob,
)
from tests.support.installation import Installation, child_pid, wait_until_final
from tests.support.jobs import create_job


def test_every_process_killed_once_and_no_sample_counted_twice(
    live: Installation, endpoints: Endpoints, files: tuple[str, str], finished: FinishedJob
) -> None:
    client, before = live.client(), live.pids()
    job_id = create_job(client, endpoints.good, files, eval_interval=EVAL_INTERVAL).id
    for step, victim in (
        (1, "child"),
        (2, "engine"),
        (3, "sandbox"),
        (4, "runs"),
        (5, "valkey"),
        (7, "postgres"),
        (8, "control"),
        (10, "api"),
    ):
        live.wait_for_step(job_id, step)
        if victim == "sandbox" and victim not in before:
            continue  # this system has none
        if victim == "child":
            pid = child_pid(job_id)
            assert pid is not None
            os.kill(pid, signal.SIGKILL)
        else:
            live.kill(victim)
    job = wait_until_final(client, job_id)
    assert job.status == "succeeded", job.error
    healed = live.pids()
    assert healed.keys() == before.keys()
    assert not set(healed.values()) & set(before.values()), "each of them has another process"
    quiet = live.adapters(finished.created.id)
    assert STEPS in quiet
    assert live.adapters(job_id) == quiet
    rows = live.rollouts(job_id)
    keys = Counter((r["split"], r["step"], r["prompt_index"], r["sample_index"]) for r in rows)
    assert set(keys.values()) == {1}
    assert (
        len(rows) == STEPS * BATCH * GROUP + (3 * 2 + 2) * VALID_ROWS
    )  # sampled and greedy, report
    usage = live.get(f"/fine_tuning/jobs/{job_id}")["usage_metrics"]
    assert usage["rollouts"] == len(rows)
    for name in ("prompt_tokens", "completion_tokens", "tool_calls"):
        assert usage[name] == sum(row[name] for row in rows), name
    assert all(row["reward"] is not None for row in rows)
    assert sorted(live.curve(job_id, "reward/mean")) == list(range(1, STEPS + 1))
    metrics = [
        event
        for event in client.fine_tuning.jobs.list_events(job_id, limit=100)
        if event.type == "metrics"
    ]
    assert len(metrics) == STEPS
