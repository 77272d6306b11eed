import json
import re
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from tests.support.e2e.main_job import Endpoints
from tests.support.embedded.installation import Installation, wait_until_final
from tests.support.embedded.jobs import create_job, upload

SMALL: dict[str, Any] = {"compute_multiplier": 0.25, "eval_greedy": False}


def test_failing_tools_are_discarded_and_never_a_reward(
    live: Installation, endpoints: Endpoints, small_files: tuple[str, str]
) -> None:
    client = live.client()
    created = create_job(client, endpoints.faulty, small_files, **SMALL)
    job = wait_until_final(client, created.id)
    assert job.status == "succeeded", job.error
    rows = live.rollouts(job.id, split="train")
    failed = [row for row in rows if row["failure_class"] is not None]
    valid = [row for row in rows if row["failure_class"] is None]
    assert len(failed) > 0.1 * len(rows)
    assert {row["failure_class"] for row in failed} == {"tool_error"}
    assert all(row["reward"] is None for row in failed)
    rewards = live.curve(job.id, "reward/mean")
    discarded = live.curve(job.id, "discarded/tool_error")
    for step, mean in rewards.items():
        of_step = [row["reward"] for row in valid if row["step"] == step]
        assert mean == pytest.approx(fmean(of_step))
        assert discarded.get(step, 0) == sum(row["step"] == step for row in failed)


def test_an_unreachable_endpoint_ends_the_job_with_a_plain_reason(
    live: Installation, endpoints: Endpoints, small_files: tuple[str, str]
) -> None:
    client = live.client()
    created = create_job(client, endpoints.dead, small_files, **SMALL)
    job = wait_until_final(client, created.id)
    assert job.status == "failed"
    assert job.error.code == "endpoint_unavailable"
    # The run says so when the patience ends, or its baseline when the calls are lost.
    said = "has given no usable answer in this job|every call of `lookup` had no answer"
    assert re.search(said, job.error.message)
    assert live.get(f"/fine_tuning/jobs/{job.id}")["fine_tuned_model"] is None


def test_a_broken_row_fails_the_job_with_its_line(
    live: Installation, endpoints: Endpoints, files: tuple[str, str], tmp_path: Path
) -> None:
    row = {"messages": [{"role": "user", "content": "What is 1 + 1?"}], "reference_answer": "2"}
    rows = [row] * 6 + [{**row, "messages": [{"role": "assistant", "content": "no question"}]}]
    path = tmp_path / "broken.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in rows + [row] * 6))
    client = live.client()
    created = create_job(client, endpoints.good, (upload(client, path), files[1]))
    job = wait_until_final(client, created.id)
    assert (job.status, job.error.code) == ("failed", "invalid_training_file")
    assert job.error.param == "training_file"
    assert "7" in job.error.message


def test_too_few_rows_fail_the_job_in_the_hosted_words(
    live: Installation, endpoints: Endpoints, files: tuple[str, str], tmp_path: Path
) -> None:
    row = {"messages": [{"role": "user", "content": "What is 1 + 1?"}], "reference_answer": "2"}
    path = tmp_path / "few.jsonl"
    path.write_text((json.dumps(row) + "\n") * 5)
    client = live.client()
    created = create_job(client, endpoints.good, (upload(client, path), files[1]))
    job = wait_until_final(client, created.id)
    assert job.error.code == "invalid_n_examples"
    assert job.error.message == (
        "Training file has 5 example(s), but must have at least 10 examples"
    )
    event = next(iter(client.fine_tuning.jobs.list_events(job.id, limit=1)))
    assert (event.level, event.message) == ("error", job.error.message)


def test_a_running_job_is_cancelled_paused_and_resumed(
    live: Installation, endpoints: Endpoints, files: tuple[str, str], small_files: tuple[str, str]
) -> None:
    client = live.client()
    many_steps_after_a_short_baseline = files[0], small_files[1]
    paused = create_job(client, endpoints.good, many_steps_after_a_short_baseline, **SMALL)
    cancelled = create_job(client, endpoints.good, small_files)
    assert client.fine_tuning.jobs.cancel(cancelled.id).status == "cancelled"
    live.wait_for_step(paused.id, 1)
    assert client.fine_tuning.jobs.pause(paused.id).to_dict()["status"] == "pausing"
    live.wait_for_status(paused.id, "paused")
    step = live.get(f"/fine_tuning/jobs/{paused.id}")["step"]
    assert client.fine_tuning.jobs.resume(paused.id).status == "queued"
    live.wait_for_step(paused.id, step + 1)
    client.fine_tuning.jobs.cancel(paused.id)
    live.wait_for_status(paused.id, "cancelled")
