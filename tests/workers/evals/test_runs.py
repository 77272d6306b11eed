"""Eval runs with a real engine: items are sampled, scored and written once, even if a process
crashes.
"""

import asyncio
from dataclasses import replace
from typing import Any

import psycopg
import pytest
from typing_extensions import override

from app.evals.claims import eval_claims
from app.evals.data_sources import MAX_ITEMS
from app.kit.errors import LeaseLost
from app.models.engine import Completion
from tests.support.endpoints import ReceivedRequest, Reply
from tests.support.engines.in_memory import InMemoryInference
from tests.support.evals.criteria import RIGHT, WRONG, endpoint_grader
from tests.support.evals.world import ANSWER, MODEL, QUESTION, World, exact, rows, sampled
from tests.support.objects.stored_directories import store_directory
from tests.support.stack import Database
from tests.support.store.claims import claim_row
from workers.evals.child import work


async def test_a_run_samples_the_model_and_scores_its_answers(world: World) -> None:
    near = {
        "type": "text_similarity",
        "name": "near",
        "input": "{{ sample.output_text }}",
        "reference": "{{ item.answer }}",
        "evaluation_metric": "fuzzy_match",
        "pass_threshold": 0.9,
    }
    path = await world.make(exact(), near, source=sampled(rows(RIGHT, WRONG, RIGHT)))
    run = await world.finish(path)
    assert (run["status"], run["model"], run["error"]) == ("completed", "parrot", None)
    assert run["result_counts"] == {"total": 3, "errored": 0, "failed": 1, "passed": 2}
    results = run["per_testing_criteria_results"]
    assert [(result["passed"], result["failed"]) for result in results] == [(2, 1), (2, 1)]
    assert results[0]["testing_criteria"].startswith("exact-")
    (usage,) = run["per_model_usage"]
    assert (usage["model_name"], usage["invocation_count"]) == ("parrot", 3)
    assert usage["prompt_tokens"] > 0
    assert usage["completion_tokens"] > 0
    items = await world.items(path)
    assert [item["datasource_item_id"] for item in items] == [0, 1, 2]
    assert [item["status"] for item in items] == ["pass", "fail", "pass"]
    sample = items[0]["sample"]
    assert sample["input"] == [{"role": "user", "content": QUESTION}]
    assert sample["output"][0]["content"] == ANSWER
    assert (sample["finish_reason"], sample["temperature"], sample["error"]) == ("stop", 0, None)
    assert items[0]["results"][0]["name"] == results[0]["testing_criteria"]
    assert items[0]["results"][0]["score"] == 1
    assert items[1]["results"][1]["score"] < 0.9
    assert [item["id"] for item in await world.items(path, status="fail")] == [items[1]["id"]]
    item = await world.get(f"{path}/output_items/{items[1]['id']}")
    assert item == items[1]


async def test_the_responses_form_samples_the_same_model(world: World) -> None:
    reference = {"type": "item_reference", "item_reference": "item.talk"}
    source = sampled(
        rows({"talk": [{"role": "user", "content": QUESTION}], "answer": ANSWER}, {"answer": "x"}),
        type="responses",
        input_messages=reference,
        sampling_params={"temperature": 0, "text": {"format": {"type": "text"}}},
    )
    path = await world.make(exact(), source=source)
    run = await world.finish(path)
    assert run["result_counts"] == {"total": 2, "errored": 1, "failed": 0, "passed": 1}
    lost = (await world.items(path, status="error"))[0]
    assert lost["sample"]["error"]["code"] == "invalid_item"
    assert "item.talk" in lost["sample"]["error"]["message"]


@pytest.mark.parametrize(
    ("params", "param"),
    [
        ({"response_format": {"type": "json_object"}}, "response_format.type"),
        ({"text": {"format": {"type": "json_schema", "name": "a", "schema": {}}}},
         "text.format.type"),
    ],
)  # fmt: skip
async def test_a_format_that_the_engine_cannot_give_is_refused_before_the_run(
    world: World, params: dict[str, Any], param: str
) -> None:
    path = (await world.make(exact(), source=sampled(rows(RIGHT)))).rpartition("/")[0]
    sent = {"data_source": sampled(rows(RIGHT), sampling_params=params)}
    refused = (await world.post(path, sent, expect=400))["error"]
    assert refused["param"] == f"data_source.sampling_params.{param}"
    assert "the engine that serves 'parrot' gives text alone" in refused["message"]
    assert len((await world.get(path))["data"]) == 1


async def test_a_bad_line_fails_the_run_before_anything_is_called(world: World) -> None:
    file_id = await world.upload([{"item": {"n": 1}}, {"no": "item"}])
    source = {"type": "jsonl", "source": {"type": "file_id", "id": file_id}}
    run = await world.finish(await world.make(endpoint_grader(world), source=source))
    assert run["status"] == "failed"
    assert run["error"]["code"] == "invalid_file"
    assert "Line 2" in run["error"]["message"]
    assert world.grader.received == []


async def test_a_file_of_too_many_items_fails_the_run(world: World) -> None:
    file_id = await world.upload([{"item": {"n": 1}}] * (MAX_ITEMS + 1))
    source = {"type": "jsonl", "source": {"type": "file_id", "id": file_id}}
    run = await world.finish(await world.make(exact(), source=source))
    assert (run["status"], run["error"]["code"]) == ("failed", "invalid_file")
    assert f"Line {MAX_ITEMS + 1}" in run["error"]["message"]


async def test_an_unreachable_grader_makes_errors_not_failures(world: World) -> None:
    def flaky(request: ReceivedRequest) -> Reply:
        return Reply(status=500) if request.json["item"]["n"] == 1 else Reply(json={"score": 0.5})

    world.grader.script = flaky
    source = {"type": "jsonl", "source": rows(*({"n": n} for n in range(3)))}
    path = await world.make(endpoint_grader(world), source=source)
    run = await world.finish(path)
    assert run["result_counts"] == {"total": 3, "errored": 1, "failed": 0, "passed": 2}
    assert run["per_testing_criteria_results"][0]["passed"] == 2
    lost = (await world.items(path, status="error"))[0]
    assert lost["results"] == []
    assert lost["sample"]["error"]["code"] == "grader_error"
    assert world.grader.received[0].headers["x-customer-key"] == "canary-header-value"
    assert "canary-header-value" not in str(await world.get(path.rsplit("/", 2)[0]))


async def test_a_canceled_run_writes_nothing_more(world: World) -> None:
    canceled = asyncio.Event()

    async def slow(request: ReceivedRequest) -> Reply:
        if request.json["item"]["n"] > 0:
            await canceled.wait()
        return Reply(json={"score": 1})

    world.grader.script = slow
    source = {"type": "jsonl", "source": rows(*({"n": n} for n in range(40)))}
    path = await world.make(endpoint_grader(world), source=source)
    working = asyncio.create_task(work(world.ports, await world.claim(path)))
    await world.until_items(path, 1)
    answer = await world.post(f"{path}/cancel", None, expect=200)
    assert answer["status"] == "canceled"
    canceled.set()
    with pytest.raises(LeaseLost):
        await working
    assert (await world.get(path))["result_counts"]["total"] == len(await world.items(path))
    refused = await world.http.post(path)
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "invalid_state")
    assert await claim_row(eval_claims(world.ports.database), path.rsplit("/", 1)[1]) is None


async def test_a_run_whose_grader_hangs_ends_after_the_longest_time_and_keeps_its_items(
    world: World,
) -> None:
    """Also while its slot is needed by no other run. The time runs from the first claim."""
    hanging = asyncio.Event()

    async def once(request: ReceivedRequest) -> Reply:
        if request.json["item"]["n"] > 0:
            await hanging.wait()
        return Reply(json={"score": 1})

    world.grader.script = once
    source = {"type": "jsonl", "source": rows(*({"n": n} for n in range(3)))}
    path = await world.make(endpoint_grader(world), source=source)
    lease = await world.claim(path)
    killed = asyncio.create_task(work(world.ports, lease))
    await world.until_items(path, 1)
    killed.cancel()
    with pytest.raises(asyncio.CancelledError):
        await killed
    assert (await world.get(path))["status"] == "in_progress"
    settings = world.ports.settings
    runs = settings.runs.model_copy(update={"max_eval_run_s": 1e-3})
    limited = replace(world.ports, settings=settings.model_copy(update={"runs": runs}))
    await work(limited, lease)
    hanging.set()
    run = await world.get(path)
    assert (run["status"], run["error"]["code"]) == ("failed", "run_timeout")
    assert run["error"]["message"].startswith("The run did not end within 0.001 seconds.")
    assert run["result_counts"] == {"total": 1, "errored": 0, "failed": 0, "passed": 1}
    assert len(await world.items(path)) == 1


async def test_a_model_that_is_gone_ends_the_run(world: World) -> None:
    path = await world.make(exact(), source=sampled(rows(RIGHT)))
    url = world.ports.settings.owner_database_url
    assert url is not None
    gone = world.ports.settings.model_copy(update={"base_models": ()})
    ports = type(world.ports)(
        gone,
        world.ports.database,
        world.ports.objects,
        world.ports.egress,
        world.ports.judge_egress,
        world.ports.inference,
    )
    await work(ports, await world.claim(path))
    run = await world.get(path)
    assert (run["status"], run["error"]["code"]) == ("failed", "model_not_found")


class _Remembering(InMemoryInference):
    """Answers requests and records them."""

    def __init__(self) -> None:
        super().__init__(lambda *_: Completion((), (), "stop"))
        self.asked: list[dict[str, Any]] = []

    @override
    async def chat(self, body: dict[str, Any]) -> dict[str, Any]:
        self._check(body["model"])
        self.asked.append(body)
        return {"choices": [{"message": {"role": "assistant", "content": ANSWER}}]}


@pytest.mark.parametrize(("named", "heard"), [(None, "low"), ("high", "high")])
async def test_a_tuned_model_is_called_with_the_effort_it_was_trained_with(
    world: World, database: Database, named: str | None, heard: str
) -> None:
    name = await _tuned_with_little_effort(world, database)
    inference = _Remembering()
    params = {"temperature": 0, **({} if named is None else {"reasoning_effort": named})}
    source = sampled(rows(RIGHT), model=name, sampling_params=params)
    path = await world.make(exact(), source=source)
    await work(replace(world.ports, inference=inference), await world.claim(path))
    assert (await world.get(path))["result_counts"]["passed"] == 1
    assert [body["reasoning_effort"] for body in inference.asked] == [heard]


async def _tuned_with_little_effort(world: World, database: Database) -> str:
    line = b'{"messages": [{"role": "user", "content": "hi"}]}\n'
    reply = await world.http.post(
        "/v1/files", files={"file": ("rows.jsonl", line * 12)}, data={"purpose": "fine-tune"}
    )
    sent = {
        "model": "parrot",
        "training_file": reply.json()["id"],
        "method": {"type": "supervised", "supervised": {}},
    }
    job = await world.post("/v1/fine_tuning/jobs", sent, expect=200)
    name = f"ft:{MODEL}:first::low"
    store_directory(world.ports.settings.objects_dir, "adapters/low")
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        connection.execute(
            "INSERT INTO tuned_models (name, project_id, job_id, base_model, engine_name,"
            " object_key, step, reasoning_effort)"
            " SELECT %s, project_id, id, model, 'adapter-low', 'adapters/low', 1, 'low'"
            " FROM fine_tuning_jobs WHERE id = %s",
            [name, job["id"]],
        )
    return name


@pytest.mark.parametrize("lost", [None, b"damaged"])
async def test_a_run_whose_secrets_are_lost_fails_at_once(
    world: World, database: Database, lost: bytes | None
) -> None:
    path = await world.make(endpoint_grader(world), source=sampled(rows(RIGHT)))
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        connection.execute("UPDATE evals SET secrets = %s", (lost,))
    run = await world.finish(path)
    assert (run["status"], run["error"]["code"]) == ("failed", "secrets_lost")
    assert "create the eval again" in run["error"]["message"]
    assert world.grader.received == []


async def test_a_run_whose_criteria_are_refused_today_fails_at_once(
    world: World, database: Database
) -> None:
    path = await world.make(exact(), source=sampled(rows(RIGHT)))
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        connection.execute(
            "UPDATE evals SET testing_criteria = jsonb_set(testing_criteria, '{0,operation}', "
            "'\"gone\"')"
        )
    run = await world.finish(path)
    assert (run["status"], run["error"]["code"]) == ("failed", "definition_refused")
    assert "Invalid value for 'testing_criteria[0].operation'" in run["error"]["message"]
