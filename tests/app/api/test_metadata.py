"""`metadata` of every noun that has it: null in a create or an update stands for no metadata."""

from typing import Any

from tests.support.api.application import ENDPOINT, Api
from tests.support.cases import cases
from tests.support.registry.recipes import OWN

JOBS = "/v1/fine_tuning/jobs"
CHECK = {
    "type": "string_check", "name": "same", "input": "{{sample.output_text}}",
    "reference": "{{item.a}}", "operation": "eq",
}  # fmt: skip
CONFIG = {
    "type": "custom",
    "item_schema": {"type": "object", "properties": {"a": {"type": "string"}}},
    "include_sample_schema": True,
}
ROWS = {"type": "file_content", "content": [{"item": {"a": "x"}, "sample": {"output_text": "x"}}]}
Made = tuple[str, dict[str, Any]]


ROW = {"messages": [{"role": "user", "content": "hi"}]}
PLAIN: dict[str, Made] = {
    "eval": ("/v1/evals", {"data_source_config": CONFIG, "testing_criteria": [CHECK]}),
    "tool": ("/v1/tools", {"name": "search", "server_url": ENDPOINT}),
    "grader": ("/v1/graders", {"name": "g", "grader": CHECK}),
    "environment": ("/v1/environments", {"name": "world", "url": ENDPOINT}),
    "recipe": ("/v1/recipes", OWN),
    "curriculum": ("/v1/curricula", {"name": "c", "training": [ROW]}),
}
"""Path and body of each noun that can be updated."""


async def creation(api: Api, noun: str, job: dict[str, Any]) -> Made:
    if noun == "job":
        return JOBS, job
    if noun == "run":
        path, body = PLAIN["eval"]
        made = await api.call("POST", path, json=body)
        return f"{path}/{made.json()['id']}/runs", {
            "data_source": {"type": "jsonl", "source": ROWS}
        }
    return PLAIN[noun]


@cases("noun", ["job", "run", "tool", "curriculum"])
async def test_null_in_a_create_is_no_metadata(api: Api, body: dict[str, Any], noun: str) -> None:
    path, created = await creation(api, noun, body)
    made = await api.call("POST", path, json={**created, "metadata": None})
    assert made.json()["metadata"] is None, made.text
    shown = await api.call("GET", f"{path}/{made.json()['id']}")
    assert shown.json()["metadata"] is None
    if noun == "job":
        listed = (await api.call("GET", f"{JOBS}?metadata=null")).json()["data"]
        assert [each["id"] for each in listed] == [made.json()["id"]]


@cases("noun", ["eval", "tool", "recipe", "curriculum"])
async def test_null_in_an_update_clears_and_an_absent_key_keeps(api: Api, noun: str) -> None:
    path, created = PLAIN[noun]
    made = (await api.call("POST", path, json={**created, "metadata": {"a": "b"}})).json()
    one = f"{path}/{made['id']}"
    renamed = (await api.call("POST", one, json={"name": "renamed"})).json()
    assert (renamed["name"], renamed["metadata"]) == ("renamed", {"a": "b"})
    cleared = (await api.call("POST", one, json={"metadata": None})).json()
    assert (cleared["name"], cleared["metadata"]) == ("renamed", None)
    assert (await api.call("GET", one)).json()["metadata"] is None


async def test_a_value_of_metadata_is_a_text(api: Api, body: dict[str, Any]) -> None:
    for noun in ("job", "run", *PLAIN):
        path, created = await creation(api, noun, body)
        error = (await api.call("POST", path, json={**created, "metadata": {"a": None}})).json()
        assert error["error"]["param"] == "metadata.a", path
