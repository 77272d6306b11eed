"""Mistakes in a create call: each is refused, or accepted and named, in the same words by `create`,
`validate` and `agent-rft validate`.
"""

import json
from typing import Any

import pytest

from tests.support.api.application import Api
from tests.support.api.job_calls import JOBS
from tests.support.api.mistakes import (
    CALLS,
    CHECK,
    HYPER,
    LENGTH,
    LOOKED_UP,
    REFUSED,
    ROOT,
    RULER,
    SIMILAR,
    WRAPPED,
    altered,
    grading,
)
from tests.support.api.offline import is_unchecked, offline


async def events(api: Api, job_id: str) -> list[tuple[str, str]]:
    page = (await api.call("GET", f"{JOBS}/{job_id}/events")).json()["data"]
    return [(event["level"], event["message"]) for event in page]


@pytest.mark.parametrize(("changes", "param", "sentence"), REFUSED)
async def test_a_mistake_is_refused_with_its_cure(
    api: Api, body: dict[str, Any], *, changes: dict[str, Any], param: str, sentence: str
) -> None:
    sent = altered(body, changes)
    reply = await api.call("POST", JOBS, json=sent)
    assert reply.status_code == 400, reply.text
    error = reply.json()["error"]
    assert (error["param"], sentence in error["message"]) == (param, True), error
    report = (await api.call("POST", f"{JOBS}/validate", json=sent)).json()
    for found in (report, offline(json.dumps(sent).encode())):
        alike = [fault for fault in found["errors"] if fault["param"] == param]
        assert [(fault["code"], sentence in fault["message"]) for fault in alike] == [
            (error["code"], True)
        ], found["errors"]
    assert (await api.call("GET", JOBS)).json()["data"] == []


@pytest.mark.parametrize(("changes", "param"), LOOKED_UP)
async def test_what_only_a_service_can_check_is_named_without_one(
    api: Api, body: dict[str, Any], *, changes: dict[str, Any], param: str
) -> None:
    sent = altered(body, changes)
    reply = await api.call("POST", JOBS, json=sent)
    assert (reply.status_code, reply.json()["error"]["param"]) == (400, param), reply.text
    report = offline(json.dumps(sent).encode())
    assert (report["errors"], is_unchecked(report, param)) == ([], True)
    online = (await api.call("POST", f"{JOBS}/validate", json=sent)).json()
    assert "not_checked" not in [fault["code"] for fault in online["warnings"]]


NAMED: list[tuple[dict[str, Any], str, str, str]] = [
    ({"epochs": 3}, "epochs", "unknown_parameter", f"(did you mean '{HYPER}.n_epochs'?)"),
    ({"sufix": "a"}, "sufix", "unknown_parameter", "(did you mean 'suffix'?)"),
    ({"method.n_epochs": 3}, "method.n_epochs", "unknown_parameter", f"'{HYPER}.n_epochs'"),
    ({"zzz": 1}, "zzz", "unknown_parameter", "change nothing: 'zzz'"),
    ({f"{ROOT}.max_steps": 3}, f"{ROOT}.max_steps", "unknown_parameter",
     "(did you mean 'max_episode_steps'?)"),
    ({f"{ROOT}.steps": 3}, f"{ROOT}.steps", "unknown_parameter",
     "(did you mean 'max_episode_steps'?)"),
    (grading(refrence="y"), f"{ROOT}.grader.refrence", "unknown_parameter",
     "(did you mean 'reference'?)"),
    ({f"{HYPER}.beta": 0.1}, f"{HYPER}.beta", "unknown_parameter", "change nothing"),
    ({f"{ROOT}.response_format": WRAPPED}, f"{ROOT}.response_format",
     "response_format_not_enforced", "is not enforced"),
    ({f"{ROOT}.tools": [], **grading(input="{{sample.tool_calls[0].output}}")},
     f"{ROOT}.grader.input", "no_tools", "runs no call: that takes 'tools', 'mcp_servers' or"),
    ({f"{ROOT}.tools": [], f"{ROOT}.grader": {**CALLS, "source": "rollout"}},
     f"{ROOT}.grader.source", "no_tools", "runs no call: that takes 'tools', 'mcp_servers' or"),
    ({"integrations": [{"type": "mlflow", "mlflow": {"uri": "https://m.example"}}]},
     "integrations[0].mlflow.uri", "unknown_parameter", "(did you mean 'tracking_uri'?)"),
    ({"integrations": [{"type": "tensorboard", "tensorboard": {"traces": 3}}]},
     "integrations[0].tensorboard.traces", "unknown_parameter",
     "(did you mean 'traces_per_step'?)"),
    ({"integrations": [{"type": "wandb", "wandb": {"project": "p", "tag": "a"}}]},
     "integrations[0].wandb.tag", "unknown_parameter", "(did you mean 'tags'?)"),
    ({f"{ROOT}.tools": [], f"{ROOT}.max_episode_steps": 4}, f"{ROOT}.max_episode_steps", "no_tools",
     "'mcp_servers' or an 'environment' of type 'http' a rollout is one turn"),
    (grading(input="a"), f"{ROOT}.grader", "constant_grader", "reads nothing of a sample"),
    (grading(input="{{item.messages}}"), f"{ROOT}.grader", "constant_grader", "earn the same"),
    ({f"{ROOT}.grader": {**CALLS, "source": "text", "input": "a"}}, f"{ROOT}.grader",
     "constant_grader", "reads nothing of a sample"),
    ({f"{ROOT}.grader": {**LENGTH, "unit": "words"}}, f"{ROOT}.grader", "constant_grader",
     "reads nothing of a sample"),
    ({f"{ROOT}.grader": {"type": "multi", "calculate_output": "0.5 * a", "graders": {
        "a": {**CHECK, "input": "a"}, "b": CHECK}}}, f"{ROOT}.grader", "constant_grader",
     "reads nothing of a sample"),
    ({f"{ROOT}.grader": RULER, f"{HYPER}.eval_samples": 2}, f"{ROOT}.grader", "judged_apart",
     "base and tuned model in groups of their own"),
    ({f"{ROOT}.grader": RULER}, f"{ROOT}.grader", "judge_of_one",
     "a validation has one of each"),
    ({f"{ROOT}.grader": {"type": "multi", "calculate_output": "a * b", "graders": {
        "a": CHECK, "b": RULER}}, f"{HYPER}.eval_samples": 1}, f"{ROOT}.grader.graders.b",
     "judge_of_one", "'method.reinforcement.hyperparameters.eval_samples' to 2 or more"),
    ({f"{ROOT}.grader": {"type": "multi", "calculate_output": "a", "graders": {
        "a": CHECK, "b": CHECK}}}, f"{ROOT}.grader.graders.b", "unused_grader",
     "'calculate_output' does not use it"),
    ({f"{ROOT}.tools": [], f"{ROOT}.objective": {"call_budget": 0}},
     f"{ROOT}.objective.call_budget", "no_tools", "the job runs none without 'tools'"),
    ({f"{ROOT}.tools": [], f"{ROOT}.objective": {"repeated_call_penalty": 0.1}},
     f"{ROOT}.objective.repeated_call_penalty", "no_tools", "it counts calls that are run"),
    ({f"{ROOT}.objective": {"call_budget_penalty": 0.1}}, f"{ROOT}.objective.call_budget_penalty",
     "unused_option", "it needs a budget"),
    ({f"{ROOT}.objective": {"token_penalty": 0, "token_budget": 9}},
     f"{ROOT}.objective.token_budget", "unused_option", "token_penalty' is 0"),
    ({f"{ROOT}.grader": CHECK, f"{ROOT}.stop": {"target": {"value": 7}}},
     f"{ROOT}.stop.target.value", "unused_option", "the highest score of the grader is 1"),
    ({f"{ROOT}.grader": CHECK, f"{ROOT}.stop": {"target": {"value": 0}}},
     f"{ROOT}.stop.target.value", "target_always_reached", "the lowest score of the grader is 0"),
    ({f"{ROOT}.grader": CHECK, f"{ROOT}.stop": {"gap": {"threshold": 2}}},
     f"{ROOT}.stop.gap.threshold", "unused_option", "never differ by that much"),
    ({f"{HYPER}.learning_rate_multiplier": 1e-300}, f"{HYPER}.learning_rate_multiplier",
     "tiny_learning_rate", "' of 1e-300 makes steps so small"),
    ({f"{ROOT}.grader": {"type": "multi", "calculate_output": "0 * a", "graders": {"a": CHECK}}},
     f"{ROOT}.grader", "constant_grader", "its formula is 0 for every score"),
    ({f"{ROOT}.grader": {"type": "multi", "calculate_output": "a", "graders": {
        "a": {**CHECK, "pass_threshold": 0.5}}}}, f"{ROOT}.grader.graders.a.pass_threshold",
     "unused_option", "passes or fails as a whole"),
    ({f"{ROOT}.grader": {**RULER, "type": "label_model", "input": [
        {"role": "user", "content": "{{sample.output_text}}"}], "labels": ["good", "bad"],
        "passing_labels": ["bad", "good"]}}, f"{ROOT}.grader", "constant_grader",
     "it has no other score than 1"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "param", "code", "sentence"), NAMED)
async def test_what_changes_nothing_is_named_in_a_warning_and_an_event(
    api: Api, body: dict[str, Any], *, changes: dict[str, Any], param: str, code: str, sentence: str
) -> None:
    sent = altered(body, changes)
    report = (await api.call("POST", f"{JOBS}/validate", json=sent)).json()
    assert (code, param) in [(fault["code"], fault["param"]) for fault in report["warnings"]]
    made = await api.call("POST", JOBS, json=sent)
    assert made.status_code == 200, made.text
    warned = [text for level, text in await events(api, made.json()["id"]) if level == "warn"]
    assert any(sentence in message for message in warned), warned


@pytest.mark.parametrize(
    "changes",
    [
        grading(input="{{sample.tool_calls}}"),
        {f"{ROOT}.grader": {**LENGTH, "unit": "tokens"}},
        {f"{ROOT}.grader": {**CALLS, "source": "rollout", "input": "a"}},
        {f"{ROOT}.grader": {**CALLS, "source": "last_turn", "input": "a"}},
        {f"{ROOT}.grader": {**CALLS, "source": "auto", "input": "a"}},
        {f"{ROOT}.tools": [], f"{ROOT}.grader": {**CALLS, "source": "auto"}},
        {f"{ROOT}.tools": [], f"{ROOT}.grader": {**CALLS, "source": "text"}},
    ],
)
async def test_a_call_without_mistakes_has_no_warning(
    api: Api, body: dict[str, Any], changes: dict[str, Any]
) -> None:
    sent = altered(body, changes)
    made = await api.call("POST", JOBS, json=sent)
    assert [level for level, _ in await events(api, made.json()["id"])] == ["info"]
    report = (await api.call("POST", f"{JOBS}/validate", json=sent)).json()
    codes = {fault["code"] for fault in report["warnings"]}
    assert not codes & {"constant_grader", "no_tools"}, report["warnings"]


async def test_many_unknown_keys_are_counted(api: Api, body: dict[str, Any]) -> None:
    sent = altered(body, {f"{ROOT}.k{number}": number for number in range(5_000)})
    report = (await api.call("POST", f"{JOBS}/validate", json=sent)).json()
    named = [fault for fault in report["warnings"] if fault["code"] == "unknown_parameter"]
    assert (len(named), named[-1]["message"]) == (201, "Nothing reads 4800 more keys.")
    made = await api.call("POST", JOBS, json=sent)
    assert any("and 4980 more" in text for _, text in await events(api, made.json()["id"]))


async def with_rows(api: Api, body: dict[str, Any], rows: list[dict[str, Any]]) -> dict[str, Any]:
    content = "\n".join(json.dumps(row) for row in rows).encode()
    files = [(await api.upload(content)).json()["id"] for _ in range(2)]
    changes = {"training_file": files[0], "validation_file": files[1], f"{ROOT}.tools": []}
    return altered(body, changes)


QUESTION = {"messages": [{"role": "user", "content": "q"}]}
NAMES = [f"a{number:02}" for number in range(11)]
ROWS: list[tuple[dict[str, Any], list[dict[str, Any]], str, str, str]] = [
    (grading(reference="{{item.zzz}}"), [{**QUESTION, "answer": "a"}] * 10, "errors",
     f"{ROOT}.grader.reference", "no row of the training file has it. The rows have answer"),
    (grading(reference="{{item.zzz}}"), [{**QUESTION, **dict.fromkeys(NAMES, "a")}] * 10, "errors",
     f"{ROOT}.grader.reference", f"The rows have {', '.join(NAMES[:10])}."),
    ({f"{ROOT}.grader": {"type": "contains", "needles": ["a", "{{item.zzz}}"]}},
     [{**QUESTION, "answer": "a"}] * 10, "errors", f"{ROOT}.grader.needles[1]",
     "no row of the training file has it. The rows have answer"),
    (grading(reference="{{item.answer}}"), [{**QUESTION, "reference_answer": "a"}] * 10, "errors",
     f"{ROOT}.grader.reference", "Did you mean 'item.reference_answer'?"),
    ({f"{ROOT}.grader": {"type": "code_execution"}}, [{**QUESTION, "answer": "a"}] * 10, "errors",
     f"{ROOT}.grader.tests", "no row of the validation file has it. The rows have answer"),
    ({f"{ROOT}.grader": {"type": "code_execution"}}, [{**QUESTION, "tests": [1]}] * 10, "errors",
     f"{ROOT}.grader.tests", "is read as tests of a program, and 10 of 10 rows of the training"),
    ({f"{ROOT}.grader": {"type": "code_execution", "function": "{{item.f}}"}},
     [{**QUESTION, "tests": [{"arguments": [], "expected": 1}], "f": "a b"}] * 10, "errors",
     f"{ROOT}.grader.function", "is not the name of a function. No answer to such a row"),
    ({f"{ROOT}.grader": {"type": "multi", "calculate_output": "a", "graders": {
        "a": {**CALLS, "reference": "{{item.calls}}"}}}},
     [{**QUESTION, "calls": []}] * 9 + [{**QUESTION, "calls": "search"}], "errors",
     f"{ROOT}.grader.graders.a.reference",
     "can be used (lines 10): 'reference' is not a JSON list"),
    ({f"{ROOT}.grader": SIMILAR}, [{**QUESTION, "answer": "x" * 92_682}] + [
        {**QUESTION, "answer": "x"}] * 9, "errors", f"{ROOT}.grader.reference",
     "(lines 1): a text is longer than 92681 characters"),
    ({f"{ROOT}.grader": {"type": "exact_match", "reference": "{{item.answer}}"}},
     [{**QUESTION, "answer": "a" + "\u0301" * 31}] * 10, "errors", f"{ROOT}.grader.reference",
     "a text has more than 30 combining marks in a row"),
    (grading(reference="{{item.a[1]}}"), [{**QUESTION, "a": [1, 2]}] * 9 + [{**QUESTION, "a": []}],
     "errors", f"{ROOT}.grader.reference", "1 of 10 rows of the training file lack it (lines 10)"),
    ({f"{HYPER}.batch_size": 64}, [QUESTION] * 10, "warnings", f"{HYPER}.batch_size",
     "batch_size 64 is over the 10 rows of the training file: each step takes all 10 of them"),
    ({}, [QUESTION] * 10, "warnings", "validation_file", "are in the training file too"),
    (grading(input="{{sample.output_tools[0].function.name}}"), [QUESTION] * 10, "warnings",
     f"{ROOT}.grader.input", "neither the job nor a row offers a tool, so it is always empty"),
    ({f"{ROOT}.grader": {**CALLS, "source": "last_turn"}}, [QUESTION] * 10, "warnings",
     f"{ROOT}.grader.source", "neither the job nor a row offers a tool, so it is always empty"),
    ({f"{HYPER}.eval_interval": 99, f"{HYPER}.n_epochs": 3, f"{HYPER}.batch_size": 5},
     [QUESTION] * 10, "warnings", f"{HYPER}.eval_interval",
     "eval_interval 99 is over the 6 steps of the job"),
    ({f"{ROOT}.objective": {"overlong": {"limit": 10**6, "buffer": 9}}}, [QUESTION] * 10,
     "warnings", f"{ROOT}.objective.overlong.limit", "changes nothing: the penalty begins after"),
    ({f"{ROOT}.objective": {"overlong": {"limit": 10**6, "buffer": 10**6}}}, [QUESTION] * 10,
     "warnings", f"{ROOT}.objective.overlong.limit", "the penalty is never complete"),
    ({f"{ROOT}.stop": {"parse_errors": {"action": "pause"}}}, [QUESTION] * 10, "warnings",
     f"{ROOT}.stop.parse_errors", "changes nothing"),
    ({}, [{"input": "q"}] * 10, "errors", "training_file", "must be a list"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "rows", "severity", "param", "sentence"), ROWS)
async def test_a_mistake_that_the_rows_show_is_named(
    api: Api,
    body: dict[str, Any],
    *,
    changes: dict[str, Any],
    rows: list[dict[str, Any]],
    severity: str,
    param: str,
    sentence: str,
) -> None:
    sent = altered(await with_rows(api, body, rows), changes)
    report = (await api.call("POST", f"{JOBS}/validate", json=sent)).json()
    reported = [fault["message"] for fault in report[severity] if fault["param"] == param]
    assert any(sentence in message for message in reported), report


async def test_calls_of_offered_tools_are_worth_reading(api: Api, body: dict[str, Any]) -> None:
    tool = {"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}
    rows = [{**QUESTION, "tools": [tool]}] * 10
    changes = {
        **grading(input="{{sample.output_tools}}"),
        f"{ROOT}.objective": {"call_budget": 3, "repeated_call_penalty": 0},
    }
    job_tools: list[Any] = body["method"]["reinforcement"]["tools"]
    # A budget counts calls that are run, so that it has no effect without the job's own tools.
    unread = [f"{ROOT}.objective.call_budget"]
    for tools, unused in ((job_tools[:0], unread), (job_tools, [])):
        sent = altered(await with_rows(api, body, rows), {**changes, f"{ROOT}.tools": tools})
        report = (await api.call("POST", f"{JOBS}/validate", json=sent)).json()
        named = [fault["param"] for fault in report["warnings"] if fault["code"] == "no_tools"]
        assert named == unused


async def test_fields_that_graders_are_always_given_are_no_mistake(
    api: Api, body: dict[str, Any]
) -> None:
    text = "{{item.messages[0].name}}{{item.tools}}{{item.parallel_tool_calls}}{{item}}"
    sent = altered(await with_rows(api, body, [QUESTION] * 10), grading(reference=text))
    report = (await api.call("POST", f"{JOBS}/validate", json=sent)).json()
    assert report["errors"] == []
