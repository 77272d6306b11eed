"""Evals that are attached to a job, over HTTP: what is shown, and what is refused."""

import json
from dataclasses import dataclass
from statistics import stdev
from typing import Any

import pytest

from app.evals.claims import eval_claims, leased_eval_run
from app.evals.evals import OutputItem
from app.kit.ids import new_id
from tests.support.api.application import Api
from tests.support.api.job_calls import JOBS
from tests.support.api.organization import execute
from tests.support.api.trained_jobs import TrainedJobs
from tests.support.stack import Database
from tests.support.store.claims import claim_row

ITEM = b'{"item": {"question": "q", "answer": "a"}}\n'
EVAL = {
    "data_source_config": {"type": "custom", "item_schema": {"type": "object"}},
    "testing_criteria": [
        {
            "type": "string_check",
            "name": "exact",
            "operation": "eq",
            "input": "{{ sample.output_text }}",
            "reference": "{{ item.answer }}",
        }
    ],
}
SECRET = "sk-proj-abcdefghijklmnopqrstuvwx"


def messages(content: str) -> dict[str, Any]:
    return {"type": "template", "template": [{"role": "user", "content": content}]}


@dataclass(frozen=True, slots=True)
class Sent:
    """A project with an eval and a file of items, and what a create call attaches of them."""

    eval_id: str
    file_id: str

    def attached(self, **changes: Any) -> dict[str, Any]:
        return {"eval_id": self.eval_id, "data_source": self.source(**changes)}

    def source(self, **changes: Any) -> dict[str, Any]:
        """Returns a data source with changes; a key whose value is `...` is left out."""
        whole = {
            "type": "completions",
            "source": {"type": "file_id", "id": self.file_id},
            "input_messages": messages("{{ item.question }}"),
            "sampling_params": {"temperature": 0},
            **changes,
        }
        return {key: value for key, value in whole.items() if value is not ...}


async def eval_of(api: Api, **options: Any) -> str:
    reply = await api.call("POST", "/v1/evals", json=EVAL, **options)
    assert reply.status_code == 201, reply.text
    return str(reply.json()["id"])


async def file_of(api: Api, content: bytes = ITEM, purpose: str = "evals", **options: Any) -> str:
    return str((await api.upload(content, purpose=purpose, **options)).json()["id"])


@pytest.fixture
async def sent(api: Api) -> Sent:
    return Sent(await eval_of(api), await file_of(api))


async def refused(api: Api, body: dict[str, Any], evals: Any) -> tuple[str, str, str]:
    """Returns parameter, code and message of the error; `Api.call` compares it with `validate`."""
    reply = await api.call("POST", JOBS, json={**body, "evals": evals})
    assert reply.status_code == 400, reply.text
    error = reply.json()["error"]
    assert (await api.call("GET", JOBS)).json()["data"] == []
    return error["param"], error["code"], error["message"]


async def test_attached_evals_are_shown_as_sent_without_runs(
    api: Api, body: dict[str, Any], sent: Sent
) -> None:
    other = Sent(await eval_of(api), await file_of(api, purpose="fine-tune", content=ITEM * 12))
    reference = {"type": "item_reference", "item_reference": "item.question"}
    evals = [
        sent.attached(),
        other.attached(type="responses", samples_per_item=3, input_messages=reference),
    ]
    reply = await api.call("POST", JOBS, json={**body, "evals": evals})
    assert reply.status_code == 200, reply.text
    job = reply.json()
    unknown = {"start_run_id": None, "tuned_run_id": None, "error": None}
    assert job["evals"] == [{**each, **unknown} for each in evals]
    assert (await api.call("GET", f"{JOBS}/{job['id']}")).json()["evals"] == job["evals"]
    assert (await api.call("GET", JOBS)).json()["data"][0]["evals"] == job["evals"]
    runs = await api.call("GET", f"/v1/evals/{sent.eval_id}/runs")
    assert runs.json()["data"] == [], "a job that waits has started no run"


async def test_four_can_be_attached_and_five_cannot(
    api: Api, body: dict[str, Any], sent: Sent
) -> None:
    param, code, message = await refused(api, body, [sent.attached()] * 5)
    assert (param, code) == ("evals", "invalid_value")
    assert message == "Invalid value for 'evals': it must have at most 4 entries."
    reply = await api.call("POST", JOBS, json={**body, "evals": [sent.attached()] * 4})
    assert len(reply.json()["evals"]) == 4


async def test_an_eval_that_the_project_lacks_or_that_is_a_jobs_is_refused(
    api: Api, body: dict[str, Any], sent: Sent
) -> None:
    for missing in ("eval_none", await eval_of(api, key=api.other_key)):
        found = await refused(api, body, [sent.attached(), {**sent.attached(), "eval_id": missing}])
        text = f"Could not find eval: {missing}"
        assert found == ("evals[1].eval_id", "eval_not_found", text)
    job = (await api.call("POST", JOBS, json=body)).json()
    own = {**sent.attached(), "eval_id": job["eval_id"]}
    reply = await api.call("POST", JOBS, json={**body, "evals": [own]})
    error = reply.json()["error"]
    assert (error["param"], error["code"]) == ("evals[0].eval_id", "invalid_value")
    assert f"the validations of job {job['id']}; attach an eval of your own" in error["message"]


async def test_a_file_that_the_project_lacks_or_of_another_purpose_is_refused(
    api: Api, body: dict[str, Any], sent: Sent
) -> None:
    for missing in ("file-none", await file_of(api, key=api.other_key)):
        evals = [sent.attached(source={"type": "file_id", "id": missing})]
        text = f"File {missing} does not exist."
        at = "evals[0].data_source.source.id"
        assert await refused(api, body, evals) == (at, "file_not_found", text)
    wrong = await file_of(api, b"x", purpose="user_data")
    evals = [sent.attached(source={"type": "file_id", "id": wrong})]
    param, code, message = await refused(api, body, evals)
    assert (param, code) == ("evals[0].data_source.source.id", "invalid_value")
    assert "has purpose 'user_data', but must have one of ['evals', 'fine-tune']" in message


@pytest.mark.parametrize(
    ("changes", "param", "code", "words"),
    [
        (
            {"model": "tiny-agent"},
            ".model",
            "invalid_value",
            "own models are sampled; leave it out",
        ),
        (
            {"source": {"type": "file_content", "content": [{"item": {}}]}},
            ".source.type",
            "invalid_value",
            'upload it with purpose \'evals\' and send {"type": "file_id", "id": "file-…"}',
        ),
        ({"source": {"type": "file_id"}}, ".source.id", "missing_required_parameter", ""),
        ({"type": "jsonl"}, ".type", "invalid_value", "'completions' or 'responses'"),
        (
            {"input_messages": messages("{{ sample.output_text }}")},
            ".input_messages.template[0].content",
            "invalid_value",
            "not there before the model answers; use 'item'",
        ),
        ({"sampling_params": {"top_p": 9}}, ".sampling_params.top_p", "invalid_value", "at most 1"),
        (
            {"sampling_params": {"temprature": 1}},
            ".sampling_params.temprature",
            "unknown_parameter",
            "Did you mean 'temperature'?",
        ),
        (
            {"sampling_params": {"tools": [{"type": "mcp", "server_label": "x"}]}},
            ".sampling_params.tools[0]",
            "not_available",
            "only reinforcement jobs call MCP servers",
        ),
        (
            {"sampling_params": {"tools": [{"name": "f", "headers": {"X-Key": SECRET}}]}},
            ".sampling_params.tools[0].headers",
            "unknown_parameter",
            "Remove it",
        ),
    ],
)
async def test_a_data_source_that_cannot_be_is_refused_by_parameter(
    api: Api,
    body: dict[str, Any],
    sent: Sent,
    changes: dict[str, Any],
    param: str,
    code: str,
    words: str,
) -> None:
    found = await refused(api, body, [sent.attached(), sent.attached(**changes)])
    assert found[:2] == (f"evals[1].data_source{param}", code), found
    assert words in found[2]
    assert f"'{found[0]}'" in found[2], "the message names the parameter where it was sent"
    assert SECRET not in found[2]


@pytest.mark.parametrize(
    ("changes", "param", "code", "words"),
    [
        ({"eval_id": ...}, "[0].eval_id", "missing_required_parameter", ""),
        ({"eval_id": 5}, "[0].eval_id", "invalid_value", "a text"),
        ({"dataSource": {}}, "[0].dataSource", "unknown_parameter", "'data_source'"),
    ],
)
async def test_an_attached_eval_that_cannot_be_is_refused_by_parameter(
    api: Api,
    body: dict[str, Any],
    sent: Sent,
    changes: dict[str, Any],
    param: str,
    code: str,
    words: str,
) -> None:
    whole = {**sent.attached(), **changes}
    evals = [{key: value for key, value in whole.items() if value is not ...}]
    found = await refused(api, body, evals)
    assert found[:2] == (f"evals{param}", code), found
    assert words in found[2]


async def test_an_unknown_key_is_dropped_with_a_warning(
    api: Api, body: dict[str, Any], sent: Sent
) -> None:
    call = {**body, "evals": [{**sent.attached(), "note": "mine"}]}
    job = (await api.call("POST", JOBS, json=call)).json()
    assert "note" not in job["evals"][0]
    events = (await api.call("GET", f"{JOBS}/{job['id']}/events")).json()["data"]
    assert "'evals[0].note'" in " ".join(event["message"] for event in events)
    checked = (await api.call("POST", f"{JOBS}/validate", json=call)).json()
    assert [
        issue["code"] for issue in checked["warnings"] if issue["param"] == "evals[0].note"
    ] == ["unknown_parameter"]


async def test_runs_beyond_the_quota_of_output_items_are_refused_before_the_job(
    api: Api, body: dict[str, Any], sent: Sent, database: Database
) -> None:
    call = {**body, "evals": [sent.attached()] * 2}
    for limit, status in ((39_999, 429), (40_000, 200)):
        execute(database, "UPDATE projects SET max_eval_output_items = %s", limit)
        reply = await api.call("POST", JOBS, json=call)
        assert reply.status_code == status, reply.text
        jobs = (await api.call("GET", JOBS)).json()["data"]
        assert len(jobs) == (status == 200)
        if status == 200:
            continue
        error = reply.json()["error"]
        assert (error["type"], error["code"]) == ("insufficient_quota", "insufficient_quota")
        assert "reached its quota of eval_output_items (0 of 39999 in use)" in error["message"]
        checked = await api.call("POST", f"{JOBS}/validate", json=call)
        assert checked.status_code == 200, "a quota is no fault of the call"


async def test_a_deleted_job_keeps_no_attached_evals(
    api: Api, database: Database, body: dict[str, Any], sent: Sent
) -> None:
    jobs = TrainedJobs(api, database, {**body, "evals": [sent.attached()]})
    job = await jobs.succeeded()
    query = "SELECT evals FROM fine_tuning_jobs WHERE id = %s"
    [(before,)] = execute(database, query, job.id)
    assert before[0]["data_source"] == sent.source()
    assert (await api.call("DELETE", f"{JOBS}/{job.id}")).status_code == 200
    assert execute(database, query, job.id) == [([],)]
    await jobs.worker.dispose()


REPORT = {
    "object": "fine_tuning.job.report",
    "base_model": "b",
    "start_model": "b",
    "step": 2,
    "regressions": [],
    **dict.fromkeys(("rows", "wins", "ties", "losses"), 0),
}


async def answered(jobs: TrainedJobs, sent: Sent, scores: list[float]) -> str:
    """Returns a run with an answer for each score, as a worker writes them."""
    source = sent.source(model="tiny-agent")
    runs = f"/v1/evals/{sent.eval_id}/runs"
    run_id = str((await jobs.api.call("POST", runs, json={"data_source": source})).json()["id"])
    lease = await claim_row(eval_claims(jobs.worker), run_id, lease_s=600.0)
    assert lease is not None
    async with leased_eval_run(jobs.worker, lease) as unit:
        for index, score in enumerate(scores):
            item = OutputItem(
                id=new_id("outputitem_"),
                eval_id=sent.eval_id,
                run_id=run_id,
                index=index,
                status="pass",
                datasource_item={},
                sample={},
                results=[{"name": "exact", "score": score, "passed": True}],
            )
            await unit.items.insert(item, position=index, usage=[])
        await unit.run.complete()
    return run_id


async def test_the_report_compares_the_answers_of_both_models(
    api: Api, database: Database, body: dict[str, Any], sent: Sent
) -> None:
    jobs = TrainedJobs(api, database, {**body, "evals": [sent.attached()]})
    job = await jobs.succeeded()
    report = json.dumps({**REPORT, "job_id": job.id})
    execute(database, "UPDATE reports SET report = %s WHERE job_id = %s", report, job.id)
    shown = (await api.call("GET", f"{JOBS}/{job.id}/report")).json()["evals"]
    values = dict.fromkeys(("start_mean", "tuned_mean", "difference", "difference_ci95"))
    assert shown == [{"eval_id": sent.eval_id, "items": 0, **values}], "no run has ended"
    start = await answered(jobs, sent, [0.0, 0.1, 0.2, 0.9, 1.0, 0.5, 0.5])
    tuned = await answered(jobs, sent, [1.0, 1.0, 1.0, 1.0, 1.0, 0.5, 0.0, 1.0])
    for side, run_id in (("start", start), ("tuned", tuned)):
        query = "UPDATE fine_tuning_jobs SET evals = jsonb_set(evals, %s, to_jsonb(%s::text))"
        execute(database, f"{query} WHERE id = %s", ["0", f"{side}_run_id"], run_id, job.id)
    [shown] = (await api.call("GET", f"{JOBS}/{job.id}/report")).json()["evals"]
    # By Student's t with 6 degrees of freedom, over the items that both answered.
    reach = 2.446912 * stdev([1.0, 0.9, 0.8, 0.1, 0.0, 0.0, -0.5]) / 7**0.5
    assert shown.pop("difference_ci95") == pytest.approx([2.3 / 7 - reach, 2.3 / 7 + reach])
    assert shown == {
        "eval_id": sent.eval_id,
        "items": 7,
        "start_mean": pytest.approx(3.2 / 7),
        "tuned_mean": pytest.approx(5.5 / 7),
        "difference": pytest.approx(2.3 / 7),
    }
    await jobs.worker.dispose()
