"""Unknown keys in registered tools, graders and curricula, by the rule of jobs: an object or a list
is refused, another value is named.
"""

from typing import Any

from tests.support.api.application import ENDPOINT, Api
from tests.support.cases import cases

CHECK = {
    "type": "string_check", "name": "same", "input": "{{sample.output_text}}",
    "reference": "{{item.answer}}", "operation": "eq",
}  # fmt: skip
MULTI = {"type": "multi", "name": "m", "graders": {"a": CHECK}, "calculate_output": "a"}
ROW = {"messages": [{"role": "user", "content": "hi"}]}
TOOL = {"name": "search", "server_url": ENDPOINT}
GRADER = {"name": "g", "grader": CHECK}
CURRICULUM = {"name": "c", "training": [ROW]}
NEAR = {
    "descripton": "description",
    "grader.graders.a.operatin": "operation",
    "validatoin_file": "validation_file",
}
KEYS: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
    ("tools", TOOL, "descripton", {**TOOL, "descripton": "?"}),
    (
        "graders",
        GRADER,
        "grader.graders.a.operatin",
        {**GRADER, "grader": {**MULTI, "graders": {"a": {**CHECK, "operatin": "?"}}}},
    ),
    ("curricula", CURRICULUM, "validatoin_file", {**CURRICULUM, "validatoin_file": "?"}),
]


def filled(body: Any, value: Any) -> Any:
    """Returns the body with `value` in place of the question mark."""
    if isinstance(body, dict):
        return {key: filled(below, value) for key, below in body.items()}
    return value if body == "?" else body


@cases(("noun", "body", "param", "wrong"), KEYS, ids=[key[2] for key in KEYS])
async def test_an_unknown_key_is_named_or_refused(
    api: Api, noun: str, body: dict[str, Any], param: str, wrong: dict[str, Any]
) -> None:
    path = f"/v1/{noun}"
    for value in ({"a": 1}, ["a"]):
        error = (await api.call("POST", path, json=filled(wrong, value))).json()["error"]
        assert (error["code"], error["param"]) == ("unknown_parameter", param)
        assert f"Did you mean '{NEAR[param]}'?" in error["message"]
    assert (await api.call("GET", path)).json()["data"] == []
    warning = {
        "code": "unknown_parameter",
        "message": f"Nothing reads '{param}', so it changes nothing. Did you mean '{NEAR[param]}'?",
        "param": param,
    }
    made = (await api.call("POST", path, json=filled(wrong, 1))).json()
    assert made["warnings"] == [warning]
    one = f"{path}/{made['id']}"
    shown = (await api.call("GET", one)).json()
    assert "warnings" not in shown
    updated = (await api.call("POST", one, json=filled(wrong, "text"))).json()
    assert updated["warnings"] == [warning]
    refused = await api.call("POST", one, json=filled(wrong, {}))
    assert refused.json()["error"]["param"] == param
    clean = (await api.call("POST", path, json={**body, "name": "other"})).json()
    assert "warnings" not in clean
    again = await api.call("POST", f"{path}/{clean['id']}", json={**clean, "warnings": [warning]})
    assert (again.status_code, "warnings" in again.json()) == (200, False), "a reply sent back"


async def test_a_feature_that_does_not_exist_is_refused_by_name(api: Api) -> None:
    for noun, body in (("graders", GRADER), ("curricula", CURRICULUM)):
        reply = await api.call("POST", f"/v1/{noun}", json={**body, "sandbox": "python"})
        error = reply.json()["error"]
        assert (error["code"], error["param"]) == ("not_available", "sandbox")
