from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from app.graders.definitions import Grader
from app.graders.kinds import text_similarity
from tests.support.cases import cases

GRADERS: TypeAdapter[Any] = TypeAdapter(Grader)
CHECK: dict[str, Any] = {
    "type": "string_check",
    "name": "exact",
    "input": "{{ sample.output_text }}",
    "reference": "{{ item.answer }}",
    "operation": "eq",
}
NEAR: dict[str, Any] = {
    "type": "text_similarity",
    "name": "near",
    "input": "{{ sample.output_text }}",
    "reference": "{{ item.answer }}",
    "evaluation_metric": "rouge_l",
}
JUDGE: dict[str, Any] = {
    "type": "score_model",
    "name": "judge",
    "model": "tiny-agent",
    "input": [
        {"role": "user", "type": "message", "content": [{"type": "output_text", "text": "hi"}]},
        {"role": "user", "content": {"type": "input_text", "text": "{{ sample.output_text }}"}},
    ],
    "sampling_params": {"seed": 3, "max_completions_tokens": 64},
}
HOOK: dict[str, Any] = {"type": "endpoint", "url": "https://g.example/", "headers": {"K": "v"}}
MULTI: dict[str, Any] = {
    "type": "multi",
    "graders": {"a": CHECK, "b": NEAR, "c": JUDGE, "d": HOOK},
    "calculate_output": "0.5 * a + 0.5 * max(b, c, d)",
    "invalid_grade": -1,
}


@cases("sent", [CHECK, NEAR, JUDGE, HOOK, MULTI], ids=lambda g: g["type"])
def test_each_kind_is_taken_and_unknown_keys_are_kept(sent: dict[str, Any]) -> None:
    grader = GRADERS.validate_python({**sent, "pass_threshold": 0.75, "made_up": [1]})
    echoed = grader.model_dump(mode="json")
    assert echoed["made_up"] == [1]
    assert echoed["pass_threshold"] == 0.75
    assert {key: echoed[key] for key in ("type",)} == {"type": sent["type"]}
    assert GRADERS.validate_python(echoed) == grader


@pytest.mark.parametrize("metric", ["bleu", "gleu", "meteor", "rouge_l"])
def test_a_metric_whose_library_is_missing_is_refused(
    monkeypatch: pytest.MonkeyPatch, metric: str
) -> None:
    near = {**NEAR, "evaluation_metric": metric}
    GRADERS.validate_python(near)
    monkeypatch.setattr(text_similarity, "find_spec", lambda _: None)
    if metric == "rouge_l":
        GRADERS.validate_python(near)
        return
    with pytest.raises(ValidationError, match=r"pip install 'agent-rft\[texts\]'"):
        GRADERS.validate_python(near)


@cases(
    ("sent", "path", "part"),
    [
        ({}, ("type",), "required"),
        ({"type": "code_execution", "function": "a b"}, ("function",), "name of a function"),
        ({"type": "code_execution", "tests": "[]"}, ("tests",), "a list of 1 to 64"),
        ({"type": "made_up"}, ("type",), "no grader type 'made_up'"),
        ([], (), "an object"),
        ({**CHECK, "operation": "is"}, ("operation",), "'eq'"),
        ({**CHECK, "reference": "{{ item.a"}, ("reference",), "no '}}'"),
        ({**CHECK, "headers": {"K": "v"}}, ("headers",), "sends no requests"),
        ({**NEAR, "evaluation_metric": "rouge_6"}, ("evaluation_metric",), "rouge_5"),
        ({**JUDGE, "input": [{"role": "tool", "content": "x"}]}, ("input", 0, "role"), "user"),
        (
            {**JUDGE, "input": [{"role": "user", "content": [{"type": "input_image"}]}]},
            ("input", 0, "content"),
            "read text",
        ),
        ({**JUDGE, "range": [1, 0]}, ("range",), "below"),
        ({**JUDGE, "range": [0, float("inf")]}, ("range", 1), "finite"),
        ({**JUDGE, "headers": {"K": "v"}}, ("headers",), "base_url"),
        ({**JUDGE, "api_key": "sk-1"}, ("api_key",), "headers"),
        ({**JUDGE, "base_url": "https://x.example/?a"}, ("base_url",), "no '?'"),
        ({**MULTI, "graders": CHECK}, ("graders",), "a map of name to grader"),
        ({**MULTI, "graders": {"a": MULTI}}, ("graders", "a", "type"), "cannot hold"),
        ({**MULTI, "graders": {"a": {"type": "python"}}}, ("graders", "a", "source"), "required"),
        (
            {**MULTI, "graders": {"multi": {**CHECK, "reference": "{{ b }}"}}},
            ("graders", "multi", "reference"),
            "unknown namespace 'b'",
        ),
        ({**MULTI, "calculate_output": "a + e"}, ("calculate_output",), "'e' is not one of"),
        ({**MULTI, "invalid_grade": float("nan")}, ("invalid_grade",), "finite"),
        ({**MULTI, "pass_threshold": "0.5"}, ("pass_threshold",), "number"),
        ({**JUDGE, "sampling_params": {"top_p": "1"}}, ("sampling_params", "top_p"), "number"),
    ],
)
def test_a_fault_is_reported_with_its_path(sent: Any, path: tuple[Any, ...], part: str) -> None:
    with pytest.raises(ValidationError) as caught:
        GRADERS.validate_python(sent)
    fault = caught.value.errors(include_url=False)[0]
    assert fault["loc"] == path
    assert part in fault["msg"]
