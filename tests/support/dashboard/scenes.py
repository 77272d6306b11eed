"""A job with curves, rollouts, events and a report, as rows, for pages to show."""

import json
from collections.abc import Sequence
from typing import Any

import psycopg

from app.settings import DEFAULT_MODEL
from tests.support.api.application import ENDPOINT, Api
from tests.support.api.job_calls import JOBS
from tests.support.stack import Database

STEPS = 12
ROWS = 4
SAMPLES = 3
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\u202eevil & \"quoted\" 'text'"


async def create_job(
    api: Api,
    *,
    key: str | None = None,
    suffix: str | None = None,
    integrations: Sequence[dict[str, Any]] = (),
) -> str:
    """Creates a job by the API."""
    content = b'{"messages": [{"role": "user", "content": "hi"}]}\n' * 12
    files = [(await api.upload(content, key=key)).json()["id"] for _ in range(2)]
    inner = {
        "tools": [{"name": "search", "server_url": ENDPOINT}],
        "grader": {"type": "endpoint", "url": ENDPOINT},
    }
    body = {
        "model": "tiny-agent",
        "training_file": files[0],
        "validation_file": files[1],
        "suffix": suffix,
        "integrations": list(integrations),
        "method": {"type": "reinforcement", "reinforcement": inner},
    }
    reply = await api.call("POST", JOBS, json=body, key=key)
    assert reply.status_code == 200, reply.text
    return str(reply.json()["id"])


def execute(database: Database, query: str, values: Any = None) -> None:
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        connection.execute(query.encode(), values)


def put_checkpoints(database: Database, job: str, rewards: dict[int, float]) -> None:
    """Stores published checkpoints by step, with their validation rewards."""
    for step, reward in rewards.items():
        values = {
            "id": f"ftckpt_{step}",
            "name": f"ft:tiny-agent:p:rivers:abc:ckpt-step-{step}",
            "job": job,
            "step": step,
            "reward": reward,
            "base": DEFAULT_MODEL,
            "engine": f"m{step}",
        }
        execute(
            database,
            "INSERT INTO checkpoints (id, project_id, job_id, step, model_name, object_key,"
            " metrics) SELECT %(id)s, project_id, id, %(step)s, %(name)s, 'k',"
            " jsonb_build_object('full_valid_mean_reward', %(reward)s::float)"
            " FROM fine_tuning_jobs WHERE id = %(job)s",
            values,
        )
        execute(
            database,
            "INSERT INTO tuned_models (name, project_id, job_id, base_model, engine_name,"
            " object_key, step) SELECT %(name)s, project_id, id, %(base)s, %(engine)s, 'k',"
            " %(step)s FROM fine_tuning_jobs WHERE id = %(job)s",
            values,
        )


def put_points(database: Database, job: str, curves: dict[tuple[str, str], list[float]]) -> None:
    """Stores curves by name and split; training begins at step 1, validation at 0."""
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        for (name, split), values in curves.items():
            first = int(split == "train")
            connection.execute(
                "INSERT INTO job_metrics (project_id, job_id, name, split, step, value) "
                "SELECT project_id, id, %s, %s, points.step, points.value FROM fine_tuning_jobs, "
                "unnest(%s::int[], %s::float8[]) AS points (step, value) WHERE id = %s",
                (name, split, list(range(first, first + len(values))), values, job),
            )


def put_rollout(
    database: Database, job: str, rollout_id: str, *, trace: dict[str, Any], **values: Any
) -> None:
    row = {
        "id": rollout_id,
        "split": "train",
        "step": 1,
        "prompt_index": 0,
        "sample_index": 0,
        "attempt": 0,
        "trace_id": f"trace-{rollout_id}",
        "reward": 1.0,
        "failure_class": None,
        "failure_message": None,
        "stop_reason": "final_answer",
        "policy_version": 1,
        "prompt_tokens": 5,
        "completion_tokens": 7,
        "reasoning_tokens": 0,
        "tool_calls": 1,
        "components": json.dumps({}),
        "trace": json.dumps(trace),
        "started_at": 10.0,
        "finished_at": 12.5,
        **values,
    }
    columns = ", ".join(row)
    placeholders = ", ".join(f"%({name})s" for name in row)
    execute(
        database,
        f"INSERT INTO rollouts (project_id, job_id, {columns}) "
        f"SELECT project_id, id, {placeholders} FROM fine_tuning_jobs WHERE id = %(job)s",
        {**row, "job": job},
    )


def trace(question: str, answer: str, *calls: dict[str, Any]) -> dict[str, Any]:
    """Returns a trace of one turn with calls and one with the answer."""
    turn = {"tokens": 3, "reasoning_tokens": 0, "finish_reason": "stop", "parse_error": None}
    messages = [
        {"role": "user", "content": question},
        {"role": "assistant", "content": None},
        *({"role": "tool", "content": call["output"]} for call in calls),
        {"role": "assistant", "content": answer},
    ]
    return {
        "messages": messages,
        "turns": [{**turn, "tool_calls": list(calls)}, {**turn, "tool_calls": []}],
        "grader_reasons": {"": "The answer is right."},
        "grader_errors": {},
    }


def call(output: str, **values: Any) -> dict[str, Any]:
    return {
        "name": "search",
        "arguments": '{"q": "rivers"}',
        "output": output,
        "error": None,
        "latency_s": 0.25,
        "attempts": 2,
        "repeated": False,
        **values,
    }


def put_lost(database: Database, job: str) -> None:
    """Stores a rollout of a row at each of two steps that a tool's time-out lost."""
    for step in (1, 2):
        put_rollout(
            database, job, f"lost{step}", step=step, reward=None, stop_reason=None,
            failure_class="tool_timeout", failure_message="search: no answer",
            trace=trace("Which river?", "", call("", error="timeout")),
        )  # fmt: skip


BASELINE: dict[int, tuple[float | None, ...]] = {
    0: (0.0, 0.0, 0.0, 0.0),
    1: (0.0, 1.0, 0.0, 0.0),
    2: (1.0, 1.0, 1.0, 1.0),
    3: (0.0, 1.0, 1.0, None),
    4: (None, None, None, None),
}
"""Rewards of four samples by row, before training; `None` was lost."""


def put_baseline(
    database: Database, job: str, rewards: dict[int, tuple[float | None, ...]] | None = None
) -> None:
    """Stores the rollouts of a validation before training."""
    for row, samples in (BASELINE if rewards is None else rewards).items():
        for sample, reward in enumerate(samples):
            lost = {"failure_class": "tool_timeout", "failure_message": "search: no answer"}
            put_rollout(
                database, job, f"base{row}_{sample}_{job}", split="valid", step=0,
                prompt_index=row, sample_index=sample, reward=reward,
                trace=trace("Which river?", "Nile"), **(lost if reward is None else {}),
            )  # fmt: skip


def train(database: Database, job: str) -> None:
    """Gives a job twelve steps of curves, rollouts of two validations, a report and its end."""
    rising = [0.1 + 0.05 * step for step in range(1, STEPS + 1)]
    put_points(
        database,
        job,
        {
            ("reward/mean", "train"): rising,
            ("reward/mean", "valid"): [0.125, *rising],
            ("reward/component/format", "train"): [0.5] * STEPS,
            ("rollouts/valid", "train"): [9.0] * STEPS,
            ("discarded/count", "train"): [1.0] * STEPS,
            ("discarded/share", "train"): [0.1] * STEPS,
            ("discarded/tool_timeout", "train"): [1.0] * STEPS,
            ("tool_calls/mean", "train"): [2.0] * STEPS,
            ("tool/search/calls_mean", "train"): [2.0] * STEPS,
            ("tool/search/errors", "train"): [9.0] * STEPS,
            ("tool/search/latency_s_mean", "train"): [0.25] * STEPS,
            ("train/entropy", "train"): [1.5] * STEPS,
            ("train/loss", "train"): [0.1] * STEPS,
        },
    )
    for step, reward in ((0, 0.0), (STEPS, 1.0)):
        for row in range(ROWS):
            for sample in range(SAMPLES):
                put_rollout(
                    database,
                    job,
                    f"ro_{step}_{row}_{sample}",
                    split="report",
                    step=step,
                    prompt_index=row,
                    sample_index=sample,
                    reward=0.5 if row == 0 else reward,
                    trace=trace(f"Question {row}?", f"Answer at step {step}.", call("Nile")),
                )
    end(database, job)


def end(database: Database, job: str) -> None:
    """Ends a job as succeeded, with a report."""
    compared = {"start_mean": 0.125, "tuned_mean": 0.875, "difference": 0.75}
    report = {
        "object": "fine_tuning.job.report",
        "job_id": job,
        "base_model": "tiny-agent",
        "start_model": "tiny-agent",
        "step": STEPS,
        "rows": ROWS,
        "wins": 3,
        "ties": 1,
        "losses": 0,
        "regressions": [],
        "reward": {**compared, "difference_ci95": [0.5, 0.9]},
        "tool_calls": {**compared, "difference": -0.5, "difference_ci95": None},
        "components": {"format": {**compared, "rows": 2, "rollouts_without": 3}},
    }
    execute(
        database,
        "INSERT INTO reports (project_id, job_id, report) "
        "SELECT project_id, id, %s FROM fine_tuning_jobs WHERE id = %s",
        (json.dumps(report), job),
    )
    execute(
        database,
        "UPDATE fine_tuning_jobs SET status = 'succeeded', step = %s, total_steps = %s, "
        "finished_at = now() WHERE id = %s",
        (STEPS, STEPS, job),
    )


def put_usage(database: Database, job: str, **amounts: float) -> None:
    """Records usage of a job, today."""
    columns = "".join(f", {name}" for name in amounts)
    execute(
        database,
        "INSERT INTO usage_records"
        f" (id, organization_id, project_id, kind, key_id, model, job_id{columns})"
        " SELECT 'usage_' || id, organization_id, project_id, 'fine_tuning', key_id, model, id"
        f"{', %s' * len(amounts)} FROM fine_tuning_jobs WHERE id = %s",
        (*amounts.values(), job),
    )
