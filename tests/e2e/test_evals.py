"""The eval that a trained job made, and a user's eval of the tuned model, on the whole product."""

import json
from typing import Any

import pytest
from openai import BadRequestError, OpenAI

from tests.support.e2e.main_job import EVAL_INTERVAL, STEPS, VALID_ROWS, FinishedJob
from tests.support.embedded.installation import Installation
from tests.support.patience import wait_for

CHECK: Any = {
    "type": "string_check",
    "name": "holds",
    "operation": "like",
    "input": "{{ sample.output_text }}",
    "reference": "{{ item.wanted }}",
}


@pytest.fixture(scope="module")
def client(live: Installation) -> OpenAI:
    return live.client()


def test_each_validation_is_a_run_with_the_ledgers_own_numbers(
    live: Installation, client: OpenAI, finished: FinishedJob
) -> None:
    job: Any = finished.job
    of = client.evals.retrieve(job.eval_id)
    assert of.name == f"Reinforcement Fine Tuning validation runs for {job.id}"
    assert of.testing_criteria[0].name == "records"
    runs, steps = list(client.evals.runs.list(of.id)), (0, EVAL_INTERVAL, STEPS)
    assert [run.name for run in runs] == [f"Step {step}" for step in steps]
    assert [run.model for run in runs] == [
        "tiny-agent-2026-11-23",
        f"{job.fine_tuned_model}:ckpt-step-{EVAL_INTERVAL}",
        f"{job.fine_tuned_model}:ckpt-step-{STEPS}",
    ]
    for run, step in zip(runs, steps, strict=True):
        ledger = live.rollouts(job.id, split="valid", step=step)
        passed = sum(row["reward"] is not None and row["reward"] > 0 for row in ledger)
        errored = sum(row["reward"] is None for row in ledger)
        counts = run.result_counts
        assert (counts.total, counts.passed, counts.errored) == (len(ledger), passed, errored)
        assert counts.failed == len(ledger) - passed - errored
        usage = run.per_model_usage[0]
        assert usage.completion_tokens == sum(row["completion_tokens"] for row in ledger)
    assert runs[-1].result_counts.passed > runs[0].result_counts.passed


def test_items_show_the_row_and_the_whole_trace(
    live: Installation, client: OpenAI, finished: FinishedJob
) -> None:
    job: Any = finished.job
    run = client.evals.runs.list(job.eval_id, order="desc").data[0]
    items = list(client.evals.runs.output_items.list(run.id, eval_id=job.eval_id, limit=15))
    assert [item.datasource_item_id for item in items] == list(range(VALID_ROWS))
    ledger = live.rollouts(job.id, split="valid", step=STEPS)
    rows = client.files.content(job.validation_file).text.splitlines()
    for item, row, rollout in zip(items, map(json.loads, rows), ledger, strict=True):
        seen: Any = item.datasource_item
        assert {key: seen[key] for key in row if key != "messages"} == {
            key: value for key, value in row.items() if key != "messages"
        }
        assert item.sample.input[0].content == row["messages"][0]["content"]
        kinds = [span["span_data"]["type"] for span in seen["trace"]["spans"]]
        turns = rollout["trace"]["turns"]
        assert kinds.count("GENERATION") == len(turns)
        assert kinds.count("FUNCTION") == sum(len(turn["tool_calls"]) for turn in turns)
        assert {span["trace_id"] for span in seen["trace"]["spans"]} == {rollout["trace_id"]}
        assert item.results[0].score == rollout["reward"]


def test_a_users_eval_of_the_tuned_model_runs_to_its_end(
    client: OpenAI, finished: FinishedJob
) -> None:
    config: Any = {"type": "custom", "item_schema": {"type": "object"}}
    of = client.evals.create(data_source_config=config, testing_criteria=[CHECK])
    source: Any = {
        "type": "completions",
        "source": {
            "type": "file_content",
            "content": [{"item": {"wanted": ""}}, {"item": {"wanted": "no such words"}}],
        },
        "input_messages": {"type": "template", "template": [{"role": "user", "content": "Hello"}]},
        "model": finished.job.fine_tuned_model,
        "sampling_params": {"max_completion_tokens": 8},
    }
    run = client.evals.runs.create(of.id, data_source=source)
    wait_for(
        lambda: client.evals.runs.retrieve(run.id, eval_id=of.id).status == "completed",
        what=f"the end of {run.id}",
    )
    counts = client.evals.runs.retrieve(run.id, eval_id=of.id).result_counts
    assert (counts.total, counts.passed, counts.failed) == (2, 1, 1)
    with pytest.raises(BadRequestError):
        client.evals.runs.cancel(run.id, eval_id=of.id)
