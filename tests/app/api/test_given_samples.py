"""Rows of eval runs that come with their samples, over HTTP."""

from typing import Any

from tests.support.api.application import ENDPOINT, Api
from tests.support.cases import cases

CHECK = {
    "type": "string_check",
    "name": "exact",
    "operation": "eq",
    "input": "{{ sample.output_text }}",
    "reference": "{{ item.answer }}",
}
SOUND = {"item": {"answer": "7"}, "sample": {"output_text": "7", "grade": 3}}


async def _run(api: Api, criterion: dict[str, Any], *content: dict[str, Any]) -> tuple[str, Any]:
    """Makes an eval of a criterion, or of changes of `CHECK`, and returns the path of its runs with
    the reply to a new one.
    """
    sent = criterion if "type" in criterion else {**CHECK, **criterion}
    config = {"type": "custom", "item_schema": {"type": "object"}}
    body = {"data_source_config": config, "testing_criteria": [sent]}
    made = await api.call("POST", "/v1/evals", json=body)
    assert made.status_code == 201, made.text
    path = f"/v1/evals/{made.json()['id']}/runs"
    source = {"type": "jsonl", "source": {"type": "file_content", "content": content}}
    return path, await api.call("POST", path, json={"data_source": source})


def _row(**sample: Any) -> dict[str, Any]:
    return {"item": {"answer": "7"}, "sample": sample}


@cases(
    ("row", "criterion", "param", "words"),
    [
        (_row(output="7"), {"operation": "ne"}, ".sample", "no answer: send the answer as"),
        ({"item": {}, "sample": None}, {}, ".sample", "the row has no 'sample'"),
        ({"item": {}, "sampel": {"output_text": "7"}}, {}, ".sampel", "nothing reads 'sampel'"),
        (_row(output_txt="7"), {"input": "{{item.answer}}"}, ".sample.output_txt",
         "did you mean 'output_text'?"),
        (_row(choices=[{"message": {"content": [{}]}}]), {}, ".sample", "is not a text"),
        (_row(output_text="7"), {"input": "{{sample.grade}}"}, ".sample", "no such key"),
        (_row(text="7"), {"type": "length_bounds", "max": 20}, ".sample", "no answer"),
    ],
)  # fmt: skip
async def test_a_row_that_a_criterion_cannot_read_is_refused_before_the_run(
    api: Api, row: dict[str, Any], criterion: dict[str, Any], param: str, words: str
) -> None:
    path, reply = await _run(api, criterion, SOUND, row)
    said = reply.json()["error"]
    assert (reply.status_code, said["code"]) == (400, "invalid_value")
    assert said["param"] == f"data_source.source.content[1]{param}"
    assert words in said["message"]
    assert (await api.call("GET", path)).json()["data"] == []


@cases(
    ("row", "criterion"),
    [
        (_row(grade=3), {"input": "{{sample.grade}}"}),
        (_row(choices=[{"message": {"content": None}}]), {}),
        ({"item": {"a": "b"}}, {"input": "{{item.a}}"}),
        ({"item": {"a": "b"}}, {"type": "endpoint", "url": ENDPOINT, "headers": {"X-Key": "k"}}),
    ],
)
async def test_a_row_with_what_the_criterion_reads_is_taken(
    api: Api, row: dict[str, Any], criterion: dict[str, Any]
) -> None:
    _, reply = await _run(api, criterion, row)
    assert reply.status_code == 201, reply.text
