"""A capped job pauses, continues with a higher cap, and leaves its curves as a file."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from openai import BadRequestError

from tests.support.e2e.main_job import BATCH, GROUP, Endpoints
from tests.support.embedded.installation import Installation, wait_until_final
from tests.support.embedded.jobs import records_method, upload
from tests.support.patience import PATIENCE_S

TRAIN_ROWS, VALID_ROWS = 24, 10
STEPS = TRAIN_ROWS // BATCH
EXACT = {
    "train_mean_reward": ("train", "reward/mean"),
    "full_valid_mean_reward": ("valid", "reward/mean"),
    "completion_tokens_mean": ("train", "tokens/completion_mean"),
    "reasoning_tokens_mean": ("train", "tokens/reasoning_mean"),
    "mean_unresponsive_rewards": ("train", "discarded/share"),
    "train_error_count_lookup": ("train", "tool/lookup/errors"),
}


def _resume(live: Installation, job_id: str, body: dict[str, Any] | None = None) -> httpx.Response:
    return httpx.post(
        f"{live.base_url}/fine_tuning/jobs/{job_id}/resume",
        headers={"Authorization": f"Bearer {live.api_key}"},
        json=body,
        timeout=PATIENCE_S,
    )


@pytest.mark.long
def test_a_cap_pauses_and_a_higher_one_continues_to_the_end(
    live: Installation, endpoints: Endpoints, small_files: tuple[str, str]
) -> None:
    client = live.client()
    job_id = client.fine_tuning.jobs.create(
        model="tiny-agent",
        training_file=small_files[0],
        validation_file=small_files[1],
        seed=3,
        method=records_method(endpoints.good, eval_interval=10),
        extra_body={"max_rollouts": 50},
    ).id
    live.wait_for_status(job_id, "paused")

    paused = live.get(f"/fine_tuning/jobs/{job_id}")
    after_one_step = 2 * VALID_ROWS + BATCH * GROUP  # each held-out row sampled and greedy
    assert paused["step"] == 1
    assert paused["usage_metrics"]["rollouts"] == after_one_step
    assert paused["result_files"] == []
    event = next(iter(client.fine_tuning.jobs.list_events(job_id)))
    assert event.level == "warn"
    assert event.message.startswith(
        f"Fine-tuning job paused: max_rollouts of 50 is reached ({after_one_step} used)."
    )
    assert f"/v1/fine_tuning/jobs/{job_id}/resume" in event.message
    with pytest.raises(BadRequestError) as caught:
        client.fine_tuning.jobs.resume(job_id)
    assert caught.value.code == "invalid_state"

    assert _resume(live, job_id, {"max_rollouts": 10_000}).json()["max_rollouts"] == 10_000
    job = wait_until_final(client, job_id)
    assert job.status == "succeeded", job.error
    _check_usage(live, job_id, paused["usage_metrics"])
    _check_result_file(live, job_id)


def _check_usage(live: Installation, job_id: str, before: dict[str, Any]) -> None:
    job, ledger = live.get(f"/fine_tuning/jobs/{job_id}"), live.rollouts(job_id)
    usage = job["usage_metrics"]
    assert usage["rollouts"] == len(ledger)
    for name in ("prompt_tokens", "completion_tokens", "tool_calls"):
        assert usage[name] == sum(row[name] for row in ledger), name
    assert usage["trained_tokens"] == job["trained_tokens"] > before["trained_tokens"]
    parts = ("sampling_time_s", "update_time_s", "evaluation_time_s")
    for name in (*parts, "training_time_s"):
        assert usage[name] > before[name] > 0, name
    assert sum(usage[name] for name in parts) < usage["training_time_s"]
    assert usage["training_time_s"] < job["finished_at"] - job["created_at"] + 1
    assert (usage["estimated_cost"], usage["currency"]) == (None, None)


def _check_result_file(live: Installation, job_id: str) -> None:
    client = live.client()
    (file_id,) = client.fine_tuning.jobs.retrieve(job_id).result_files
    file = client.files.retrieve(file_id)
    assert (file.purpose, file.filename) == ("fine-tune-results", "step_metrics.csv")
    assert file_id in [file.id for file in client.files.list(purpose="fine-tune-results")]
    content = client.files.content(file_id).read()
    assert len(content) == file.bytes
    rows = list(csv.DictReader(io.StringIO(content.decode())))
    assert [int(row["step"]) for row in rows] == list(range(1, STEPS + 1))
    page = live.get(f"/fine_tuning/jobs/{job_id}/metrics", max_points=1000)
    curves = {
        (curve["split"], curve["name"]): {
            point["step"]: point["value"] for point in curve["points"]
        }
        for curve in page["data"]
    }
    for row in rows:
        step = int(row["step"])
        for (split, name), values in curves.items():
            shown = row.get(f"{split}/{name}")  # no column: a curve of the step before training
            assert (float(shown) if shown else None) == values.get(step), (step, split, name)
        for column, curve in EXACT.items():
            shown = row[column]
            assert (float(shown) if shown else None) == curves[curve].get(step), (step, column)
        tokens = curves["train", "train/tokens"].get(step)
        if tokens:
            loss = curves["train", "train/loss"][step]
            assert float(row["pg_loss_sum"]) == pytest.approx(loss * tokens)


def _chat_rows(path: Path, rows: list[Any]) -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


def test_supervised_files_are_judged_by_the_real_worker(live: Installation, tmp_path: Path) -> None:
    client = live.client()
    user = {"role": "user", "content": "a"}
    bad = upload(client, _chat_rows(tmp_path / "bad.jsonl", [{"messages": [user]}] * 12))
    created = client.fine_tuning.jobs.create(model="tiny-agent", training_file=bad)
    assert created.method is not None
    assert created.method.type == "supervised"
    job = wait_until_final(client, created.id)
    assert job.status == "failed"
    assert job.error.code == "invalid_training_file"
    assert job.hyperparameters.batch_size == "auto", "nothing is settled before the file is good"
