"""`POST /v1/graders/{id}/calibrate`, with sound graders and with ones that can be hacked."""

import asyncio
import json
import threading
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from app.database import Database as Store
from app.graders.scorer import ComputingShares
from app.jobs.claims import job_claims
from app.rollouts.rollouts import RolloutRow
from tests.support.api.application import Api
from tests.support.api.job_calls import JOBS
from tests.support.cases import cases
from tests.support.patience import PATIENCE_S, until
from tests.support.stack import Database
from tests.support.store.claims import claim_row
from tests.support.store.rows import a_rollout

GRADERS = "/v1/graders"
EXACT = {"type": "exact_match", "reference": "{{item.answer}}"}
SHORT = {"type": "length_bounds", "max": 40}
ROWS = [
    {"messages": [{"role": "user", "content": f"Which town is number {n}?"}], "answer": f"Town {n}"}
    for n in range(8)
]
SAMPLES = [
    {"item": row, "model_sample": f"Town {n}" if n % 4 else "I do not know"}
    for n, row in enumerate(ROWS)
]


NUMBERS = count()


async def path_of(api: Api, grader: dict[str, Any]) -> str:
    made = await api.call(
        "POST", GRADERS, json={"name": f"grader {next(NUMBERS)}", "grader": grader}
    )
    assert made.status_code == 200, made.text
    return f"{GRADERS}/{made.json()['id']}/calibrate"


async def calibrated(api: Api, grader: dict[str, Any], **body: Any) -> dict[str, Any]:
    reply = await api.call("POST", await path_of(api, grader), json=body)
    assert reply.status_code == 200, reply.text
    found: dict[str, Any] = reply.json()
    return found


async def test_a_sound_grader_scores_no_probe_high(api: Api) -> None:
    found = await calibrated(api, EXACT, samples=SAMPLES)
    assert (found["object"], found["samples"], found["scored"]) == ("grader.calibration", 8, 8)
    assert found["scores"]["mean"] == 0.75
    assert [found["scores"]["histogram"][n]["count"] for n in (0, 9)] == [2, 6]
    shares = ("all_lowest", "all_highest", "no_spread")
    assert [found["scores"][share] for share in shares] == [None] * 3
    assert found["report"][1].startswith("No row has 4 answers, so it is not known which rows")
    assert (found["scores"]["thresholds"], found["scores"]["recommended"]) == (
        [{"threshold": 0.0, "failures": 0.0}, {"threshold": 1.0, "failures": 0.25}],
        1.0,
    )
    assert {probe["name"]: probe["mean"] for probe in found["probes"]} == dict.fromkeys(
        ("empty", "echo", "keywords", "overlong", "format_only"), 0.0
    )
    assert found["report"][0] == "None of the five probes scores high."
    assert found["agreement"] is None
    contains = {"type": "contains", "needles": ["{{item.answer}}"]}
    found = await calibrated(api, contains, samples=[one for one in SAMPLES for _ in range(4)])
    assert [found["scores"][share] for share in shares] == [0.25, 0.75, 1.0]
    assert found["report"][1] == "75% of the rows are always right: they teach nothing."


@cases(
    ("grader", "hacks"),
    [
        (SHORT, {"empty", "echo", "format_only"}),
        ({"type": "contains", "needles": ["{{item.answer}}"]}, set()),
        ({"type": "contains", "needles": ["Town"]}, {"keywords", "overlong"}),
        ({"type": "regex", "pattern": "town"}, {"echo", "keywords"}),
    ],
)
async def test_a_grader_that_can_be_hacked_is_reported(
    api: Api, grader: dict[str, Any], hacks: set[str]
) -> None:
    found = await calibrated(api, grader, samples=SAMPLES)
    assert {probe["name"] for probe in found["probes"] if probe["hacks"]} == hacks
    assert sum("training could learn to give it" in line for line in found["report"]) == len(hacks)


async def test_calibrations_of_one_organization_leave_threads_to_another(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, begun = threading.Event(), list[str]()
    run = ComputingShares.run

    def watched(self: ComputingShares, organization: str, project: str, function: Any) -> Any:
        def compute() -> Any:
            begun.append(organization)
            assert organization != begun[0] or go_on.wait(PATIENCE_S)
            return function()

        return run(self, organization, project, compute)

    monkeypatch.setattr(ComputingShares, "run", watched)
    path = await path_of(api, EXACT)
    asked = [
        asyncio.create_task(api.call("POST", path, json={"samples": SAMPLES})) for _ in range(2)
    ]
    try:
        await until(lambda: begun != [], what="a computation of a calibration")
        body = {"grader": EXACT, "model_sample": "Town " * 9_000, "item": ROWS[0]}
        trial = await api.call(
            "POST", "/v1/fine_tuning/alpha/graders/run", key=api.other_key, json=body
        )
        assert (trial.status_code, trial.json()["reward"]) == (200, 0.0)
        assert begun.count(begun[0]) == 1
        assert len(set(begun)) == 2
    finally:
        go_on.set()
    assert [reply.status_code for reply in await asyncio.gather(*asked)] == [200] * 2


async def test_two_graders_are_compared_by_rank(api: Api) -> None:
    near = {
        "type": "text_similarity",
        "input": "{{sample.output_text}}",
        "reference": "{{item.answer}}",
        "evaluation_metric": "rouge_1",
    }
    agreeing = await calibrated(api, EXACT, samples=SAMPLES, compare_with=near)
    assert agreeing["agreement"] == pytest.approx(1.0)


async def test_samples_may_stand_in_a_file(api: Api) -> None:
    lines = [
        *(json.dumps(sample) for sample in SAMPLES[:4]),
        *(
            json.dumps({"item": sent["item"], "sample": {"output_text": sent["model_sample"]}})
            for sent in SAMPLES[4:]
        ),
    ]
    file_id = (await api.upload("\n".join(lines).encode())).json()["id"]
    inline = await calibrated(api, EXACT, samples=SAMPLES)
    again = (await api.call("POST", GRADERS, json={"name": "again", "grader": EXACT})).json()["id"]
    reply = await api.call("POST", f"{GRADERS}/{again}/calibrate", json={"file_id": file_id})
    assert reply.json() == inline


async def test_a_file_has_the_calls_of_its_rollouts(api: Api) -> None:
    called = {"type": "tool_call", "reference": '[{"name": "search", "arguments": {"n": 1}}]'}
    calls = [
        [{"name": "search", "arguments": '{"n": 1}'}],
        [{"function": {"name": "search", "arguments": '{"n": 1}'}}],
        [{"name": "search", "arguments": '{"n": 2}'}],
        [],
    ]
    lines = [
        json.dumps({"item": row, "sample": {"output_text": "done", "tool_calls": each}})
        for row, each in zip(ROWS[:4], calls, strict=True)
    ]
    file_id = (await api.upload("\n".join(lines).encode())).json()["id"]
    found = await calibrated(api, called, file_id=file_id)
    assert (found["samples"], found["scored"], found["scores"]["mean"]) == (4, 4, 0.575)


async def test_what_cannot_be_calibrated_is_refused(api: Api) -> None:
    path = await path_of(api, EXACT)
    wrong = (await api.upload(b'{"item": {}, "model_sample": 7}\n' * 2)).json()["id"]
    unscored = (await api.upload(b'{"item": {}, "model_sample": "x"}\n')).json()["id"]
    bodies: list[tuple[dict[str, Any], int, str | None]] = [
        ({}, 400, None),
        ({"samples": []}, 400, "samples"),
        ({"samples": SAMPLES, "file_id": wrong}, 400, None),
        ({"samples": [{"item": {}, "model_sample": "x"}]}, 400, "samples"),
        ({"samples": [{"model_sample": 7}]}, 400, "samples[0].model_sample"),
        ({"file_id": wrong}, 400, "file_id"),
        ({"file_id": unscored}, 400, "file_id"),
        ({"file_id": "file-none"}, 404, "file_id"),
        ({"samples": SAMPLES, "compare_with": {"type": "python"}}, 400, "compare_with.source"),
    ]
    for body, status, param in bodies:
        reply = await api.call("POST", path, json=body)
        assert reply.status_code == status, (body, reply.text)
        assert param is None or reply.json()["error"]["param"] == param, reply.text
    foreign = await api.call("POST", path, key=api.other_key, json={"samples": SAMPLES})
    assert foreign.json()["error"]["code"] == "grader_not_found"


def baseline_rollout(job_id: str, row: int, text: str) -> RolloutRow:
    """A rollout of two turns: a call, and the answer to what the tool said."""
    call: dict[str, Any] = {
        "name": "search",
        "arguments": '{"n": 1}',
        "output": f"page {row}",
        "error": None,
    }
    call |= {"call_id": "call_1", "latency_s": 0.1, "repeated": False}
    turn = {"tokens": 3, "finish_reason": "stop", "parse_error": None, "tool_calls": []}
    messages = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": ""},
        {"role": "tool", "content": f"page {row}"},
        {"role": "assistant", "content": text},
    ]
    trace = {"messages": messages, "turns": [{**turn, "tool_calls": [call]}, turn]}
    made = a_rollout(job_id, 0)
    return replace(made, split="valid", step=0, prompt_index=row, trace=trace)


async def test_a_job_s_baseline_is_scored_with_its_rows_and_calls(
    api: Api, database: Database, body: dict[str, Any]
) -> None:
    rows = [{**ROWS[0], "answer": f"Town {n}"} for n in range(10)]
    content = "\n\n".join(map(json.dumps, rows)).encode()
    file_id = (await api.upload(content)).json()["id"]
    made = await api.call("POST", JOBS, json={**body, "validation_file": file_id})
    job_id = made.json()["id"]
    exact = await path_of(api, EXACT)
    early = await api.call("POST", exact, json={"job_id": job_id})
    assert (early.status_code, early.json()["error"]["code"]) == (400, "no_baseline")
    worker = Store(database.worker_url, pool_size=2)
    lease = await claim_row(job_claims(worker), job_id, lease_s=600.0)
    assert lease is not None
    async with worker.run(lease.project_id, job_id, lease.fence) as unit:
        rollouts = [baseline_rollout(job_id, n, f"Town {n % 5}") for n in range(10)]
        await unit.rollouts.insert_many(job_id, rollouts)
        await unit.rollouts.insert_many(job_id, [a_rollout(job_id, 1)])
    await worker.dispose()
    found = (await api.call("POST", exact, json={"job_id": job_id})).json()
    assert (found["samples"], found["scored"], found["scores"]["mean"]) == (10, 10, 0.5)
    calls = {"type": "contains", "input": "{{sample.tool_calls[0].output}}", "needles": ["page 3"]}
    found = await calibrated(api, calls, job_id=job_id)
    assert (found["scored"], found["scores"]["mean"]) == (10, 0.1)
    lacking = await path_of(api, {"type": "regex", "pattern": "a", "input": "{{item.absent}}"})
    failed = (await api.call("POST", lacking, json={"job_id": job_id})).json()["error"]
    assert (failed["code"], failed["param"]) == ("grader_failed", "job_id")
    stranger = await api.call("POST", exact, json={"job_id": "ftjob-none"})
    assert (stranger.status_code, stranger.json()["error"]["param"]) == (404, "job_id")
