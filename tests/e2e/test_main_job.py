import json
import re
from typing import Any

import pytest
from openai.types.fine_tuning import FineTuningJob

from app.rollouts.metrics import SPLITS, meaning
from examples.first_job import chat_with_tools
from examples.records_agent.dataset import make_rows
from examples.records_agent.records import build_catalogue
from tests.support.e2e.main_job import (
    BATCH,
    EVAL_INTERVAL,
    GROUP,
    STEPS,
    VALID_ROWS,
    Endpoints,
    FinishedJob,
)
from tests.support.embedded.installation import Installation

JOB_KEYS = {
    "id", "object", "created_at", "model", "fine_tuned_model", "finished_at", "organization_id",
    "result_files", "status", "trained_tokens", "training_file", "validation_file",
    "hyperparameters", "seed", "error", "estimated_finish", "integrations", "method", "metadata",
    "user_provided_suffix", "usage_metrics", "shared_with_openai",
}  # fmt: skip


def as_dict(job: FineTuningJob) -> dict[str, Any]:
    """Returns the job as it was sent. The client's models have no endpoint grader, and warn of one
    when they are serialized.
    """
    return job.to_dict(warnings=False)


def test_the_created_job_has_the_hosted_shape(finished: FinishedJob) -> None:
    created = as_dict(finished.created)
    assert created.keys() >= JOB_KEYS
    assert created["status"] == "validating_files"
    assert created["error"] == {}
    assert created["result_files"] == created["integrations"] == []
    assert created["model"] == "tiny-agent-2026-11-23"
    assert created["hyperparameters"] is None
    assert created["method"]["reinforcement"]["hyperparameters"]["n_epochs"] == 1
    assert created["method"]["reinforcement"]["response_format"] is None


def test_the_job_ends_with_a_model_and_resolved_hyperparameters(finished: FinishedJob) -> None:
    job = as_dict(finished.job)
    assert job["fine_tuned_model"].startswith("ft:tiny-agent-2026-11-23:development:records:")
    assert job["trained_tokens"] > 1000
    assert job["created_at"] <= job["finished_at"]
    learning = job["method"]["reinforcement"]
    resolved = {"batch_size": BATCH, "eval_interval": EVAL_INTERVAL, "reasoning_effort": "default"}
    assert learning["hyperparameters"].items() >= resolved.items()
    assert (learning["loss"]["type"], learning["advantage"]["type"]) == ("ppo", "centred")
    assert isinstance(learning["objective"]["token_budget"], int)


def test_customer_headers_are_never_echoed(live: Installation, finished: FinishedJob) -> None:
    job = live.get(f"/fine_tuning/jobs/{finished.job.id}")
    assert job["method"]["reinforcement"]["tools"][0]["headers"] == {"X-Customer-Key": "[redacted]"}
    rollouts = live.rollouts(finished.job.id, split="valid", step=0)
    assert "canary-header-value" not in json.dumps([job, rollouts])


def test_events_follow_the_canonical_order(live: Installation, finished: FinishedJob) -> None:
    job = finished.job
    events = list(live.client().fine_tuning.jobs.list_events(job.id, limit=12))
    beside = {"stop_rule", "verdict", "reason"}  # the last: it waited for a worker
    warned = [e.id for e in events if beside & dict(e.data or {}).keys()]  # type: ignore[call-overload]  # the client types an event's data as object
    messages = [e.message for e in reversed(events) if e.type == "message" and e.id not in warned]
    assert [m for m in messages if not m.startswith(("Base model", "Measuring"))] == [
        f"Created fine-tuning job: {job.id}",
        f"Validating training file: {job.training_file} and validation file: {job.validation_file}",
        "Files validated, moving job to queued state",
        "Fine-tuning job started",
        f"New fine-tuned model created: {job.fine_tuned_model}",
        "The job has successfully completed",
    ]
    assert {e.object for e in events} == {"fine_tuning.job.event"}
    assert len({e.id for e in events}) == len(events)


def test_each_step_has_one_metrics_event_in_the_hosted_shape(
    live: Installation, finished: FinishedJob
) -> None:
    events = list(live.client().fine_tuning.jobs.list_events(finished.job.id, limit=50))
    metrics = [e for e in reversed(events) if e.type == "metrics"]
    data: list[dict[str, Any]] = [dict(e.data or {}) for e in metrics]  # type: ignore[call-overload]  # the client types an event's data as object
    assert [d["step"] for d in data] == list(range(1, STEPS + 1))
    last = data[-1]
    assert re.fullmatch(
        rf"Step {STEPS}/{STEPS} , train mean reward=\d\.\d\d, "
        r"full validation mean reward=\d\.\d\d, full validation mean parse error=\d\.\d\d",
        metrics[-1].message,
    )
    assert last["total_steps"] == STEPS
    assert last["scores"]["train_reward_mean"] == last["train_mean_reward"]
    assert set(last["timing"]["step"]) == {"eval", "sampling", "training", "full_iteration"}
    assert {t["name"] for t in last["usage"]["tools"]} <= {
        *("lookup", "calculator", "(unknown)", "(unparsable)")
    }
    assert last["errors"]["discarded"] == {"count": 0.0, "share": 0.0}


def test_it_learned(live: Installation, finished: FinishedJob) -> None:
    report = live.get(f"/fine_tuning/jobs/{finished.job.id}/report")
    reward = report["reward"]
    assert report["rows"] == VALID_ROWS
    assert reward["base_mean"] <= 0.45
    assert reward["tuned_mean"] >= reward["base_mean"] + 0.3
    low, high = reward["difference_ci95"]
    assert 0 < low < reward["difference"] < high
    assert report["wins"] + report["ties"] + report["losses"] == VALID_ROWS
    wasted = report["components"]["wasted_calls"]
    assert wasted["tuned_mean"] < wasted["base_mean"]


def test_the_report_agrees_with_the_ledger(live: Installation, finished: FinishedJob) -> None:
    report = live.get(f"/fine_tuning/jobs/{finished.job.id}/report")
    valid = live.curve(finished.job.id, "reward/mean", "valid")
    published = max((step for step in valid if step), key=lambda step: (valid[step], -step))
    assert report["step"] == published, "the best is published, of equals the earlier"
    for step, key in ((0, "base_mean"), (published, "tuned_mean")):
        means = {}
        for split in ("valid", "report"):
            rows = live.rollouts(finished.job.id, split=split, step=step)
            assert len(rows) == VALID_ROWS
            means[split] = sum(row["reward"] for row in rows) / len(rows)
            curve = live.curve(finished.job.id, "reward/mean", split)
            assert curve[step] == pytest.approx(means[split])
        assert report["reward"][key] == pytest.approx(means["report"]), "sampled after the choice"


def test_the_ledger_holds_every_sample_once(live: Installation, finished: FinishedJob) -> None:
    rows = live.rollouts(finished.job.id, split="train")
    keys = [(r["step"], r["prompt_index"], r["sample_index"]) for r in rows]
    assert len(keys) == len(set(keys)) == STEPS * BATCH * GROUP
    assert len({r["trace_id"] for r in rows}) == len(rows)
    assert {r["policy_version"] - r["step"] for r in rows} == {-1}


def test_the_tokens_of_a_rollout_are_those_that_were_trained(
    live: Installation, finished: FinishedJob
) -> None:
    path = f"/fine_tuning/jobs/{finished.job.id}/rollouts"
    trained = [row for row in live.rollouts(finished.job.id, split="train") if row["advantage"]]
    held_out = live.rollouts(finished.job.id, split="valid", step=0)
    for row in [*trained[:: len(trained) // 8], *held_out[:2]]:
        tokens = live.get(f"{path}/{row['id']}/tokens")
        written = [m for m in row["trace"]["messages"] if m["role"] == "assistant"]
        for turn, message, stored in zip(
            tokens["turns"], written, row["trace"]["turns"], strict=True
        ):
            assert len(turn["texts"]) == len(turn["log_probs"]) == stored["tokens"]
            text = "".join(turn["texts"])
            assert (message["content"] or "") in text
            assert all(c["function"]["name"] in text for c in message.get("tool_calls", ()))
            known = 1.0 if row["advantage"] else None
            assert turn["ratios"] == pytest.approx([known] * stored["tokens"], abs=1e-3)
        assert tokens["omitted_tokens"] == 0


def test_curves_are_complete(live: Installation, finished: FinishedJob) -> None:
    page = live.get(f"/fine_tuning/jobs/{finished.job.id}/metrics")
    curves = {(c["split"], c["name"]): c["points"] for c in page["data"]}
    assert [name for split, name in curves if meaning(name) is None or split not in SPLITS] == []
    for name in (
        "reward/mean",
        "tool_calls/mean",
        "tokens/completion_mean",
        "tokens/reasoning_mean",
        "tool/lookup/calls_mean",
        "tool/lookup/tokens_per_call",
        "tool/lookup/latency_s_mean",
        "tool/lookup/errors",
        "discarded/count",
        "time/sampling_s",
        "time/training_s",
        "time/publish_s",
        "time/step_s",
        "groups/zero_variance",
        "train/sampler_max_abs_log_ratio",
    ):
        assert ("train", name) in curves, name
    assert [p["step"] for p in curves["train", "reward/mean"]] == list(range(1, STEPS + 1))
    assert [p["step"] for p in curves["valid", "reward/mean"]] == [0, EVAL_INTERVAL, STEPS]
    mismatch = [p["value"] for p in curves["train", "train/sampler_max_abs_log_ratio"]]
    assert max(mismatch) < 1e-3


def test_checkpoints_are_models(live: Installation, finished: FinishedJob) -> None:
    client = live.client()
    checkpoints = list(client.fine_tuning.jobs.checkpoints.list(finished.job.id))
    assert [c.step_number for c in checkpoints] == [STEPS, EVAL_INTERVAL]
    names = {model.id for model in client.models.list()}
    assert {c.fine_tuned_model_checkpoint for c in checkpoints} <= names
    assert finished.job.fine_tuned_model in names
    assert checkpoints[0].to_dict()["metrics"]["full_valid_mean_reward"] > 0.5  # type: ignore[index]  # the client types an event's data as object


def test_the_tuned_model_answers_in_a_tool_loop(
    live: Installation, endpoints: Endpoints, finished: FinishedJob
) -> None:
    rows = make_rows(build_catalogue(), "validation", 12, seed=99)
    client = live.client()
    model = finished.job.fine_tuned_model
    right = sum(
        chat_with_tools(client, model, endpoints.good, r) == r["reference_answer"] for r in rows
    )
    assert right >= 8


def test_ten_held_out_rows_played_through_the_api_agree_with_the_report(
    live: Installation, endpoints: Endpoints, finished: FinishedJob
) -> None:
    report = live.get(f"/fine_tuning/jobs/{finished.job.id}/report")
    correct = report["greedy"]["components"]["correct"]
    ledger = {
        row["prompt_index"]: row["components"]["correct"]
        for row in live.rollouts(finished.job.id, split="valid_greedy", step=report["step"])
    }
    assert correct["tuned_mean"] == pytest.approx(sum(ledger.values()) / VALID_ROWS)
    rows = make_rows(build_catalogue(), "validation", VALID_ROWS, seed=7)[:10]
    client, model = live.client(), finished.job.fine_tuned_model
    played = [
        float(
            chat_with_tools(client, model, endpoints.good, row).strip() == row["reference_answer"]
        )
        for row in rows
    ]
    same = sum(played[row] == ledger[row] for row in range(10))
    assert same >= 9, "one near tie of two tokens may fall the other way"
    low, high = correct["tuned_ci95"]
    # Ten of forty rows have twice the interval.
    assert abs(sum(played) / 10 - correct["tuned_mean"]) <= max(high - low, 0.1)
