"""Evals over HTTP: refusals and their texts."""

from typing import Any

from tests.support.api.application import ENDPOINT, Api
from tests.support.cases import cases

CONFIG = {"type": "custom", "item_schema": {"type": "object"}}
CLOSED_ITEM = {"type": "object", "properties": {"a": {}}, "additionalProperties": False}
CHECK = {
    "type": "string_check",
    "name": "exact",
    "operation": "eq",
    "input": "{{ sample.output_text }}",
    "reference": "{{ item.answer }}",
}
SIMILAR = {
    "type": "text_similarity",
    "name": "near",
    "input": "{{ item.a }}",
    "reference": "b",
    "evaluation_metric": "bleu",
}
ROW = {"item": {"a": 1}, "sample": {"output_text": "x"}}
JSONL = {"type": "jsonl", "source": {"type": "file_content", "content": [ROW]}}
SAMPLED = {
    **JSONL,
    "type": "completions",
    "model": "tiny-agent",
    "input_messages": {"type": "template", "template": [{"role": "user", "content": "hi"}]},
}


def error(reply: Any) -> tuple[int, str | None, str | None]:
    body = reply.json()["error"]
    return reply.status_code, body["code"], body["param"]


async def post(api: Api, path: str, body: Any, **options: Any) -> Any:
    return await api.call("POST", path, json=body, **options)


async def made(api: Api, *criteria: dict[str, Any]) -> str:
    body = {"data_source_config": CONFIG, "testing_criteria": list(criteria) or [CHECK]}
    reply = await post(api, "/v1/evals", body)
    assert reply.status_code == 201, reply.text
    return f"/v1/evals/{reply.json()['id']}"


@cases(
    ("changes", "code", "param"),
    [
        ({"data_source_config": {"type": "logs"}}, "data_source_not_available", "type"),
        ({"data_source_config": {"type": "stored_completions"}}, "data_source_not_available", ""),
        ({"data_source_config": {"type": "custom"}}, "missing_required_parameter", "item_schema"),
        ({"testing_criteria": []}, "invalid_value", "testing_criteria"),
        ({"testing_criteria": [{"type": "novel"}]}, "grader_not_available", "[0].type"),
        ({"testing_criteria": [SIMILAR]}, "missing_required_parameter", "[0].pass_threshold"),
        ({"testing_criteria": [{**CHECK, "input": "{{ other.x }}"}]}, "invalid_value", "[0].input"),
        (
            {"data_source_config": {"type": "custom", "item_schema": CLOSED_ITEM}},
            "invalid_value",
            "testing_criteria[0].reference",
        ),
    ],
)
async def test_an_eval_that_cannot_be_is_refused_by_parameter(
    api: Api, changes: dict[str, Any], code: str, param: str
) -> None:
    body = {"data_source_config": CONFIG, "testing_criteria": [CHECK], **changes}
    status, said, at = error(await post(api, "/v1/evals", body))
    assert (status, said) == (400, code)
    assert param in (at or "")


async def test_an_address_that_may_not_be_called_is_refused_at_any_path(api: Api) -> None:
    bad: dict[str, Any] = {"type": "endpoint", "url": "http://10.0.0.1/grade"}
    multi = {"type": "multi", "graders": {"a": CHECK, "b": bad}, "calculate_output": "a + b"}
    judge = {
        "type": "score_model",
        "model": "m",
        "input": [{"role": "user", "content": "x"}],
        "base_url": "http://10.0.0.1/v1",
    }
    for criterion, param in (
        (bad, "testing_criteria[0].url"),
        (multi, "testing_criteria[0].graders.b.url"),
        (judge, "testing_criteria[0].base_url"),
        (
            {"type": "endpoint", "url": ENDPOINT, "headers": {"Host": "x"}},
            "testing_criteria[0].headers",
        ),
    ):
        body = {"data_source_config": CONFIG, "testing_criteria": [criterion]}
        assert error(await post(api, "/v1/evals", body)) == (400, "endpoint_not_allowed", param)


async def test_headers_are_stored_sealed_and_never_shown(api: Api) -> None:
    grader = {"type": "endpoint", "url": ENDPOINT, "headers": {"X-Key": "canary-7"}}
    multi = {"type": "multi", "graders": {"a": grader}, "calculate_output": "a"}
    path = await made(api, grader, multi)
    shown = await api.call("GET", path)
    assert "canary-7" not in shown.text
    criteria = shown.json()["testing_criteria"]
    assert criteria[0]["headers"] == {"X-Key": "[redacted]"}
    assert criteria[1]["graders"]["a"]["headers"] == {"X-Key": "[redacted]"}


@cases(
    ("source", "code", "param"),
    [
        ({}, "missing_required_parameter", "data_source.type"),
        (
            {"type": "responses", "source": {"type": "responses"}},
            "data_source_not_available",
            "data_source.source.type",
        ),
        (
            {**SAMPLED, "source": {"type": "stored_completions"}},
            "data_source_not_available",
            "data_source.source.type",
        ),
        ({**SAMPLED, "model": "gpt-none"}, "model_not_found", "data_source.model"),
        (
            {**JSONL, "source": {"type": "file_id", "id": "file-none"}},
            "file_not_found",
            "data_source.source.id",
        ),
        (
            {**JSONL, "source": {"type": "file_content", "content": []}},
            "invalid_value",
            "data_source.source.content",
        ),
        (
            {**JSONL, "source": {"type": "file_content", "content": [{"a": 1}]}},
            "missing_required_parameter",
            "data_source.source.content[0].item",
        ),
    ],
)
async def test_a_run_that_cannot_be_is_refused_by_parameter(
    api: Api, source: dict[str, Any], code: str, param: str
) -> None:
    path = await made(api)
    reply = await post(api, f"{path}/runs", {"data_source": source})
    assert error(reply) == (400, code, param)
    assert (await api.call("GET", f"{path}/runs")).json()["data"] == []


@cases(
    ("params", "param", "words"),
    [
        ({"reasoning_effort": "huge"}, "reasoning_effort", "'huge'. Supported values are"),
        ({"tools": [{"type": "function", "name": "a b"}]}, "tools[0].name", "tools[0].name'"),
        ({"text": {"format": {"type": "json_schema", "name": "a b", "schema": {}}}},
         "text.format.name", "1 to 64 letters"),
    ],
)  # fmt: skip
async def test_sampling_that_no_chat_takes_is_refused_before_the_run(
    api: Api, params: dict[str, Any], param: str, words: str
) -> None:
    path = await made(api)
    reply = await post(api, f"{path}/runs", {"data_source": {**SAMPLED, "sampling_params": params}})
    said = reply.json()["error"]
    assert (reply.status_code, said["param"]) == (400, f"data_source.sampling_params.{param}")
    assert words in said["message"]
    assert (await api.call("GET", f"{path}/runs")).json()["data"] == []


@cases(
    ("reference", "words"),
    [("item.zzz", "no item has it"), ("sample.output_text", "not there before the model answers")],
)
async def test_messages_that_no_item_has_are_refused_before_the_run(
    api: Api, reference: str, words: str
) -> None:
    messages = {"type": "item_reference", "item_reference": reference}
    body = {"data_source": {**SAMPLED, "input_messages": messages}}
    said = (await post(api, f"{await made(api)}/runs", body)).json()["error"]
    assert said["param"] == "data_source.input_messages.item_reference"
    assert words in said["message"]


async def test_conversations_of_items_are_held_to_the_rules_of_the_chat(api: Api) -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    user = {"role": "user", "content": "hi"}
    talk = [user, {"role": "assistant", "content": None, "tool_calls": [call]}, user]
    body = {
        "data_source": {
            **SAMPLED,
            "source": {"type": "file_content", "content": [{"item": {"talk": talk}}]},
            "input_messages": {"type": "item_reference", "item_reference": "item.talk"},
        }
    }
    said = (await post(api, f"{await made(api)}/runs", body)).json()["error"]
    assert said["param"] == "data_source.source.content[0].item"
    assert "did not have response messages: call_1" in said["message"]


async def test_a_file_of_another_project_or_purpose_is_refused(api: Api) -> None:
    path = await made(api)
    foreign = (await api.upload(b'{"item": {}}\n', purpose="evals", key=api.other_key)).json()["id"]
    wrong = (await api.upload(b"x", purpose="user_data")).json()["id"]
    for file_id in (foreign, wrong):
        source = {"type": "jsonl", "source": {"type": "file_id", "id": file_id}}
        status, _, param = error(await post(api, f"{path}/runs", {"data_source": source}))
        assert (status, param) == (400, "data_source.source.id")


async def test_what_is_not_there_is_not_found(api: Api) -> None:
    path = await made(api)
    assert (await api.call("GET", "/v1/evals/eval_none")).status_code == 404
    for verb, tail in (
        ("GET", "/runs/x"),
        ("POST", "/runs/x"),
        ("POST", "/runs/x/cancel"),
        ("DELETE", "/runs/x"),
        ("GET", "/runs/x/output_items"),
        ("GET", "/runs/x/output_items/y"),
    ):
        reply = await api.call(verb, path + tail)
        assert (reply.status_code, reply.json()["error"]["param"]) == (404, "run_id"), (verb, tail)
    run = (await post(api, f"{path}/runs", {"data_source": JSONL})).json()["id"]
    reply = await api.call("GET", f"{path}/runs/{run}/output_items/y")
    assert (reply.status_code, reply.json()["error"]["param"]) == (404, "output_item_id")
    other = await made(api)
    assert (await api.call("GET", f"{other}/runs/{run}")).status_code == 404


async def test_every_job_has_an_eval_from_the_start(api: Api, body: dict[str, Any]) -> None:
    job = (await post(api, "/v1/fine_tuning/jobs", body)).json()
    found = (await api.call("GET", f"/v1/evals/{job['eval_id']}")).json()
    assert found["testing_criteria"] == [job["method"]["reinforcement"]["grader"]]
    assert job["eval_id"].removeprefix("eval_") == job["id"].removeprefix("ftjob-")
    refused = await api.call("DELETE", f"/v1/evals/{job['eval_id']}")
    assert error(refused)[:2] == (400, "invalid_state")


@cases(
    "setting",
    [{"temperature": True}, {"top_p": "1"}],
)
async def test_a_setting_is_a_number(api: Api, setting: dict[str, Any]) -> None:
    body = {"data_source": {**SAMPLED, "sampling_params": setting}}
    refused = await post(api, f"{await made(api)}/runs", body)
    [name] = setting
    assert error(refused) == (400, "invalid_value", f"data_source.sampling_params.{name}")


async def test_a_page_of_large_runs_ends_early_and_the_next_continues(api: Api) -> None:
    path = f"{await made(api)}/runs"
    content = [{**ROW, "item": {"text": "x" * 1_000_000}}] * 3
    large = {"type": "jsonl", "source": {"type": "file_content", "content": content}}
    for source in (large, large, large, JSONL):
        assert (await post(api, path, {"data_source": source})).status_code == 201
    seen, sizes, after = list[str](), list[int](), dict[str, str]()
    while True:
        page = (await api.call("GET", path, params={"limit": 100, **after})).json()
        seen += [run["id"] for run in page["data"]]
        sizes.append(len(page["data"]))
        if not page["has_more"]:
            break
        after = {"after": page["last_id"]}
    assert sizes == [2, 2]
    assert len(set(seen)) == 4


async def test_an_endless_eval_is_refused(api: Api) -> None:
    body = {"data_source_config": CONFIG, "testing_criteria": [{**CHECK, "reference": "x" * 10**6}]}
    assert error(await post(api, "/v1/evals", body)) == (400, "invalid_value", "testing_criteria")
