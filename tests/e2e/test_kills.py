import os
import signal
from collections import Counter

from tests.support.e2e.main_job import (
    BATCH,
    GROUP,
    TRAIN_ROWS,
    VALID_ROWS,
    Endpoints,
    FinishedJob,
)
from tests.support.installation import Installation, child_pid, wait_until_final
from tests.support.jobs import create_job


def test_every_process_killed_once_and_no_sample_counted_twice(
    live: Installation, endpoints: Endpoints, files: tuple[str, str], finished: FinishedJob
) -> None:
    client = live.client()
    job_id = create_job(client, endpoints.good, files, eval_interval=10).id
    for step, victim in (
        (1, "child"),
        (4, "engine"),
        (7, "runs"),
        (10, "valkey"),
        (13, "postgres"),
        (16, "control"),
        (18, "api"),
    ):
        live.wait_for_step(job_id, step)
        if victim == "child":
            pid = child_pid(job_id)
            assert pid is not None
            os.kill(pid, signal.SIGKILL)
        else:
            live.kill(victim)
    job = wait_until_final(client, job_id)
    assert job.status == "succeeded", job.error
    quiet = live.adapters(finished.created.id)
    assert TRAIN_ROWS // BATCH in quiet
    assert live.adapters(job_id) == quiet
    rows = live.rollouts(job_id)
    keys = Counter((r["split"], r["step"], r["prompt_index"], r["sample_index"]) for r in rows)
    assert set(keys.values()) == {1}
    steps = TRAIN_ROWS // BATCH
    assert (
        len(rows) == steps * BATCH * GROUP + (3 * 2 + 2) * VALID_ROWS
    )  # sampled and greedy, report
    usage = live.get(f"/fine_tuning/jobs/{job_id}")["usage_metrics"]
    assert usage["rollouts"] == len(rows)
    for name in ("prompt_tokens", "completion_tokens", "tool_calls"):
        assert usage[name] == sum(row[name] for row in rows), name
    assert all(row["reward"] is not None for row in rows)
    assert sorted(live.curve(job_id, "reward/mean")) == list(range(1, steps + 1))
    metrics = [
        event
        for event in client.fine_tuning.jobs.list_events(job_id, limit=100)
        if event.type == "metrics"
    ]
    assert len(metrics) == steps
