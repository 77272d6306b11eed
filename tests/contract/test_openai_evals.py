"""Evals with the official client, unmodified: every method, paging, a user's runs and a job's."""

import json
from typing import Any

import pytest
from openai import BadRequestError, NotFoundError

from app.evals.evals import rollout_id
from tests.support.contract.evals import CHECK, SCHEMA, content, make, run_worker, sampled
from tests.support.contract.service import BASE, Service


def test_an_eval_is_made_read_changed_and_deleted(service: Service) -> None:
    client = service.client()
    config: Any = {"type": "custom", "item_schema": SCHEMA, "include_sample_schema": True}
    raw = client.evals.with_raw_response.create(data_source_config=config, testing_criteria=[CHECK])
    assert raw.status_code == 201
    made = raw.parse()
    assert made.id.startswith("eval_")
    assert made.object == "eval"
    assert made.data_source_config.type == "custom"
    schema: Any = made.data_source_config.schema_
    assert schema["properties"]["item"] == SCHEMA
    assert schema["required"] == ["item", "sample"]
    assert [criterion.to_dict() for criterion in made.testing_criteria] == [CHECK]
    assert client.evals.retrieve(made.id).to_dict() == made.to_dict()
    changed = client.evals.update(made.id, name="renamed", metadata={"k": "v"})
    assert (changed.name, changed.metadata) == ("renamed", {"k": "v"})
    assert client.evals.update(made.id, metadata=None).metadata is None
    assert client.evals.retrieve(made.id).name == "renamed"
    gone = client.evals.delete(made.id)
    assert (gone.deleted, gone.eval_id, gone.object) == (True, made.id, "eval.deleted")
    for call in (client.evals.retrieve, client.evals.delete, client.evals.update):
        with pytest.raises(NotFoundError):
            call(made.id)


def test_evals_page_in_both_orders_and_by_their_last_change(service: Service) -> None:
    client = service.client()
    ids = [make(client, f"number {number}").id for number in range(23)]
    listed = [listed_eval.id for listed_eval in client.evals.list(limit=5) if listed_eval.id in ids]
    assert listed == ids
    backwards = [listed_eval.id for listed_eval in client.evals.list(limit=7, order="desc")]
    assert [eval_id for eval_id in backwards if eval_id in ids] == ids[::-1]
    client.evals.update(ids[3], name="touched")
    latest = client.evals.list(order_by="updated_at", order="desc", limit=1)
    assert latest.data[0].id == ids[3]
    assert latest.has_more
    with pytest.raises(BadRequestError):
        client.evals.list(after="eval_none")


def test_a_run_samples_and_its_items_are_read(service: Service) -> None:
    client = service.client()
    of = make(client)
    raw = client.evals.runs.with_raw_response.create(
        of.id, data_source=sampled("hello", "no", "hello"), name="first", metadata={"a": "b"}
    )
    assert raw.status_code == 201
    run = raw.parse()
    assert (run.object, run.eval_id, run.status, run.name) == ("eval.run", of.id, "queued", "first")
    assert (run.model, run.metadata) == ("tiny-agent", {"a": "b"})
    assert run.to_dict()["error"] is None
    assert run.report_url.endswith(f"/v1/evals/{of.id}/runs/{run.id}")
    service.engine.bodies.clear()
    run_worker(service, run.id)
    done = client.evals.runs.retrieve(run.id, eval_id=of.id)
    assert done.status == "completed"
    counts = done.result_counts
    assert (counts.total, counts.errored, counts.failed, counts.passed) == (3, 0, 1, 2)
    criterion = done.per_testing_criteria_results[0]
    assert criterion.testing_criteria.startswith("exact-")
    assert (criterion.passed, criterion.failed) == (2, 1)
    usage = done.per_model_usage[0]
    assert usage.to_dict() == {
        "model_name": "tiny-agent",
        "invocation_count": 3,
        "prompt_tokens": 9,
        "completion_tokens": 3,
        "cached_tokens": 0,
        "total_tokens": 12,
    }
    asked = service.engine.bodies
    assert len(asked) == 3
    assert {(request["model"], request["temperature"]) for request in asked} == {(BASE, 0.5)}
    seeds = {request["seed"] for request in asked}
    assert len(seeds) == 3
    items = list(client.evals.runs.output_items.list(run.id, eval_id=of.id, limit=1))
    assert [item.status for item in items] == ["pass", "fail", "pass"]
    first = items[0]
    assert first.id.startswith("outputitem_")
    assert (first.object, first.datasource_item_id) == ("eval.run.output_item", 0)
    assert first.datasource_item == {"answer": "hello"}
    assert first.results[0].name == criterion.testing_criteria
    assert (first.results[0].score, first.results[0].passed) == (1, True)
    assert first.sample.output[0].content == "hello"
    assert first.sample.input[0].content == "Say it"
    assert (first.sample.model, first.sample.top_p) == ("tiny-agent", 0.9)
    assert first.sample.seed in seeds
    assert first.sample.usage.total_tokens == 4
    again = client.evals.runs.output_items.retrieve(first.id, eval_id=of.id, run_id=run.id)
    assert again.to_dict() == first.to_dict()
    failed = client.evals.runs.output_items.list(run.id, eval_id=of.id, status="fail")
    assert [item.id for item in failed] == [items[1].id]
    backwards = client.evals.runs.output_items.list(run.id, eval_id=of.id, order="desc", limit=2)
    assert [item.id for item in backwards] == [item.id for item in items][::-1]


def test_runs_page_are_canceled_and_deleted(service: Service) -> None:
    client = service.client()
    of = make(client)
    jsonl: Any = {"type": "jsonl", "source": content("a")}
    ids = [client.evals.runs.create(of.id, data_source=jsonl).id for _ in range(12)]
    assert [listed_run.id for listed_run in client.evals.runs.list(of.id, limit=5)] == ids
    assert [
        listed_run.id for listed_run in client.evals.runs.list(of.id, limit=5, order="desc")
    ] == ids[::-1]
    canceled = client.evals.runs.cancel(ids[4], eval_id=of.id)
    assert canceled.status == "canceled"
    assert [listed_run.id for listed_run in client.evals.runs.list(of.id, status="canceled")] == [
        ids[4]
    ]
    with pytest.raises(BadRequestError) as refused:
        client.evals.runs.cancel(ids[4], eval_id=of.id)
    assert refused.value.code == "invalid_state"
    gone = client.evals.runs.delete(ids[4], eval_id=of.id)
    assert (gone.deleted, gone.run_id, gone.object) == (True, ids[4], "eval.run.deleted")
    with pytest.raises(NotFoundError):
        client.evals.runs.retrieve(ids[4], eval_id=of.id)
    client.evals.delete(of.id)
    with pytest.raises(NotFoundError):
        client.evals.runs.retrieve(ids[0], eval_id=of.id)


def test_a_jobs_validations_are_the_runs_of_its_eval(service: Service, job: Any) -> None:
    client = service.client()
    of = client.evals.retrieve(job.eval_id)
    assert of.name == f"Reinforcement Fine Tuning validation runs for {job.id}"
    grader: Any = of.testing_criteria[0].to_dict()
    assert grader == job.to_dict()["method"]["reinforcement"]["grader"]
    assert list(client.evals.runs.list(of.id)) == []
    _add_validations(service, job.id, steps=(0, 5, 10))
    runs = list(client.evals.runs.list(of.id, limit=2))
    assert [run.name for run in runs] == ["Step 0", "Step 5", "Step 10"]
    assert {run.status for run in runs} == {"completed"}
    counts = runs[1].result_counts
    assert (counts.total, counts.errored, counts.failed, counts.passed) == (12, 1, 7, 4)
    assert runs[0].model == BASE
    assert [run.id for run in client.evals.runs.list(of.id, order="desc", limit=1)] == [
        run.id for run in runs[::-1]
    ]
    assert list(client.evals.runs.list(of.id, status="failed")) == []
    assert client.evals.runs.retrieve(runs[1].id, eval_id=of.id).to_dict() == runs[1].to_dict()
    output_items = client.evals.runs.output_items
    items = list(output_items.list(runs[1].id, eval_id=of.id, limit=5))
    assert [item.datasource_item_id for item in items] == list(range(12))
    assert [item.status for item in items].count("error") == 1
    assert len(list(output_items.list(runs[1].id, eval_id=of.id, status="pass"))) == 4
    assert len(list(output_items.list(runs[1].id, eval_id=of.id, status="fail"))) == 7
    item = items[0]
    again = output_items.retrieve(item.id, eval_id=of.id, run_id=runs[1].id)
    assert again.to_dict() == item.to_dict()
    assert rollout_id(item.id).startswith("rollout_")
    with pytest.raises(NotFoundError):
        output_items.retrieve(item.id, eval_id=of.id, run_id=runs[0].id)
    seen: Any = item.datasource_item
    assert seen["messages"] == [{"name": None, "role": "user", "content": "hi"}]
    spans = seen["trace"]["spans"]
    assert [span["span_data"]["type"] for span in spans] == ["GENERATION", "FUNCTION", "GENERATION"]
    assert spans[1]["parent_id"] == spans[0]["id"]
    call = spans[1]["span_data"]
    assert (call["name"], call["input"], call["output"]) == ("functions.search", "{}", "found")
    assert spans[0]["span_data"]["output"][0]["recipient"] == "functions.search"
    assert spans[2]["span_data"]["input"][-1]["content"] == "found"
    assert spans[2]["span_data"]["output"][0]["recipient"] == "all"


def test_a_jobs_eval_takes_no_runs_and_stays(service: Service, job: Any) -> None:
    client = service.client()
    _add_validations(service, job.id, steps=(0,))
    run = client.evals.runs.list(job.eval_id).data[0]
    jsonl: Any = {"type": "jsonl", "source": content("a")}
    for call in (
        lambda: client.evals.delete(job.eval_id),
        lambda: client.evals.runs.create(job.eval_id, data_source=jsonl),
        lambda: client.evals.runs.cancel(run.id, eval_id=job.eval_id),
        lambda: client.evals.runs.delete(run.id, eval_id=job.eval_id),
    ):
        with pytest.raises(BadRequestError) as refused:
            call()
        assert refused.value.code == "invalid_state"
    for absent in ("evalrun_x", run.id[:-1] + "7", run.id[:-1] + "00", run.id + "0" * 12):
        with pytest.raises(NotFoundError):
            client.evals.runs.retrieve(absent, eval_id=job.eval_id)
    with pytest.raises(BadRequestError):
        client.evals.runs.list(job.eval_id, after="evalrun_x")


def test_another_project_finds_nothing(service: Service, job: Any) -> None:
    mine, other = service.client(), service.client(key=service.api.other_key)
    of = make(mine)
    jsonl: Any = {"type": "jsonl", "source": content("a")}
    run = mine.evals.runs.create(of.id, data_source=jsonl)
    _add_validations(service, job.id, steps=(0,))
    step = mine.evals.runs.list(job.eval_id).data[0]
    item = mine.evals.runs.output_items.list(step.id, eval_id=job.eval_id).data[0]
    calls: list[Any] = []
    for eval_id, run_id in ((of.id, run.id), (job.eval_id, step.id)):
        ids = {"eval_id": eval_id}
        calls += [
            (other.evals.retrieve, (eval_id,), {}),
            (other.evals.update, (eval_id,), {"name": "x"}),
            (other.evals.delete, (eval_id,), {}),
            (other.evals.runs.list, (eval_id,), {}),
            (other.evals.runs.create, (eval_id,), {"data_source": jsonl}),
            (other.evals.runs.retrieve, (run_id,), ids),
            (other.evals.runs.cancel, (run_id,), ids),
            (other.evals.runs.delete, (run_id,), ids),
            (other.evals.runs.output_items.list, (run_id,), ids),
            (other.evals.runs.output_items.retrieve, (item.id,), {**ids, "run_id": run_id}),
        ]
    for call, arguments, options in calls:
        with pytest.raises(NotFoundError):
            call(*arguments, **options)
    assert list(other.evals.list()) == []


async def test_the_asynchronous_client_too(service: Service) -> None:
    async with service.async_client() as client:
        config: Any = {"type": "custom", "item_schema": SCHEMA}
        of = await client.evals.create(data_source_config=config, testing_criteria=[CHECK])
        jsonl: Any = {"type": "jsonl", "source": content("a", "b")}
        run = await client.evals.runs.create(of.id, data_source=jsonl)
        assert [listed_run.id async for listed_run in client.evals.runs.list(of.id)] == [run.id]
        items = client.evals.runs.output_items.list(run.id, eval_id=of.id)
        assert [item async for item in items] == []
        assert (await client.evals.runs.cancel(run.id, eval_id=of.id)).status == "canceled"
        assert (await client.evals.delete(of.id)).deleted


def test_a_validation_without_a_reward_has_failed_as_other_runs_do(
    service: Service, job: Any
) -> None:
    client = service.client()
    _add_validations(service, job.id, steps=(0,), lost=0)
    _add_validations(service, job.id, steps=(5, 10))
    (run,) = client.evals.runs.list(job.eval_id, status="failed")
    assert (run.name, run.status, run.error.code) == ("Step 0", "failed", "all_items_errored")
    assert run.error.message == (
        "Nothing could be scored: each of 12 output items is an error. The first one: lost 0"
    )
    assert (run.result_counts.total, run.result_counts.errored) == (12, 12)
    assert client.evals.runs.retrieve(run.id, eval_id=job.eval_id).to_dict() == run.to_dict()
    ended: Any = client.evals.runs.list(job.eval_id, status="completed")
    assert [(run.name, run.error) for run in ended] == [("Step 5", None), ("Step 10", None)]
    assert list(client.evals.runs.list(job.eval_id, status="queued")) == []


def _add_validations(
    service: Service, job_id: str, *, steps: tuple[int, ...], lost: int = 11
) -> None:
    """Inserts twelve rollouts for each step: four at 0.75, others below, and those from the number
    `lost` on without a reward.
    """
    asked = {"id": "call_1", "type": "function"} | {
        "function": {"name": "search", "arguments": "{}"}
    }
    call = {"name": "search", "arguments": "{}", "output": "found", "error": None, "latency_s": 0.5}
    turn = {"tokens": 5, "reasoning_tokens": 0, "finish_reason": "stop", "parse_error": None}
    trace = {
        "messages": [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": "", "tool_calls": [asked]},
            {"role": "tool", "tool_call_id": "call_1", "content": "found"},
            {"role": "assistant", "content": "it is found"},
        ],
        "turns": [{**turn, "tool_calls": [call]}, {**turn, "tool_calls": []}],
    }
    for step in steps:
        service.execute(
            "INSERT INTO rollouts (id, project_id, job_id, split, step, prompt_index,"
            " sample_index, attempt, trace_id, reward, failure_class, failure_message,"
            " policy_version, prompt_tokens, completion_tokens, reasoning_tokens, tool_calls,"
            " components, trace, started_at, finished_at)"
            " SELECT 'rollout_' || substr(id, 7) || %s || 'n' || n, project_id, id, 'valid', %s, n,"
            " 0, 0, 'trace_' || n, CASE WHEN n >= lost THEN NULL WHEN n < 4 THEN 0.75 ELSE 0.5 END,"
            " CASE WHEN n >= lost THEN 'tool_error' END, CASE WHEN n >= lost THEN 'lost ' || n END,"
            " 1, 10, 10, 0, 1, '{}', %s, 1.0, 2.0"
            " FROM fine_tuning_jobs, generate_series(0, 11) n, (SELECT %s AS lost) l WHERE id = %s",
            f"s{step}",
            step,
            json.dumps(trace),
            lost,
            job_id,
        )
