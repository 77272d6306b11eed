"""JSON within strings of a body may hold as many values as the body."""

from typing import Any

from app.files.conversations import message_faults
from app.kit.strict_json import MAX_VALUES
from tests.support.api.application import Api
from tests.support.cases import cases

RUN = "/v1/fine_tuning/alpha/graders/run"
MANY = f"[{'[],' * (2 * MAX_VALUES + 1)}1]"
FEW = f"[{'[],' * 1_000}1]"


async def _run(api: Api, grader: dict[str, Any], text: str, **more: Any) -> dict[str, Any]:
    reply = await api.call("POST", RUN, json={"grader": grader, "model_sample": text, **more})
    assert reply.status_code == 200, reply.text
    found: dict[str, Any] = reply.json()
    return found


async def test_an_answer_with_too_many_values_is_unreadable(api: Api) -> None:
    assert (await _run(api, {"type": "json_valid"}, FEW))["reward"] == 1.0
    run = await _run(api, {"type": "json_valid"}, MANY)
    errors = run["metadata"]["errors"]
    assert (run["reward"], errors["sample_parse_error"]) == (0.0, True)
    assert f"more than {MAX_VALUES} values" in errors["details"]


@cases(("text", "read"), [(FEW, True), (MANY, False)])
async def test_output_json_of_too_many_values_is_none(api: Api, text: str, read: bool) -> None:
    grader = {"type": "exact_match", "input": "{{ sample.output_json[0] }}", "reference": "[]"}
    run = await _run(api, grader, text)
    assert (run["reward"] == 1.0) is read


def test_arguments_with_too_many_values_are_refused() -> None:
    """As a base model with a longer context than the shipped one checks them."""
    call = {"name": "f", "arguments": f'{{"a": {MANY}}}'}
    calls = [{"id": "c", "type": "function", "function": call}]
    message = {"role": "assistant", "tool_calls": calls}
    [fault] = message_faults(message, ("messages", 1))
    assert fault.param == "messages[1].tool_calls[0].function.arguments"
    assert f"more than {MAX_VALUES} values" in fault.message
