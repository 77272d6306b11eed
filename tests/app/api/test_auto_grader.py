"""A job, a check and a trial run whose grader is `auto`."""

import json
from copy import deepcopy
from typing import Any

from tests.support.api.application import Api
from tests.support.api.job_calls import JOBS
from tests.support.cases import cases

GRADERS = "/v1/fine_tuning/alpha/graders"
PARAM = "method.reinforcement.grader"
CHOSEN = {
    "type": "exact_match",
    "name": "town",
    "input": "{{sample.output_text}}",
    "reference": "{{item.answer}}",
    "strip": True,
    "ignore_case": True,
    "unicode": "NFC",
    "numbers": False,
}
REASON = "All 24 rows have a reference in 'answer' that is a short text."


def lines(*items: dict[str, Any]) -> bytes:
    question = [{"role": "user", "content": "Which town?"}]
    return b"".join(json.dumps({"messages": question, **item}).encode() + b"\n" for item in items)


async def automatic(
    api: Api, body: dict[str, Any], *items: dict[str, Any], **grader: Any
) -> dict[str, Any]:
    """Returns a create call with `auto` and these rows in both files."""
    changed = deepcopy(body)
    for param in ("training_file", "validation_file"):
        changed[param] = (await api.upload(lines(*items))).json()["id"]
    del changed["method"]["reinforcement"]["tools"]
    changed["method"]["reinforcement"]["grader"] = {"type": "auto", **grader}
    return changed


async def test_a_job_stores_the_chosen_grader_and_names_the_reason(
    api: Api, body: dict[str, Any]
) -> None:
    call = await automatic(api, body, *[{"answer": "Ulm"}] * 12, name="town")
    job = (await api.call("POST", JOBS, json=call)).json()
    grader = job["method"]["reinforcement"]["grader"]
    assert {key: value for key, value in grader.items() if value is not None} == CHOSEN
    events = (await api.call("GET", f"{JOBS}/{job['id']}/events")).json()["data"]
    notice = {"level": "info", "message": f"Chose a grader of type exact_match. {REASON}"}
    assert any(notice.items() <= event.items() for event in events)
    by_hand = deepcopy(call)
    by_hand["method"]["reinforcement"]["grader"] = grader
    again = (await api.call("POST", JOBS, json=by_hand)).json()
    assert again["method"]["reinforcement"]["grader"] == grader


async def test_a_check_returns_the_choice_and_makes_no_job(api: Api, body: dict[str, Any]) -> None:
    call = await automatic(api, body, *[{"answer": "Ulm"}] * 12, name="town")
    report = (await api.call("POST", f"{JOBS}/validate", json=call)).json()
    assert report["errors"] == []
    choice = report["grader_choice"]
    assert choice["reason"] == REASON
    assert CHOSEN.items() <= choice["grader"].items()
    assert (await api.call("GET", JOBS)).json()["data"] == []
    named = deepcopy(call)
    named["method"]["reinforcement"]["grader"] = choice["grader"]
    report = (await api.call("POST", f"{JOBS}/validate", json=named)).json()
    assert report["grader_choice"] is None


async def test_rows_of_a_curriculum_choose_too(api: Api, body: dict[str, Any]) -> None:
    call = await automatic(api, body, {"answer": "unused"})
    call = {key: value for key, value in call.items() if not key.endswith("_file")}
    rows = [json.loads(line) for line in lines(*[{"answer": {"town": "Ulm"}}] * 12).splitlines()]
    call["curriculum"] = {"training": rows, "validation": rows}
    report = (await api.call("POST", f"{JOBS}/validate", json=call)).json()
    assert (report["valid"], report["grader_choice"]["grader"]["type"]) == (True, "python")
    job = (await api.call("POST", JOBS, json=call)).json()
    assert job["method"]["reinforcement"]["grader"]["type"] == "python"


async def test_an_unknown_judge_is_refused_where_it_was_sent(
    api: Api, body: dict[str, Any]
) -> None:
    call = await automatic(api, body, *[{}] * 12, model="unknown")
    reply = await api.call("POST", JOBS, json=call)
    assert reply.status_code == 400
    error = reply.json()["error"]
    assert (error["param"], error["code"]) == (f"{PARAM}.model", "model_not_found")


async def test_rows_that_fit_nothing_make_no_job(api: Api, body: dict[str, Any]) -> None:
    call = await automatic(api, body, *[{"answer": "Ulm"}] * 11, {"note": "no answer"})
    reply = await api.call("POST", JOBS, json=call)
    assert reply.status_code == 400
    error = reply.json()["error"]
    assert (error["param"], error["code"]) == (PARAM, "no_grader_fits")
    lacking = "22 of 24 rows have 'answer' (line 12 of the training file lacks it)"
    assert lacking in error["message"]
    assert (await api.call("GET", JOBS)).json()["data"] == []


@cases(
    ("trained", "held_out", "said"),
    [
        ([{"answer": 4}] * 12, [{"answer": 4}] * 9 + [{"answer": "four"}],
         "a number in line 1 of the training file and a short text in line 10 of the validation"),
        ([{"calls": []}] * 12, [{"calls": "search"}] * 10,
         "line 1 of the validation file, 'calls': 'reference' is not a JSON list of calls"),
    ],
)  # fmt: skip
async def test_held_out_rows_that_the_grader_could_not_judge_make_no_job(
    api: Api, body: dict[str, Any], trained: list[Any], held_out: list[Any], said: str
) -> None:
    call = await automatic(api, body, *trained)
    call["validation_file"] = (await api.upload(lines(*held_out))).json()["id"]
    error = (await api.call("POST", JOBS, json=call)).json()["error"]
    assert (error["param"], error["code"]) == (PARAM, "no_grader_fits")
    assert said in error["message"]
    report = (await api.call("POST", f"{JOBS}/validate", json=call)).json()
    assert [fault["message"] for fault in report["errors"]] == [error["message"]]
    assert (await api.call("GET", JOBS)).json()["data"] == []


async def test_a_judge_that_is_not_called_is_named(api: Api, body: dict[str, Any]) -> None:
    call = await automatic(api, body, *[{"answer": "Ulm"}] * 12, model="tiny-agent")
    reported = "The judge 'tiny-agent' is not asked: the rows say enough for 'exact_match'."
    report = (await api.call("POST", f"{JOBS}/validate", json=call)).json()
    assert [
        (fault["code"], fault["param"], fault["message"].startswith(reported))
        for fault in report["warnings"]
        if fault["code"] == "unused_judge"
    ] == [("unused_judge", f"{PARAM}.model", True)]
    job = (await api.call("POST", JOBS, json=call)).json()
    events = (await api.call("GET", f"{JOBS}/{job['id']}/events")).json()["data"]
    assert any(
        event["level"] == "warn" and event["message"].startswith(reported) for event in events
    )


async def test_a_missing_file_and_a_strangers_are_refused_alike(
    api: Api, body: dict[str, Any]
) -> None:
    call = await automatic(api, body, *[{"answer": "Ulm"}] * 12)
    reply = await api.call("POST", JOBS, json=call, key=api.other_key)
    missing = await api.call("POST", JOBS, json={**call, "training_file": "file-none"})
    for refused, file_id in ((reply, call["training_file"]), (missing, "file-none")):
        error = refused.json()["error"]
        assert (refused.status_code, error["code"]) == (400, "file_not_found")
        assert error["message"] == f"training_file {file_id} does not exist."


async def test_a_trial_run_chooses_by_its_item(api: Api) -> None:
    sent = {"grader": {"type": "auto", "name": "town"}, "model_sample": "ULM"}
    run = await api.call("POST", f"{GRADERS}/run", json={**sent, "item": {"answer": "Ulm"}})
    answer = run.json()
    assert (answer["reward"], answer["metadata"]["type"]) == (1.0, "exact_match")
    assert CHOSEN.items() <= answer["grader_choice"]["grader"].items()
    for item, code in ((None, "missing_required_parameter"), ({}, "no_grader_fits")):
        refused = await api.call("POST", f"{GRADERS}/run", json={**sent, "item": item})
        error = refused.json()["error"]
        assert (refused.status_code, error["param"], error["code"]) == (400, "item", code)
