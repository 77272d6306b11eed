"""Trial runs of graders over HTTP, against scripted endpoints and an engine on real sockets."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from standardwebhooks import Webhook

from tests.support.cases import cases
from tests.support.endpoints import Reply, endpoint
from tests.support.registry.trials import FLAGS, RUN, VALIDATE, Trials, judge, serving
from tests.support.stack import Database

CHECK = {
    "type": "string_check",
    "name": "exact",
    "input": "{{ sample.output_text }}",
    "reference": "{{ item.answer }}",
    "operation": "eq",
}
NEAR = {
    "type": "text_similarity",
    "name": "near",
    "input": "{{ sample.output_text }}",
    "reference": "{{ item.answer }}",
    "evaluation_metric": "fuzzy_match",
}


@pytest.fixture
async def trials(database: Database) -> AsyncIterator[Trials]:
    async with serving(database) as running:
        yield running


async def test_a_run_has_the_hosted_shape_with_every_flag(trials: Trials) -> None:
    answer = await trials.run(CHECK)
    elapsed = answer["metadata"].pop("execution_time")
    assert 0 < elapsed < 5
    assert answer == {
        "reward": 1.0,
        "metadata": {
            "name": "exact",
            "type": "string_check",
            "errors": FLAGS,
            "scores": {},
            "reasons": {},
            "token_usage": None,
            "sampled_model_name": None,
        },
        "sub_rewards": {},
        "model_grader_token_usage_per_model": {},
    }
    assert (await trials.run(CHECK, "41"))["reward"] == 0.0


async def test_a_multi_grader_shows_its_parts(trials: Trials) -> None:
    grader = {
        "type": "multi",
        "graders": {"exact": CHECK, "near": NEAR},
        "calculate_output": "0.5 * exact + 0.5 * near",
    }
    answer = await trials.run(grader, "4")
    assert answer["reward"] == pytest.approx(0.5 * 2 / 3)
    assert answer["sub_rewards"] == pytest.approx({"exact": 0.0, "near": 2 / 3})
    assert answer["metadata"]["scores"] == answer["sub_rewards"]
    assert answer["metadata"]["name"] == "multi"


async def test_a_score_beyond_the_bound_is_no_reward(trials: Trials) -> None:
    grader = {"type": "multi", "graders": {"exact": CHECK}, "calculate_output": "exact * 1e10"}
    answer = await trials.run(grader)
    errors = answer["metadata"]["errors"]
    assert (answer["reward"], errors["other_error"]) == (0.0, True)
    assert errors["details"] == "the score 1e+10 is beyond ±1e+09"


async def test_the_sample_is_json_where_it_parses(trials: Trials) -> None:
    grader = {**CHECK, "input": "{{ sample.output_json.a[1] }}"}
    assert (await trials.run(grader, '{"a": [1, 42]}'))["reward"] == 1.0
    answer = await trials.run(grader, "no JSON")
    assert answer["reward"] == 0.0
    assert answer["metadata"]["errors"] == {
        **FLAGS,
        "invalid_variable_error": True,
        "details": "'sample.output_json.a[1]' is not there",
    }


@cases("answer", ['"a"', "[1, NaN]"])
async def test_output_json_is_an_object_or_a_list_as_in_a_job(trials: Trials, answer: str) -> None:
    grader = {**CHECK, "input": "{{ sample.output_json }}", "reference": answer.strip('"')}
    found = await trials.run(grader, answer)
    assert (found["reward"], found["metadata"]["errors"]["invalid_variable_error"]) == (0.0, True)


async def test_parts_of_a_rollout_are_read_beside_the_answer(trials: Trials) -> None:
    calls = [{"name": "search", "arguments": "{}", "output": "Ulm"}]
    check = {**CHECK, "input": "{{sample.tool_calls[0].output}}", "reference": "Ulm"}
    bounds = {"type": "length_bounds", "unit": "items", "input": "{{sample.turns}}", "max": 1}
    multi = {"type": "multi", "graders": {"a": check, "b": bounds}, "calculate_output": "a + b"}
    answer = await trials.run(multi, "x", sample={"tool_calls": calls})
    assert answer["reward"] == 2.0
    assert answer["metadata"]["reasons"] == {"b": "1 items: within the bounds"}
    alone = await trials.run(bounds, "x", sample={"turns": []})
    assert alone["metadata"]["reasons"] == {"": "0 items: within the bounds"}
    param, _, _ = await trials.fault(
        RUN, {"grader": check, "model_sample": "x", "sample": {"turns": {}}}
    )
    assert param == "sample.turns"


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply(json={"score": "0.7"}), "there it is a text in quotation marks"),
        (Reply(json={"reward": 0.7}), "the object has no such key, but 'reward'"),
        (Reply(body=b'{"score": 1e999}'), "there it is a number that is not finite"),
        (Reply(body=b"0.7 of 1"), "the body is not JSON"),
    ],
)
async def test_a_reply_without_a_score_states_what_is_there(
    database: Database, reply: Reply, said: str
) -> None:
    async with endpoint(lambda _: reply) as server:
        grader = {"type": "endpoint", "name": "g", "url": server.url()}
        async with serving(database, server) as trials:
            answer = await trials.run(grader)
    errors = answer["metadata"]["errors"]
    shown = reply.encode().partition(b"\r\n\r\n")[2].decode()
    assert errors["details"] == (
        f"answered 200 without a finite number `score`: {said} (no Content-Type): {shown}"
    )


async def test_an_endpoint_is_called_as_in_training(database: Database) -> None:
    async with endpoint(lambda _: Reply(json={"score": 0.25, "metrics": {"m": 2}})) as server:
        grader = {"type": "endpoint", "name": "g", "url": server.url(), "headers": {"K": "v"}}
        async with serving(database, server) as trials:
            answer = await trials.run(grader, '{"a": 1}', trace_id="trace_mine")
            secret = await trials.secret()
    assert (answer["reward"], answer["sub_rewards"]) == (0.25, {"m": 2.0})
    (request,) = server.received
    message = {"role": "assistant", "content": '{"a": 1}', "tool_calls": []}
    assert request.json == {
        "sample": {
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "output_text": '{"a": 1}',
            "output_json": {"a": 1},
            "output_tools": [],
            "output_reasoning_summary": None,
            "tool_calls": [],
            "turns": [
                {
                    "content": '{"a": 1}',
                    "finish_reason": "stop",
                    "parse_error": None,
                    "tool_calls": 0,
                    "completion_tokens": None,
                }
            ],
            "stop_reason": "final_answer",
        },
        "item": {"answer": "42"},
        "trace_id": "trace_mine",
    }
    assert request.headers["k"] == "v"
    assert request.headers["x-rollout-id"] == "trace_mine"
    Webhook(secret).verify(request.body, request.headers)


async def test_calls_have_their_arguments_as_in_a_job(trials: Trials) -> None:
    path = "{{ sample.tool_calls[0].arguments_json.city }}"
    check = {**CHECK, "input": path, "reference": "Ulm"}
    flat = {"name": "look", "arguments": '{"city": "Ulm"}'}
    assert (await trials.run(check, "x", sample={"tool_calls": [flat]}))["reward"] == 1.0
    given = {**flat, "arguments_json": {"city": "Bonn"}}
    assert (await trials.run(check, "x", sample={"tool_calls": [given]}))["reward"] == 0.0
    chat = {"id": "c", "type": "function", "function": flat}
    assert (await trials.run(check, "x", sample={"output_tools": [chat]}))["reward"] == 1.0
    answered = {**chat, "output": "sunny"}
    for sent in (chat, answered):
        assert (await trials.run(check, "x", sample={"tool_calls": [sent]}))["reward"] == 1.0
    read = {**CHECK, "input": "{{sample.tool_calls[0].output}}", "reference": "sunny"}
    assert (await trials.run(read, "x", sample={"tool_calls": [answered]}))["reward"] == 1.0
    broken = {"name": "look", "arguments": "{city"}
    answer = await trials.run(check, "x", sample={"tool_calls": [broken]})
    assert answer["metadata"]["errors"]["invalid_variable_error"] is True


@cases(
    ("sample", "param", "hint"),
    [
        ({"tool_cals": []}, "sample.tool_cals", "Did you mean 'tool_calls'?"),
        ({"zzz": 1}, "sample.zzz", "Remove it."),
        ({"output_tools": [{}, {"function": {"argumens": "{}"}}]},
         "sample.output_tools[1].function.argumens", "Did you mean 'arguments'?"),
    ],
)  # fmt: skip
async def test_an_unknown_key_of_a_sample_is_named(
    trials: Trials, sample: dict[str, Any], param: str, hint: str
) -> None:
    body = {"grader": CHECK, "model_sample": "x", "sample": sample}
    reported, code, message = await trials.fault(RUN, body)
    assert (reported, code) == (param, "unknown_parameter")
    assert message == f"Unknown parameter: '{param}'. {hint}"


async def test_a_graders_fault_is_200_with_its_flag(database: Database) -> None:
    async with endpoint(lambda _: Reply(500, {"secret": "body"})) as server:
        grader = {"type": "endpoint", "name": "g", "url": server.url()}
        async with serving(database, server) as trials:
            alone = await trials.run(grader)
            inside = await trials.run(
                {"type": "multi", "graders": {"g": grader}, "calculate_output": "g"}
            )
    for answer in (alone, inside):
        errors = {**FLAGS, "other_error": True, "details": "answered 500"}
        assert (answer["reward"], answer["metadata"]["errors"]) == (0.0, errors)
    assert len(server.received) == 4


async def test_a_grader_that_hangs_ends_in_time(database: Database) -> None:
    async with endpoint(lambda _: Reply(json={"score": 1}, delay_s=3600)) as server:
        grader = {"type": "endpoint", "url": server.url()}
        async with serving(database, server, call_timeout_s=0.5) as trials:
            answer = await trials.run(grader)
    assert answer["metadata"]["errors"]["other_error"] is True


@cases(
    ("grader", "param", "code"),
    [
        ({"type": "python", "source": "x"}, "grader.source", "invalid_value"),
        ({"type": "made_up"}, "grader.type", "grader_not_available"),
        ("text", "grader", "invalid_value"),
        (
            {"type": "multi", "graders": {"a": {**CHECK, "input": "{{"}}, "calculate_output": "a"},
            "grader.graders.a.input",
            "invalid_value",
        ),
        (
            {"type": "multi", "graders": {"a": CHECK}, "calculate_output": "a + b"},
            "grader.calculate_output",
            "invalid_value",
        ),
        (
            {"type": "multi", "graders": {"a": judge("gpt-x")}, "calculate_output": "a"},
            "grader.graders.a.model",
            "model_not_found",
        ),
        (
            {
                "type": "multi",
                "graders": {"a": {"type": "endpoint", "url": "http://10.0.0.1/"}},
                "calculate_output": "a",
            },
            "grader.graders.a.url",
            "endpoint_not_allowed",
        ),
    ],
)
async def test_a_bad_grader_is_refused_by_name(
    trials: Trials, grader: Any, param: str, code: str
) -> None:
    for path, body in ((VALIDATE, {}), (RUN, {"model_sample": "x"})):
        fault = await trials.fault(path, {"grader": grader, **body})
        assert fault[:2] == (param, code), fault


async def test_validate_echoes_the_grader_as_it_is_understood(trials: Trials) -> None:
    assert await trials.post(VALIDATE, {"grader": CHECK}) == {"grader": CHECK}
    secret = judge("m", base_url="https://1.1.1.1/v1", headers={"Authorization": "canary"})
    grader = {"type": "multi", "graders": {"a": secret}, "calculate_output": "a", "extra": 1}
    answer = await trials.post(VALIDATE, {"grader": grader})
    echoed = answer["grader"]["graders"]["a"]
    assert echoed["headers"] == {"Authorization": "[redacted]"}
    assert echoed["range"] == [0.0, 1.0]
    assert answer["grader"]["name"] == "multi"
    assert "extra" not in answer["grader"]
