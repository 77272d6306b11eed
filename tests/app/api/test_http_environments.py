"""Jobs in a customer's environment, and the registry of environments."""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from standardwebhooks import Webhook

from app.kit.fields import Json
from tests.support.api.application import ENDPOINT, Api, running
from tests.support.api.job_calls import JOBS
from tests.support.api.refused_jobs import refused_job
from tests.support.cases import cases
from tests.support.endpoints import ReceivedRequest, Reply, endpoint
from tests.support.environments.http_environments import GuessingWorld
from tests.support.registry.environments import (
    CANARY,
    REGISTRY,
    WORLD,
    registered,
    report_of,
    statuses,
)
from tests.support.stack import Database

PARAM = "method.reinforcement.environment"
ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "http-environments.md"
EXAMPLE = ROOT / "examples" / "environments" / "http" / "job.json"


@pytest.fixture
def body(files: tuple[str, str]) -> Json:
    return {
        "model": "tiny-agent",
        "training_file": files[0],
        "validation_file": files[1],
        "method": {"type": "reinforcement", "reinforcement": {"environment": WORLD}},
    }


def with_method(body: Json, **changes: Any) -> Json:
    method = body["method"]["reinforcement"]
    inner = {key: value for key, value in {**method, **changes}.items() if value is not None}
    return {**body, "method": {"type": "reinforcement", "reinforcement": inner}}


async def test_a_job_is_graded_by_its_environment(api: Api, body: Json) -> None:
    reply = await api.call("POST", JOBS, json=body)
    assert reply.status_code == 200, reply.text
    assert CANARY not in reply.text
    shown = reply.json()["method"]["reinforcement"]
    assert shown["grader"] == {"type": "environment", "name": "environment"}
    assert shown["environment"]["headers"] == {"X-K": "[redacted]"}
    assert shown["environment"]["url"] == WORLD["url"]
    assert reply.json()["training_file"] == body["training_file"]


async def test_a_check_of_the_call_finds_the_unreachable_address(api: Api, body: Json) -> None:
    report = (await api.call("POST", f"{JOBS}/validate", json=body)).json()
    (found,) = report["errors"]
    assert (found["param"], found["code"]) == (f"{PARAM}.url", "endpoint_unreachable")
    assert report["training_file"]["rows"] == 12
    assert {"tools_not_run", "no_tools"}.isdisjoint(each["code"] for each in report["warnings"])


@pytest.mark.parametrize(
    ("path", "head", "severity", "code"),
    [
        ("/wrld", 404, "errors", "environment_not_found"),
        ("/page", 200, "errors", "environment_not_found"),
        ("/tools", 405, "warnings", "environment_refuses"),
        ("/world", 200, "errors", None),
    ],
)
async def test_a_check_of_the_call_finds_a_wrong_path(
    database: Database, *, path: str, head: int, severity: str, code: str | None
) -> None:
    world = GuessingWorld()
    posts = {"/wrld": 404, "/page": 405, "/tools": 422}

    def serve(received: ReceivedRequest) -> Reply:
        if not received.body:
            return Reply(head)
        status = posts.get(received.path)
        return world(received) if status is None else Reply(status)

    async with endpoint(serve) as server, running(database, server.host_port) as api:
        rows = b'{"messages": [{"role": "user", "content": "hi"}]}\n' * 12
        files = [(await api.upload(rows)).json()["id"] for _ in range(2)]
        inner = {"environment": {**WORLD, "url": server.url(path)}}
        sent = {"model": "tiny-agent", "training_file": files[0], "validation_file": files[1],
                "method": {"type": "reinforcement", "reinforcement": inner}}  # fmt: skip
        report = (await api.call("POST", f"{JOBS}/validate", json=sent)).json()
        secret = (await api.call("GET", "/v1/signing_secret")).json()["secret"]
    found = {
        kind: [issue for issue in report[kind] if issue["param"] == f"{PARAM}.url"]
        for kind in ("errors", "warnings")
    }
    named = [issue["code"] for issue in found[severity]]
    assert named == ([] if code is None else [code])
    assert len(found["errors"] + found["warnings"]) == len(named)
    (checked,) = report["endpoints"]
    assert checked["reachable"] is (code != "environment_not_found")
    if code is not None:
        assert f"answers {posts[path]} to" in found[severity][0]["message"]
        return
    assert [call["type"] for call in world.calls] == ["reset", "close"]
    assert not world.episodes
    for received in server.received:
        if received.body:
            Webhook(secret).verify(received.body, received.headers)


async def test_another_grader_may_read_the_environments_reward(api: Api, body: Json) -> None:
    both = {
        "type": "multi",
        "graders": {
            "world": {"type": "environment"},
            "short": {"type": "length_bounds", "max": 20},
        },
        "calculate_output": "world + 0.1 * short",
    }
    job = (await api.call("POST", JOBS, json=with_method(body, grader=both))).json()
    assert job["method"]["reinforcement"]["grader"]["graders"]["world"]["type"] == "environment"
    read = {
        "type": "string_check",
        "input": "{{sample.environment.done}}",
        "reference": "true",
        "operation": "eq",
    }
    reply = await api.call("POST", JOBS, json=with_method(body, grader=read, max_episode_steps=4))
    assert reply.status_code == 200, reply.text


OWN = {"type": "contains", "needles": ["a"]}
READS = {**OWN, "needles": ["{{sample.environment.reward}}"]}


@cases(
    ("changes", "path", "code", "part"),
    [
        ({"environment": {**WORLD, "url": "http://169.254.169.254/"}}, "environment.url",
         "endpoint_not_allowed", ""),
        ({"environment": {**WORLD, "adress": "x"}}, "environment.adress", "unknown_parameter",
         "adress"),
        ({"tools": [{"name": "t", "server_url": ENDPOINT}]}, "tools", "invalid_value",
         "not both"),
        ({"environment": {"id": "env_none"}}, "environment.id", "environment_not_found",
         "env_none"),
        ({"environment": {"id": "env_1", "url": ENDPOINT}}, "environment.url", "invalid_value",
         "'id' and 'version' only"),
        ({"environment": "nowhere"}, "environment", "environment_not_found", "nowhere"),
        ({"environment": None, "grader": {"type": "environment"}}, "grader.type", "invalid_value",
         "HTTP environment"),
        ({"environment": None, "grader": READS}, "grader.needles[0]", "invalid_value", "http"),
        ({"grader": {**OWN, "needles": ["{{sample.environment.rewards}}"]}}, "grader.needles[0]",
         "invalid_value", "reward"),
    ],
)  # fmt: skip
async def test_a_wrong_call_is_refused_with_its_path(
    api: Api, body: Json, changes: Json, path: str, code: str, part: str
) -> None:
    param, found, message = await refused_job(api, with_method(body, **changes))
    assert (param, found) == (f"method.reinforcement.{path}", code)
    assert part in message


async def test_the_id_of_a_definition_only_names_what_it_was_copied_from(
    api: Api, body: Json
) -> None:
    copied = {**WORLD, "id": "env_1", "version": 2}
    reply = await api.call("POST", JOBS, json=with_method(body, environment=copied))
    assert reply.status_code == 200, reply.text
    shown = reply.json()["method"]["reinforcement"]["environment"]
    assert shown == {**shown, "id": "env_1", "version": 2, "url": WORLD["url"]}


async def test_the_rows_come_from_files(api: Api, body: Json) -> None:
    for name in ("training_file", "validation_file"):
        sent = {key: value for key, value in body.items() if key != name}
        assert (await refused_job(api, sent))[:2] == (name, "missing_required_parameter")


async def test_an_eval_has_no_environment(api: Api) -> None:
    config = {"type": "custom", "item_schema": {"type": "object"}, "include_sample_schema": True}
    sent = {
        "data_source_config": config,
        "testing_criteria": [{"type": "environment", "name": "e"}],
    }
    reply = await api.call("POST", "/v1/evals", json=sent)
    assert reply.status_code == 400
    assert reply.json()["error"]["param"] == "testing_criteria[0]"


async def test_a_trial_scores_a_sent_reward(api: Api) -> None:
    async def run(environment: Any) -> Any:
        sent = {
            "grader": {"type": "environment"},
            "model_sample": "done",
            "sample": {"environment": environment},
        }
        path = "/v1/fine_tuning/alpha/graders/run"
        return (await api.call("POST", path, json=sent)).json()

    given = await run({"reward": 0.25, "components": {"moves": 3}, "steps": 2, "done": True})
    assert (given["reward"], given["sub_rewards"]) == (0.25, {"moves": 3.0})
    none = await run({"reward": None, "done": True})
    assert none["reward"] == 0
    assert none["metadata"]["errors"]["sample_parse_error"] is True
    assert "no reward in any step" in none["metadata"]["errors"]["details"]


async def test_a_registered_environment_is_used_by_its_id(api: Api, body: Json) -> None:
    made = await registered(api)
    assert made["id"].startswith("env_")
    assert (made["object"], made["version"], made["type"]) == ("environment", 1, "http")
    assert made["headers"] == {"X-K": "[redacted]"}
    changed = await api.call("POST", f"{REGISTRY}/{made['id']}", json={"rate_limit": 5})
    assert (changed.json()["version"], changed.json()["rate_limit"]) == (2, 5)
    assert changed.json()["headers"] == {"X-K": "[redacted]"}
    sent = body
    for version, rate in ((1, None), (None, 5)):
        reference = {"id": made["id"]} | ({} if version is None else {"version": version})
        sent = with_method(body, environment=reference)
        job = await api.call("POST", JOBS, json=sent)
        assert job.status_code == 200, job.text
        shown = job.json()["method"]["reinforcement"]
        assert shown["environment"]["id"] == made["id"]
        assert shown["environment"]["version"] == (version or 2)
        assert shown["environment"].get("rate_limit") == rate
        assert shown["grader"]["type"] == "environment"
    for named in (made["id"], made["name"]):
        job = await api.call("POST", JOBS, json=with_method(body, environment=named))
        assert job.status_code == 200, job.text
        shown = job.json()["method"]["reinforcement"]["environment"]
        assert (shown["id"], shown["version"], shown["name"]) == (made["id"], 2, made["name"])
        assert shown["headers"] == {"X-K": "[redacted]"}
        checked = await api.call(
            "POST", f"{JOBS}/validate", json=with_method(body, environment=named)
        )
        called = [each["name"] for each in checked.json()["endpoints"]]
        assert called == [made["name"]], "its address is tried as that of a definition"
    near = await refused_job(api, with_method(body, environment=f"{made['name']}s"))
    assert (near[0], f"did you mean '{made['name']}'?" in near[2]) == (PARAM, True), near
    deleted = await api.call("DELETE", f"{REGISTRY}/{made['id']}")
    assert deleted.json() == {"id": made["id"], "object": "environment", "deleted": True}
    gone = await refused_job(api, with_method(body, environment=made["name"]))
    assert gone[:2] == (PARAM, "environment_not_found")
    assert (await refused_job(api, sent))[:2] == (f"{PARAM}.id", "environment_not_found")


def blocks(kind: str) -> list[Json]:
    found = re.findall(rf"```json {kind}\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert found
    return [json.loads(block) for block in found]


@pytest.fixture
async def documented(database: Database) -> AsyncIterator[Api]:
    async with running(database, "localhost:8910") as api:
        yield api


async def test_the_calls_of_the_page_and_the_example_are_accepted(documented: Api) -> None:
    lines = b'{"messages": [{"role": "user", "content": "hi"}]}\n' * 12
    file_id = (await documented.upload(lines)).json()["id"]
    named = {"training_file": file_id, "validation_file": file_id}
    for sent in (*blocks("job"), json.loads(EXAMPLE.read_text())):
        reply = await documented.call("POST", JOBS, json={**sent, **named})
        assert reply.status_code == 200, reply.text


async def test_the_answers_of_the_page_are_good_ones(database: Database) -> None:
    answers = {"reset": blocks("reset")[1], "step": blocks("step")[1], "close": {}}

    def as_documented(received: ReceivedRequest) -> Reply:
        call = received.json
        answer = json.loads(json.dumps(answers[call["type"]]))
        sent = blocks(call["type"])[0] if call["type"] != "close" else None
        assert sent is None or call.keys() == sent.keys()
        for result in answer.get("results", ()):
            result["call_id"] = call["message"]["tool_calls"][0]["id"]
        return Reply(json=answer)

    report, _ = await report_of(database, as_documented)
    assert set(statuses(report)) == {"passed"}, report
