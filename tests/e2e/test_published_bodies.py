"""A plain reinforcement job as the guides print it, run: no tools, a formula over text graders."""

from typing import Any

import pytest
from openai import OpenAI
from rapidfuzz import fuzz

from tests.support.contract.published_bodies import SAME, multi, rows, similar
from tests.support.embedded.installation import Installation, wait_until_final

ROWS = 10
QUESTION = "How many legs has ant"


def upload(client: OpenAI, first: int) -> str:
    file = client.files.create(file=("rows.jsonl", rows(first, ROWS)), purpose="fine-tune")
    return file.id


def test_the_guides_body_without_tools_trains_on_the_rewards_of_its_formula(
    live: Installation,
) -> None:
    client = live.client()
    grader = multi(
        "max(near, 0.25 * same) + 0.5 * abs(deep - 1) + 0.125 * asked",
        near=similar("fuzzy_match"),
        same={**SAME, "input": "{{ sample.choices[0].message.content }}"},
        deep={**SAME, "input": "{{ item.facts.legs[0].count }}", "reference": "6"},
        asked={
            **SAME,
            "operation": "like",
            "input": "{{ item.messages[0].content }}",
            "reference": QUESTION,
        },
    )
    method: Any = {
        "type": "reinforcement",
        "reinforcement": {
            "grader": grader,
            "response_format": {"type": "text"},
            "hyperparameters": {
                "n_epochs": 1,
                "batch_size": ROWS,
                "compute_multiplier": 0.25,
                "eval_interval": 1,
                "eval_samples": 1,
                "reasoning_effort": "medium",
            },
        },
    }
    created = client.fine_tuning.jobs.create(
        model="tiny-agent",
        training_file=upload(client, 0),
        validation_file=upload(client, ROWS),
        seed=5,
        method=method,
    )
    job = wait_until_final(client, created.id)
    assert job.status == "succeeded", job.error
    assert job.trained_tokens > 0
    found = live.rollouts(job.id)
    assert {row["split"] for row in found} >= {"train", "valid"}
    for row in found:
        answer = row["trace"]["messages"][-1]["content"]
        parts = row["components"]
        assert parts["near"] == pytest.approx(fuzz.ratio(answer, "six") / 100)
        assert (parts["same"], parts["deep"], parts["asked"]) == (float(answer == "six"), 1, 1)
        assert row["reward"] == pytest.approx(max(parts["near"], 0.25 * parts["same"]) + 0.125)
        assert row["tool_calls"] == 0
    report = live.get(f"/fine_tuning/jobs/{job.id}/report")
    assert report["rows"] == ROWS
