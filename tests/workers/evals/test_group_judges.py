"""Eval runs with several samples of each item, which a judge of groups compares."""

import asyncio
import json
import re
from typing import Any

import pytest

from app.evals.data_sources import MAX_ITEMS, MAX_REPEATED_BYTES
from tests.support.endpoints import ReceivedRequest, Reply
from tests.support.evals.criteria import RIGHT, WRONG, endpoint_grader
from tests.support.evals.world import QUESTION, World, exact, rows, sampled
from tests.support.grading.judges import CODED, judged_reply
from workers.evals.child import work

OTHER = "What is the weight of part P018?"


def judge(received: ReceivedRequest) -> Reply:
    """Scores each rollout by the share of its answer's letters among those of the longest."""
    asked = "\n".join(message["content"] for message in received.json["messages"])
    shown = re.findall(r'<rollout id="(\d+)">\n(.*?)\n</rollout>', asked, re.DOTALL)
    answers = {number: len(json.loads(text)[-1]["content"]) for number, text in shown}
    longest = max(1, *answers.values(), 1)
    scores = {number: length / longest for number, length in answers.items()}
    usage = {"prompt_tokens": 11, "completion_tokens": 3}
    return judged_reply(received, json.dumps({CODED: scores}), usage=usage)


def ruler(world: World) -> dict[str, Any]:
    return {
        "type": "ai_judge",
        "name": "ruler",
        "model": "judge-1",
        "base_url": world.grader.url("/v1"),
        "pass_threshold": 0.5,
    }


async def test_the_samples_of_an_item_are_judged_together(world: World) -> None:
    world.grader.script = judge
    source = sampled(
        rows(RIGHT, {"question": OTHER, "answer": "41"}),
        samples_per_item=3,
        sampling_params={"temperature": 1.5, "max_completion_tokens": 24, "seed": 5},
    )
    path = await world.make(ruler(world), exact(), source=source)
    run = await world.finish(path)
    assert (run["status"], run["result_counts"]["total"]) == ("completed", 6)
    items = await world.items(path)
    places = [(item["datasource_item_id"], item["sample_index"]) for item in items]
    assert places == [(row, sample) for row in range(2) for sample in range(3)]
    for group in (items[:3], items[3:]):
        lengths = [len(item["sample"]["output"][0]["content"] or "") for item in group]
        scores = [item["results"][0]["score"] for item in group]
        assert scores == pytest.approx([length / max(1, *lengths) for length in lengths])
    assert len(world.grader.received) == 2, "one question for each item"
    asked = [each.json["messages"][-1]["content"] for each in world.grader.received]
    assert sorted((text.count(QUESTION), text.count(OTHER)) for text in asked) == [(0, 1), (1, 0)]
    used = {usage["model_name"]: usage for usage in run["per_model_usage"]}
    assert (used["judge-1"]["invocation_count"], used["judge-1"]["prompt_tokens"]) == (2, 22)
    assert used["parrot"]["invocation_count"] == 6
    assert await world.get(f"{path}/output_items/{items[4]['id']}") == items[4]


async def test_each_call_of_a_judge_is_an_invocation(world: World) -> None:
    def unusable_first(received: ReceivedRequest) -> Reply:
        if len(world.grader.received) == 1:
            message = {"role": "assistant", "content": "no scores"}
            return Reply(json={"choices": [{"index": 0, "message": message}]})
        return judge(received)

    world.grader.script = unusable_first
    source = sampled(rows(RIGHT), samples_per_item=2, sampling_params={"temperature": 1.5})
    path = await world.make({**ruler(world), "repeats": 2}, exact(), source=source)
    run = await world.finish(path)
    used = {usage["model_name"]: usage["invocation_count"] for usage in run["per_model_usage"]}
    assert len(world.grader.received) == 3, "two questions, and one again"
    assert used == {"judge-1": 3, "parrot": 2}


async def test_a_claim_continues_with_the_items_that_have_no_samples_yet(world: World) -> None:
    async def held(request: ReceivedRequest) -> Reply:
        if request.json["item"] == WRONG:
            await asyncio.Event().wait()
        return Reply(json={"score": 1})

    world.grader.script = held
    source = sampled(rows(RIGHT, WRONG), samples_per_item=2)
    path = await world.make(endpoint_grader(world), source=source)
    lease = await world.claim(path)
    working = asyncio.create_task(work(world.ports, lease))
    await world.until_items(path, 2)
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)
    world.grader.script = lambda _: Reply(json={"score": 1})
    await work(world.ports, lease)
    run = await world.get(path)
    assert run["result_counts"] == {"total": 4, "errored": 0, "failed": 0, "passed": 4}
    items = await world.items(path)
    assert [(item["datasource_item_id"], item["sample_index"]) for item in items] == [
        (0, 0), (0, 1), (1, 0), (1, 1),
    ]  # fmt: skip
    asked = [request.json["item"] for request in world.grader.received]
    assert asked.count(RIGHT) == 2, "its samples were written together, and are not asked again"


@pytest.mark.parametrize(
    ("source", "param"),
    [
        (sampled(rows(RIGHT), samples_per_item=0), "data_source.samples_per_item"),
        (sampled(rows(RIGHT), samples_per_item=65), "data_source.samples_per_item"),
        (sampled(rows(RIGHT), samples_per_item="2"), "data_source.samples_per_item"),
        (
            sampled(rows(*[{"question": "?"}] * 200), samples_per_item=64),
            "data_source.samples_per_item",
        ),
        (
            sampled(rows(*[{"question": "?" * 500_000}] * 5), samples_per_item=64),
            "data_source.samples_per_item",
        ),
        (
            {"type": "jsonl", "source": rows(RIGHT), "samples_per_item": 2},
            "data_source.samples_per_item",
        ),
    ],
)
async def test_a_wrong_number_of_samples_is_refused(
    world: World, source: dict[str, Any], param: str
) -> None:
    config = {"type": "custom", "item_schema": {"type": "object"}}
    made = await world.post(
        "/v1/evals", {"data_source_config": config, "testing_criteria": [exact()]}
    )
    sent = {"data_source": source}
    reply = await world.post(f"/v1/evals/{made['id']}/runs", sent, expect=400)
    assert reply["error"]["param"] == param, reply


async def test_a_file_with_more_samples_than_a_run_makes_fails_before_any_call(
    world: World,
) -> None:
    file_id = await world.upload([{"item": {"question": "?"}}] * (MAX_ITEMS // 64 + 1))
    source = sampled({"type": "file_id", "id": file_id}, samples_per_item=64)
    path = await world.make(exact(), source=source)
    run = await world.finish(path)
    assert (run["status"], run["error"]["code"]) == ("failed", "invalid_file")
    assert "more than 10000 samples, 64 of each item" in run["error"]["message"]


async def test_a_file_whose_samples_repeat_too_many_bytes_fails_before_any_call(
    world: World,
) -> None:
    large = {"item": {"question": "?" * 900_000}}
    file_id = await world.upload([large] * 5)
    source = sampled({"type": "file_id", "id": file_id}, samples_per_item=64)
    path = await world.make(exact(), source=source)
    run = await world.finish(path)
    assert (run["status"], run["error"]["code"]) == ("failed", "invalid_file")
    assert "Line 3: the rows up to this one" in run["error"]["message"]
    assert f"more than {MAX_REPEATED_BYTES} bytes" in run["error"]["message"]
