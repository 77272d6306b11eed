"""Graders by which no sample passes, or every one: refused or warned of wherever they are sent."""

from typing import Any

import pytest

from tests.support.api.application import ENDPOINT, Api

CONFIG = {"type": "custom", "item_schema": {"type": "object"}}
CHECK = {
    "type": "string_check",
    "input": "{{sample.output_text}}",
    "reference": "{{item.answer}}",
    "operation": "eq",
}
SIMILAR = {
    "type": "text_similarity",
    "input": "{{sample.output_text}}",
    "reference": "{{item.answer}}",
    "evaluation_metric": "rouge_l",
    "pass_threshold": 0.5,
}
JUDGE = {
    "type": "score_model",
    "model": "tiny-agent",
    "range": [1, 5],
    "input": [{"role": "user", "content": "{{sample.output_text}}"}],
}
HOOK = {"type": "endpoint", "url": ENDPOINT}
HELD_BY_JOBS = "write 'sample.choices[0]'"


def sum_of(formula: str, **changes: Any) -> dict[str, Any]:
    graders = {"a": CHECK, "b": SIMILAR}
    return {"type": "multi", "graders": graders, "calculate_output": formula, **changes}


async def sent_everywhere(api: Api, grader: dict[str, Any]) -> list[tuple[str, Any]]:
    """Sends a grader to each call that takes one by itself; returns its place there and the
    reply.
    """
    evals = {"data_source_config": CONFIG, "testing_criteria": [CHECK, grader]}
    calls: list[tuple[str, str, dict[str, Any]]] = [
        ("testing_criteria[1]", "/v1/evals", evals),
        ("grader", "/v1/graders", {"name": "g", "grader": grader}),
        ("grader", "/v1/fine_tuning/alpha/graders/validate", {"grader": grader}),
    ]
    return [(place, await api.call("POST", path, json=body)) for place, path, body in calls]


@pytest.mark.parametrize(
    ("grader", "param", "words"),
    [
        ({**CHECK, "input": "{{sample.choices[0].message.contents}}"}, "input", "content'?"),
        ({**CHECK, "input": "{{sample.choices.message}}"}, "input", HELD_BY_JOBS),
        ({**CHECK, "pass_threshold": 9}, "pass_threshold", "from 0 to 1: send a number above"),
        ({**JUDGE, "pass_threshold": 6}, "pass_threshold", "from 1 to 5"),
        ({"type": "contains", "needles": ["a", ""]}, "needles[1]", "never found"),
        ({**SIMILAR, "reference": " "}, "reference", "nothing to compare with"),
    ],
)
async def test_a_grader_without_an_effect_is_refused_in_every_call(
    api: Api, grader: dict[str, Any], param: str, words: str
) -> None:
    for place, reply in await sent_everywhere(api, grader):
        said = reply.json()["error"]
        assert (reply.status_code, said["code"]) == (400, "invalid_value"), reply.text
        assert said["param"] == f"{place}.{param}"
        assert words in said["message"]


@pytest.mark.parametrize(
    "grader",
    [
        {**CHECK, "input": "{{sample.choices[0].message.content}}", "pass_threshold": 1},
        {**JUDGE, "pass_threshold": 5},
        {**HOOK, "pass_threshold": -7},
        sum_of("a / b", pass_threshold=50),
    ],
)
async def test_a_grader_with_an_effect_is_taken_without_a_warning(
    api: Api, grader: dict[str, Any]
) -> None:
    for _, reply in await sent_everywhere(api, grader):
        assert reply.status_code in (200, 201), reply.text
        assert "warnings" not in reply.json()


@pytest.mark.parametrize("path", ["choices[3].message.content"])
async def test_what_only_rollouts_lack_is_refused_for_jobs_alone(api: Api, path: str) -> None:
    replies = await sent_everywhere(api, {**CHECK, "input": f"{{{{sample.{path}}}}}"})
    assert [reply.status_code for _, reply in replies] == [201, 400, 400]


@pytest.mark.parametrize(
    "grader",
    [
        {**CHECK, "input": "{{item.answer}}"},
        {"type": "multi", "graders": {"a": {**CHECK, "input": "x"}, "b": CHECK},
         "calculate_output": "a"},
    ],
)  # fmt: skip
async def test_a_grader_that_reads_no_sample_is_warned_of(api: Api, grader: dict[str, Any]) -> None:
    for place, reply in await sent_everywhere(api, grader):
        assert reply.status_code in (200, 201), reply.text
        (warning,) = reply.json()["warnings"]
        assert (warning["code"], warning["param"]) == ("constant_grader", place)
        assert warning["message"].startswith(f"'{place}' reads nothing of a sample, so ")


async def test_a_new_version_is_warned_of_too_and_a_later_read_is_not(api: Api) -> None:
    made = await api.call("POST", "/v1/graders", json={"name": "g", "grader": CHECK})
    path = f"/v1/graders/{made.json()['id']}"
    changed = await api.call("POST", path, json={"grader": {**CHECK, "input": "a"}})
    assert [each["code"] for each in changed.json()["warnings"]] == ["constant_grader"]
    assert "warnings" not in (await api.call("GET", path)).json()
