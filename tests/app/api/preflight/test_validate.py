import json
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import psycopg
import pytest

from app.kit import faults as values
from tests.support.api.application import Api, running
from tests.support.api.preflight import PATH, job_count, rows, validate_call
from tests.support.cases import cases
from tests.support.endpoints import EndpointServer, Reply
from tests.support.models.tiny_model import KEEPS_THINKING
from tests.support.stack import Database


async def test_a_good_call_is_valid_and_estimated(
    api: Api, call: dict[str, Any], customer: EndpointServer
) -> None:
    report = await validate_call(api, call)
    assert (report["object"], report["valid"]) == ("fine_tuning.job.validation", True)
    assert (report["errors"], report["warnings"]) == ([], [])
    assert (report["training_file"]["rows"], report["validation_file"]["rows"]) == (32, 10)
    lengths = report["training_file"]["tokens"]
    assert lengths["measured_rows"] == 32
    assert 0 < lengths["p50"] <= lengths["p99"] <= lengths["max"] < lengths["context_length"]
    estimate = report["estimate"]
    # 32 rows in batches of 8, twice: 8 steps. Validation before the first and after 4 and 8.
    assert estimate["total_steps"] == 8
    assert estimate["train_rollouts"] == 32 * 2 * 4
    # A validation plays each row twice sampled and once greedy; the report plays it twice for
    # each of its two models.
    assert estimate["validation_rollouts"] == 10 * (2 + 1) * 3 + 10 * 2 * 2
    assert estimate["completion_tokens"] > 0
    [grader] = report["endpoints"]
    assert (grader["param"], grader["reachable"]) == ("method.reinforcement.grader.url", True)
    assert grader["status"] == 405
    # Asked whether it is there, then for one score.
    assert [request.path for request in customer.received] == ["/grade", "/grade"]
    assert await job_count(api) == 0


async def test_a_projects_finished_jobs_set_the_pace(
    api: Api, call: dict[str, Any], database: Database
) -> None:
    assumed = (await validate_call(api, call))["estimate"]
    assert (assumed["basis"], assumed["training_seconds"] is None) == ("assumption", True)
    usage = {"rollouts": 100, "completion_tokens": 2500, "training_time_s": 50.0}
    for status, factor in (("succeeded", 1), ("failed", 1000)):
        made = await api.call("POST", "/v1/fine_tuning/jobs", json=call)
        with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
            connection.execute(
                "UPDATE fine_tuning_jobs SET status = %s, usage = %s WHERE id = %s",
                (
                    status,
                    json.dumps({key: value * factor for key, value in usage.items()}),
                    made.json()["id"],
                ),
            )
    estimate = (await validate_call(api, call))["estimate"]
    rollouts = estimate["train_rollouts"] + estimate["validation_rollouts"]
    assert estimate["basis"] == "history"
    assert estimate["completion_tokens"] == 25 * rollouts
    assert estimate["training_seconds"] == 0.5 * rollouts


async def test_every_fault_is_reported_at_once(api: Api, customer: EndpointServer) -> None:
    training = await api.upload(rows("a", "b") + b'{"messages": 3}\n')
    report = await validate_call(
        api,
        {
            "model": "gpt-9",
            "training_file": training.json()["id"],
            "validation_file": "file-nowhere",
            "seed": -1,
            "suffix": "",
            "method": {
                "type": "reinforcement",
                "reinforcement": {
                    "tools": [
                        {"name": "down", "server_url": "http://127.0.0.1:9/x"},
                        {"name": "inside", "server_url": "http://169.254.169.254/"},
                        {"name": "broken", "server_url": customer.url("/broken")},
                    ],
                    "grader": {"type": "endpoint", "url": customer.url("/grade")},
                },
            },
        },
    )
    assert report["valid"] is False
    faults = [(fault["code"], fault["param"], fault["line"]) for fault in report["errors"]]
    assert faults == [
        ("invalid_value", "suffix", None),
        ("invalid_value", "seed", None),
        ("model_not_available", "model", None),
        ("file_not_found", "validation_file", None),
        ("invalid_training_file", "training_file", 3),
        ("invalid_n_examples", "training_file", None),
        ("endpoint_unreachable", "method.reinforcement.tools[0].server_url", None),
        ("endpoint_not_allowed", "method.reinforcement.tools[1].server_url", None),
    ]
    assert report["errors"][4]["pointer"] == "/messages"
    warned = [fault["code"] for fault in report["warnings"]]
    assert warned == ["endpoint_failing"]  # a faulty row may have offered each tool
    assert report["estimate"] is None
    assert await job_count(api) == 0


async def test_a_foreign_file_is_no_file(api: Api, call: dict[str, Any]) -> None:
    reply = await api.call("POST", PATH, json=call, key=api.other_key)
    faults = reply.json()["errors"]
    assert [(fault["code"], fault["param"]) for fault in faults] == [
        ("file_not_found", "training_file"),
        ("file_not_found", "validation_file"),
    ]
    assert reply.json()["training_file"] is None


async def test_references_are_looked_up_and_inline_rows_leave_no_file(
    api: Api, call: dict[str, Any], customer: EndpointServer
) -> None:
    made = await api.call(
        "POST", "/v1/tools", json={"name": "search", "server_url": customer.url("/search")}
    )
    call["method"]["reinforcement"]["tools"] = [{"id": made.json()["id"]}]
    call.pop("training_file")
    call.pop("validation_file")
    inline = [{"messages": [{"role": "user", "content": f"q{n}"}]} for n in range(10)]
    call["curriculum"] = {"training": inline, "validation": inline}
    report = await validate_call(api, call)
    assert report["errors"] == []
    assert [endpoint["name"] for endpoint in report["endpoints"]] == ["search", "g"]
    assert report["overlap"]["rows"] == 10
    assert (await api.call("GET", "/v1/files")).json()["data"][2:] == []

    call["method"]["reinforcement"]["tools"] = [{"id": "tool_nowhere"}]
    faults = (await validate_call(api, call))["errors"]
    assert ("tool_not_found", "method.reinforcement.tools[0].id") in [
        (fault["code"], fault["param"]) for fault in faults
    ]


@cases("body", [b"[]", b""])
async def test_a_body_that_is_no_object_is_refused(api: Api, body: bytes) -> None:
    reply = await api.call("POST", PATH, content=body)
    assert reply.status_code == 400
    assert "JSON object" in reply.json()["error"]["message"]


@pytest.mark.parametrize(
    ("change", "first"),
    [
        ({"method": None}, "method"),
        (
            {"method": {"type": "reinforcement", "reinforcement": {"tools": [3, {"name": {}}]}}},
            "method.reinforcement.tools[0]",
        ),
        (
            {"method": {"type": "reinforcement", "reinforcement": {"grader": {"graders": [1]}}}},
            "method.reinforcement.grader.type",
        ),
        ({"training_file": {"a": 1}, "model": []}, "model"),
    ],
)
async def test_no_shape_is_a_500(
    api: Api, call: dict[str, Any], change: dict[str, Any], first: str
) -> None:
    report = await validate_call(api, {**call, **change})
    assert report["valid"] is False
    assert report["errors"][0]["param"] == first


async def test_the_first_of_very_many_faults_are_reported_and_few_compared_with_keys(
    api: Api, call: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = list[str]()

    def close_matches(word: str, *args: Any, **options: Any) -> list[str]:
        compared.append(word)
        return get_close_matches(word, *args, **options)

    monkeypatch.setattr(values, "get_close_matches", close_matches)
    call["method"]["reinforcement"]["tools"] = [{"nmae": "a"}] * 5_000
    report = await validate_call(api, call)
    assert len(report["errors"]) == 201
    assert "more faults" in report["errors"][-1]["message"]
    assert 0 < compared.count("name") <= 50  # the name that each of them lacks


async def test_prompts_are_rendered_with_the_jobs_effort(
    database: Database, customer: EndpointServer, call: dict[str, Any], tmp_path: Path
) -> None:
    template = tmp_path / "reported.jinja"
    template.write_text(
        "{%- if reasoning_effort is defined %}Think {{ reasoning_effort }}.{% endif -%}"
        + KEEPS_THINKING
    )
    reported = [
        base_model.model_copy(update={"chat_template": template})
        for base_model in database.settings.base_models
    ]
    settings = database.settings.model_copy(update={"base_models": tuple(reported)})
    lengths = {}
    async with running(replace(database, settings=settings), customer.host_port) as api:
        for effort in ("default", "low", "endless", None, ["low"]):
            call["method"]["reinforcement"]["hyperparameters"]["reasoning_effort"] = effort
            report = await validate_call(api, call)
            lengths[str(effort)] = report["training_file"]["tokens"]["max"]
    assert lengths["low"] > lengths["default"]
    assert set(lengths.values()) == {lengths["low"], lengths["default"]}
    assert [level for level, length in lengths.items() if length == lengths["low"]] == ["low"]


async def test_a_missing_method_is_reported_before_the_faults_of_the_rows(
    api: Api, call: dict[str, Any]
) -> None:
    without = {name: value for name, value in call.items() if name != "method"}
    report = await validate_call(api, without)
    first, *rest = report["errors"]
    assert (first["code"], first["param"]) == ("missing_required_parameter", "method")
    assert (
        "none of the 32 rows of the training file is a row of one. Send method" in first["message"]
    )
    assert {fault["code"] for fault in rest} == {"invalid_training_file", "invalid_validation_file"}
    assert "whose method.type is 'reinforcement'" in rest[0]["message"]
    named = await validate_call(api, {**call, "method": {"reinforcement": {}}})
    assert [(fault["code"], fault["param"]) for fault in named["errors"]] == [
        ("missing_required_parameter", "method.type")
    ]


async def test_rows_are_not_judged_for_a_method_that_does_not_exist(
    api: Api, call: dict[str, Any]
) -> None:
    inner = call["method"]["reinforcement"]
    report = await validate_call(api, {**call, "method": {"type": "rft", "rft": inner}})
    assert [(fault["code"], fault["param"]) for fault in report["errors"]] == [
        ("invalid_value", "method.type"),
        ("unknown_parameter", "method.rft"),
    ]
    assert "it must be 'supervised', 'dpo' or 'reinforcement'" in report["errors"][0]["message"]
    gone = await validate_call(
        api, {**call, "method": {"type": "rft"}, "training_file": "file-none"}
    )
    assert [fault["param"] for fault in gone["errors"]] == ["method.type", "training_file"]


async def test_a_grader_that_asks_a_server_grades_one_answer(
    api: Api, call: dict[str, Any], customer: EndpointServer
) -> None:
    grader = call["method"]["reinforcement"]["grader"]
    assert (await validate_call(api, call))["warnings"] == []
    (graded,) = [each for each in customer.received if each.body]
    sent = graded.json
    assert (graded.path, sorted(sent)) == ("/grade", ["item", "sample", "trace_id"])
    customer.script = lambda received: Reply(400 if received.body else 405, body=b"no")
    (warned,) = (await validate_call(api, call))["warnings"]
    assert warned["code"] == "grader_fails"
    assert (warned["param"], warned["line"]) == ("method.reinforcement.grader", 1)
    assert (
        "first row: answered 400 (no Content-Type): no. A rollout that it fails on is lost"
        in warned["message"]
    )
    grader["url"] = "http://127.0.0.1:9/grade"
    report = await validate_call(api, call)
    assert [each["code"] for each in report["errors"]] == ["endpoint_unreachable"]
    assert report["warnings"] == []


USER = {"role": "user", "content": "q"}
DONE = {"role": "assistant", "content": "done"}
REPLY = {"role": "tool", "tool_call_id": "call_1", "content": "r"}


def called(arguments: str = "{}") -> dict[str, Any]:
    function = {"name": "f", "arguments": arguments}
    calls = [{"id": "call_1", "type": "function", "function": function}]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def pair(**changed: Any) -> dict[str, Any]:
    other = {"role": "assistant", "content": "no"}
    answers = {"preferred_output": [DONE], "non_preferred_output": [other]}
    return {"input": {"messages": [USER]}, **answers, **changed}


@cases(
    ("method", "row", "pointer", "words"),
    [
        ("supervised", {"messages": [USER, called(), DONE]}, "/messages/1/tool_calls",
         "did not have response messages: call_1"),
        ("supervised", {"messages": [USER, called("{a:b}"), REPLY, DONE]},
         "/messages/1/tool_calls/0/function/arguments", "it is not valid JSON"),
        ("reinforcement", {"messages": [USER, REPLY, USER]}, "/messages/1/role",
         "must be a response to a preceding message with 'tool_calls'"),
        ("dpo", pair(preferred_output=[called("[1]")]),
         "/preferred_output/0/tool_calls/0/function/arguments", "not a JSON object"),
    ],
)  # fmt: skip
async def test_conversations_of_rows_are_held_to_the_rules_of_the_chat(
    api: Api, method: str, row: dict[str, Any], pointer: str, words: str
) -> None:
    content = "".join(f"{json.dumps({**row, 'n': n})}\n" for n in range(12)).encode()
    file_id = (await api.upload(content)).json()["id"]
    call = {"model": "tiny-agent", "training_file": file_id, "method": {"type": method}}
    report = await validate_call(api, call)
    told = [(each["line"], each["pointer"]) for each in report["errors"] if each["line"]]
    assert told == [(1, pointer)], report["errors"]
    [message] = [each["message"] for each in report["errors"] if each["line"]]
    assert words in message
    assert "(12 times" in message


async def test_what_no_rollout_reads_of_a_row_is_told(api: Api, call: dict[str, Any]) -> None:
    options = {"parallel_tool_calls": False, "tool_choice": "required", "temperature": 0.5}
    other = {"tool_choice": "auto", "parallel_tool_calls": True, "response_format": None}
    sent = [
        {"messages": [{**USER, "content": f"q{n}", "at": "noon"}], **(other if n else options)}
        for n in range(32)
    ]
    content = "".join(f"{json.dumps(row)}\n" for row in sent).encode()
    call["training_file"] = (await api.upload(content)).json()["id"]
    report = await validate_call(api, call)
    told = {each["pointer"]: each["message"] for each in report["warnings"]}
    options_told = {f"/{name}" for name in options}
    assert told.keys() == {"/messages/0/at", *options_told}
    assert "(32 times" in told["/messages/0/at"]
    assert "no rollout obeys 'tool_choice' of a row" in told["/tool_choice"]
    assert "the first call of a turn alone" in told["/parallel_tool_calls"]
