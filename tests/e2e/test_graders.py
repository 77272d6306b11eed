"""A job with a formula over every kind of grader, and jobs whose judge gives no score."""

import json
import math
from typing import Any

import pytest
from openai import BadRequestError, OpenAI

from tests.support.e2e.every_grader import (
    FORMULA,
    OWN_NAMES,
    answer,
    every_grader,
    expected,
    four_parts,
)
from tests.support.e2e.main_job import Endpoints
from tests.support.embedded.installation import Installation, wait_until_final
from tests.support.embedded.jobs import records_method
from tests.support.endpoints import endpoint_in_thread

PROMPT = "Rate from 0 to 1 whether this answer is {{ item.reference_answer }}: "
JUDGE: dict[str, Any] = {
    "type": "score_model",
    "name": "judge",
    "model": "tiny-agent",
    "input": [{"role": "user", "content": PROMPT + "{{ sample.output_text }}"}],
    "sampling_params": {"seed": 1, "temperature": 0, "max_completions_tokens": 8},
}
"""A model of this size writes no JSON: no answer of it has a score."""


def grader(endpoint: str) -> dict[str, Any]:
    return {"type": "multi", "graders": four_parts(endpoint), "calculate_output": FORMULA}


def metrics_events(client: OpenAI, job_id: str) -> list[dict[str, Any]]:
    events = list(client.fine_tuning.jobs.list_events(job_id, limit=100))
    return [dict(e.data or {}) for e in reversed(events) if e.type == "metrics"]  # type: ignore[call-overload]  # the client types an event's data as object


@pytest.mark.long
def test_a_job_with_every_kind_of_grader(
    live: Installation, endpoints: Endpoints, small_files: tuple[str, str]
) -> None:
    client = live.client()
    method = records_method(endpoints.good, eval_interval=3, compute_multiplier=0.5)
    method["reinforcement"]["grader"] = every_grader(endpoints.good, endpoints.hook)
    with endpoint_in_thread(answer, port=endpoints.hook_port):
        created = client.fine_tuning.jobs.create(
            model="tiny-agent",
            training_file=small_files[0],
            validation_file=small_files[1],
            seed=3,
            method=method,
        )
        job = wait_until_final(client, created.id)
    assert job.status == "succeeded", job.error
    shown = live.get(f"/fine_tuning/jobs/{job.id}")
    assert "canary-grader-value" not in str(shown)
    parts = shown["method"]["reinforcement"]["grader"]["graders"]
    assert parts["records"]["headers"] == {"X-Grader-Key": "[redacted]"}

    rows = live.rollouts(job.id)
    references = [
        [
            json.loads(line)["reference_answer"]
            for line in client.files.content(file).text.splitlines()
        ]
        for file in small_files
    ]
    for row in rows:
        scores = row["components"]
        own = expected(row, references[row["split"] != "train"][row["prompt_index"]])
        assert {name: scores[name] for name in own} == pytest.approx(own)
        assert set(parts) <= set(scores)
        joined = 0.5 * scores["records"] + 0.25 * scores["exact"] + 0.25 * scores["near"]
        others = sum(scores[name] for name in parts if name not in OWN_NAMES)
        assert row["reward"] == pytest.approx(joined + 0.1 * scores["vowels"] + 0.01 * others)
        assert (scores["exact"] == 1.0) <= (scores["near"] == 1.0)
    assert any(0 < row["components"]["near"] < 1 for row in rows)
    trained = [row for row in rows if row["split"] == "train" and row["step"] == 1]
    for part in parts:
        curve = live.curve(job.id, f"reward/component/{part}")
        mean = sum(row["components"][part] for row in trained) / len(trained)
        assert curve[1] == pytest.approx(mean)
        assert set(curve) == {1, 2, 3}
    for judge in ("score_model", "label_model", "llm_judge", "ai_judge"):
        tokens = live.curve(job.id, f"grader/{judge}/prompt_tokens")
        assert all(value > 0 for value in tokens.values()), "what a judge costs is in the curves"

    first = metrics_events(client, job.id)[0]
    graded = {entry["name"]: entry["type"] for entry in first["scores"]["graders"]}
    assert graded == {name: part["type"] for name, part in parts.items()}


@pytest.mark.parametrize("served", [True, pytest.param(False, marks=pytest.mark.long)])
def test_a_judge_without_a_score_loses_rollouts_and_scores_none_of_them(
    live: Installation, endpoints: Endpoints, small_files: tuple[str, str], served: bool
) -> None:
    client = live.client()
    method = records_method(endpoints.good)
    unavailable = {
        "model": "anything",
        "base_url": f"{endpoints.dead}/v1",
        "headers": {"Authorization": "Bearer canary-judge"},
    }
    method["reinforcement"]["grader"] = JUDGE if served else {**JUDGE, **unavailable}
    created = client.fine_tuning.jobs.create(
        model="tiny-agent",
        training_file=small_files[0],
        validation_file=small_files[1],
        method=method,
    )
    job = wait_until_final(client, created.id)
    code = "judge_without_score" if served else "grader_model_unavailable"
    assert job.error is not None
    assert (job.status, job.error.code) == ("failed", code)
    assert "lost to failures of tools, environments or graders" in str(job.error.message)
    rows = live.rollouts(job.id)
    assert rows
    assert all(row["reward"] is None for row in rows)
    assert "canary-judge" not in str(rows) + str(live.get(f"/fine_tuning/jobs/{job.id}"))


def test_the_official_client_runs_and_validates_graders(
    live: Installation, endpoints: Endpoints, small_files: tuple[str, str]
) -> None:
    alpha = live.client().fine_tuning.alpha.graders
    exact: Any = grader(endpoints.good)["graders"]["exact"]
    run = alpha.run(grader=exact, model_sample="42", item={"reference_answer": "42"})
    assert (run.reward, run.metadata.type, run.metadata.name) == (1.0, "string_check", "exact")
    assert run.metadata.errors.api_model_grader_parse_error is False
    whole: Any = grader(endpoints.good)
    graded = alpha.run(grader=whole, model_sample="42", item={"reference_answer": "42"})
    parts: Any = graded.sub_rewards
    assert set(parts) == {"exact", "near", "records", "vowels"}
    assert math.isclose(parts["vowels"], 2 / 3 + 1)
    assert math.isclose(graded.reward, 0.5 * parts["records"] + 0.5 + 0.1 * parts["vowels"])
    judge: Any = JUDGE
    judged = alpha.run(grader=judge, model_sample="42", item={"reference_answer": "42"})
    assert (judged.reward, judged.metadata.errors.api_model_grader_parse_error) == (0.0, True)
    assert judged.api_model_grader_token_usage_per_model.keys() == {"tiny-agent"}
    validated = alpha.validate(grader=whole).grader
    assert validated is not None
    assert validated.type == "multi"
    with pytest.raises(BadRequestError) as caught:
        whole["calculate_output"] = "exact +"
        alpha.validate(grader=whole)
    assert caught.value.param == "grader.calculate_output"
    with pytest.raises(BadRequestError) as caught:
        method = records_method(endpoints.good)
        method["reinforcement"]["grader"] = {**JUDGE, "model": "gpt-nobody"}
        live.client().fine_tuning.jobs.create(
            model="tiny-agent",
            training_file=small_files[0],
            validation_file=small_files[1],
            method=method,
        )
    assert caught.value.param == "method.reinforcement.grader.model"
