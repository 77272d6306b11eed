"""Every object that can be made: nothing of it is there for another tenant, nor after its end.

The operations on an object are read from the links of the specification, so a collection that is
added must say here how one of its objects is made.
"""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.support.contract.service import ROW, Service
from tests.support.patience import PATIENCE_S
from tests.support.registry.recipes import OWN
from tests.support.web.application import specification

GONE = 404
REFUSED = {400, 404}
"""A call with a body may be refused for its body before anything is looked up."""
CHECK = {"type": "string_check", "name": "x", "operation": "eq", "input": "a", "reference": "a"}
ENDPOINT = {"type": "endpoint", "url": "http://127.0.0.1:9/grade"}
MADE = "$response.body#/"
Maker = Callable[[httpx.Client], httpx.Response]


def file_of(client: httpx.Client) -> str:
    return str(made_file(client).json()["id"])


def made_file(client: httpx.Client) -> httpx.Response:
    form = {"file": ("rows.jsonl", ROW * 12)}
    return client.post("/v1/files", data={"purpose": "fine-tune"}, files=form)


def made_job(client: httpx.Client) -> httpx.Response:
    file = file_of(client)
    body = {"model": "tiny-agent", "training_file": file, "validation_file": file}
    method = {"type": "reinforcement", "reinforcement": {"grader": ENDPOINT}}
    return client.post("/v1/fine_tuning/jobs", json={**body, "method": method})


def made_completion(client: httpx.Client, question: str = "hi") -> httpx.Response:
    talk = [{"role": "user", "content": question}]
    body = {"model": "tiny-agent", "messages": talk, "store": True}
    return client.post("/v1/chat/completions", json=body)


def made_feedback(client: httpx.Client, question: str = "hi") -> httpx.Response:
    corrected = {"completion_id": made_completion(client, question).json()["id"]}
    return client.post(
        "/v1/feedback", json={"type": "correction", "correction": question, **corrected}
    )


def made_build(client: httpx.Client) -> httpx.Response:
    for place in ("Athens", "Berlin", "Cairo", "Dublin", "Essen", "Geneva", "Hanoi", "Izmir"):
        made_feedback(client, f"Which river runs through {place}?").raise_for_status()
    for word in ("stone", "butter", "cloud", "violin"):
        made_feedback(client, f"How heavy is a {word}?").raise_for_status()
    return client.post("/v1/feedback/builds", json={"method": "supervised", "name": "b"})


def made_session(client: httpx.Client) -> httpx.Response:
    client.post("/v1/students", json={"name": "coached", "base_model": "tiny-agent"})
    file = file_of(client)
    body = {"student": "coached", "training_file": file, "validation_file": file, "grader": CHECK}
    return client.post("/v1/coach_sessions", json=body)


def posted(path: str, **body: Any) -> Maker:
    return lambda client: client.post(path, json=body)


MAKERS: dict[str, Maker] = {
    "createChatCompletion": made_completion,
    "createFeedback": made_feedback,
    "createFeedbackBuild": made_build,
    "createCoachSession": made_session,
    "createStudent": posted("/v1/students", name="clerk", base_model="tiny-agent"),
    "createFile": made_file,
    "createFineTuningJob": made_job,
    "createUpload": posted(
        "/v1/uploads", filename="a.jsonl", purpose="fine-tune", bytes=9, mime_type="text/jsonl"
    ),
    "createTool": posted("/v1/tools", name="search", server_url="http://127.0.0.1:9/search"),
    "createEnvironment": posted("/v1/environments", name="e", url="http://127.0.0.1:9/world"),
    "createRecipe": posted("/v1/recipes", **OWN),
    "createGrader": posted("/v1/graders", name="g", grader=ENDPOINT),
    "createCurriculum": lambda client: client.post(
        "/v1/curricula",
        json={"name": "c", "training_file": file_of(client), "validation_file": file_of(client)},
    ),
    "createEval": posted(
        "/v1/evals",
        name="e",
        data_source_config={"type": "custom", "item_schema": {"type": "object"}},
        testing_criteria=[CHECK],
    ),
    "createWebhookEndpoint": posted(
        "/v1/webhook_endpoints",
        name="w",
        url="http://127.0.0.1:9/hook",
        event_types=["fine_tuning.job.succeeded"],
    ),
}
ENDING = {"createFineTuningJob": "cancelFineTuningJob"}
"""The calls after which an object may be deleted, where it must have ended."""
OF_ADMINISTRATION = {"create-project", "admin-api-keys-create"}
"""Collections of an organization's admin key; no project's key reaches them."""


def operations() -> dict[str, tuple[str, str, dict[str, Any]]]:
    paths = specification()["paths"]
    return {
        operation["operationId"]: (method.upper(), path, operation)
        for path, methods in paths.items()
        for method, operation in methods.items()
    }


EVERY = operations()


def linked(name: str) -> dict[str, tuple[str, str]]:
    """The operations on an object that the call made, the parameter that takes its id or name, and
    the key of that in the reply.
    """
    replies = EVERY[name][2]["responses"]
    links = replies.get("201", replies.get("200", {})).get("links", {})
    return {
        operation: (parameter, value.removeprefix(MADE))
        for operation, link in links.items()
        for parameter, value in link["parameters"].items()
        if value.startswith(MADE)
    }


CREATING = sorted(
    name
    for name, (method, path, _) in EVERY.items()
    if method == "POST" and "{" not in path and linked(name) and name not in OF_ADMINISTRATION
)


def call(client: httpx.Client, name: str, given: dict[str, str]) -> httpx.Response:
    method, path, _ = EVERY[name]
    for parameter, value in given.items():
        path = path.replace("{" + parameter + "}", value)
    return client.request(method, path)


def client_of(service: Service, key: str) -> httpx.Client:
    address = service.api.base_url.removesuffix("/v1")
    return httpx.Client(
        base_url=address, headers={"Authorization": f"Bearer {key}"}, timeout=PATIENCE_S
    )


def assert_out_of_reach(client: httpx.Client, name: str, given: dict[str, str]) -> None:
    reply = call(client, name, given)
    expected = REFUSED if "requestBody" in EVERY[name][2] else {GONE}
    assert reply.status_code in expected, (name, reply.status_code, reply.text)


def test_every_collection_is_known_here() -> None:
    assert set(CREATING) <= MAKERS.keys()


@pytest.mark.parametrize("name", CREATING)
def test_an_object_is_its_tenants_alone_until_its_end(service: Service, name: str) -> None:
    with (
        client_of(service, service.api.key) as owner,
        client_of(service, service.api.other_key) as stranger,
    ):
        made = MAKERS[name](owner)
        assert made.status_code in {200, 201}, made.text
        on_it = linked(name)
        given = {parameter: made.json()[key] for parameter, key in on_it.values()}
        for operation in on_it:
            assert_out_of_reach(stranger, operation, given)
        reads = [
            operation
            for operation in on_it
            if EVERY[operation][0] == "GET" and EVERY[operation][1].endswith("}")
        ]
        ends = [operation for operation in on_it if EVERY[operation][0] == "DELETE"]
        for operation in reads:
            assert call(owner, operation, given).status_code == 200, operation
        if name in ENDING:
            assert call(owner, ENDING[name], given).status_code == 200
        for operation in ends:
            assert call(owner, operation, given).status_code == 200, operation
        for operation in on_it if ends else ():
            assert_out_of_reach(owner, operation, given)
