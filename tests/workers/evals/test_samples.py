import pytest

from app.evals.data_sources import (
    DATA_SOURCE,
    SampledSource,
    SentSampling,
    UnusableItem,
    settings_of,
)
from tests.support.cases import cases
from workers.evals.items import given_sample, prompt_of, sample_of

FUNCTION = {"name": "f", "description": "d", "parameters": {"type": "object"}}
FORM = {"name": "answer", "schema": {"type": "object"}, "strict": True}


def source(messages: object) -> SampledSource:
    read = DATA_SOURCE.validate_python(
        {
            "type": "responses",
            "model": "m",
            "source": {"type": "file_id", "id": "file-1"},
            "input_messages": messages,
        }
    )
    assert isinstance(read, SampledSource)
    return read


def test_a_template_is_filled_from_the_item() -> None:
    parts = [{"type": "input_text", "text": "{{item.a}}"}, "and {{ item.b[0] }}"]
    spec = source(
        {
            "type": "template",
            "template": [{"role": "developer", "content": "x"}, {"role": "user", "content": parts}],
        }
    ).input_messages
    assert prompt_of(spec, {"a": "one", "b": [2]}) == [
        {"role": "developer", "content": "x"},
        {"role": "user", "content": "one\nand 2"},
    ]
    with pytest.raises(UnusableItem, match=r"item\.b"):
        prompt_of(spec, {"a": "one"})


@cases(
    "value",
    [
        "text",
        [],
        [1],
        [{"content": "no role"}],
        [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://x"}}]}],
        [{"role": "user", "content": ["bare"]}],
    ],
)
def test_a_reference_to_what_is_no_talk_is_the_items_fault(value: object) -> None:
    spec = source({"type": "item_reference", "item_reference": "item.talk"}).input_messages
    with pytest.raises(UnusableItem):
        prompt_of(spec, {"talk": value})


def test_settings_of_the_responses_api_are_put_into_chat_words() -> None:
    params = SentSampling(
        tools=[{"type": "function", **FUNCTION}, {"type": "function", "function": FUNCTION}],
        text={"format": {"type": "json_schema", **FORM}},
        max_completion_tokens=9,
    )
    assert settings_of(params, seed=5) == {
        "seed": 5,
        "temperature": 1.0,
        "top_p": 1.0,
        "max_completion_tokens": 9,
        "tools": [{"type": "function", "function": FUNCTION}] * 2,
        "response_format": {"type": "json_schema", "json_schema": FORM},
    }
    assert settings_of(SentSampling(temperature=0), seed=5)["temperature"] == 0


def test_graders_see_text_json_and_tool_calls_of_an_answer() -> None:
    call = {"id": "c", "type": "function", "function": FUNCTION}
    message = {"content": '{"a": 1}', "tool_calls": [call]}
    sample = sample_of([{"message": message}], "m")
    assert sample["output_text"] == '{"a": 1}'
    assert sample["output_json"] == {"a": 1}
    assert sample["output_tools"] == [call]
    assert sample_of([{"message": {"content": "NaN"}}], "m")["output_json"] is None
    assert given_sample({"output_text": "[1]"})["output_json"] == [1]
    assert given_sample({"choices": [{"message": {"content": "x"}}]})["output_text"] == "x"
    (choice,) = given_sample({"output_text": "x", "output_json": None})["choices"]
    assert (choice["message"]["content"], choice["finish_reason"]) == ("x", "stop")


def test_graders_see_the_one_turn_of_an_answer_and_its_calls() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    message = {"content": "x", "tool_calls": [call, call, {"function": {}}]}
    sample = sample_of([{"message": message, "finish_reason": "length"}], "m", tokens=9)
    assert [(c["name"], c["arguments_json"], c["repeated"]) for c in sample["tool_calls"]] == [
        ("f", {"a": 1}, False),
        ("f", {"a": 1}, True),
    ]
    assert {(c["output"], c["error"]) for c in sample["tool_calls"]} == {(None, "not_run")}
    (turn,) = sample["turns"]
    assert (turn["content"], turn["tool_calls"], turn["completion_tokens"]) == ("x", 2, 9)
    assert sample["stop_reason"] == "token_limit"


def test_an_items_own_sample_keeps_the_facts_of_its_rollout() -> None:
    given = given_sample({"output_text": "x"})
    assert [turn["content"] for turn in given["turns"]] == ["x"]
    assert (given["tool_calls"], given["stop_reason"]) == ([], "final_answer")
    calls = [{"name": "f", "arguments": "{}", "output": "1"}]
    assert given_sample({"output_text": "x", "tool_calls": calls})["tool_calls"] == calls


def test_graders_see_the_reasoning_whatever_its_server_calls_it() -> None:
    for name in ("reasoning", "reasoning_content"):
        message = {"content": "42", name: "12 + 30"}
        sample = sample_of([{"message": message}], "m")
        assert sample["output_reasoning_summary"] == "12 + 30"
    assert sample_of([{"message": {"content": "x"}}], "m")["output_reasoning_summary"] is None


def test_a_prompt_is_bounded_as_a_whole() -> None:
    template = [{"role": "user", "content": ["{{item.a}}"] * 1_000}] * 10
    spec = source({"type": "template", "template": template}).input_messages
    with pytest.raises(UnusableItem, match="longer than"):
        prompt_of(spec, {"a": "x" * 1_000})
