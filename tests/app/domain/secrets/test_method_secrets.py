import copy
import json
from typing import Any

import pytest

from app.jobs.reinforcement import ReinforcementMethod
from app.jobs.reproducibility import redact_method, restored_method
from app.kit.redaction import SecretsMissing, criteria_by_pointer

PROMPT = [{"role": "user", "content": "{{ sample.output_text }}"}]
JUDGE = {
    "type": "score_model", "model": "m", "input": PROMPT,
    "base_url": "https://j.example/v1", "headers": {"A": "canary-judge"},
}  # fmt: skip
HOOK = {"type": "endpoint", "name": "multi", "url": "https://g.example/?key=canary-url"}
METHOD: dict[str, Any] = {
    "type": "reinforcement",
    "reinforcement": {
        "tools": [
            {"name": "a", "server_url": "https://t.example/", "headers": {"X/~": "canary-tool"}},
            {"name": "b", "server_url": "https://t.example/", "headers": None, "extra": 1},
            {"name": "c", "server_url": "https://t.example/", "Api_Key": "canary-extra"},
        ],
        "grader": {
            "type": "multi",
            "graders": {"a": JUDGE, "b": {**HOOK, "token": "canary-child"}},
            "calculate_output": "a + b",
        },
        "response_format": {"type": "json_object", "headers": {"x": "canary-format"}},
        "hyperparameters": {"n_epochs": 2, "password": "canary-hyper"},
    },
}


def split_method(method: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    shown = copy.deepcopy(method)
    return shown, redact_method(shown)


def test_every_secret_is_sealed_by_its_pointer_and_returns() -> None:
    shown, sealed = split_method(METHOD)
    assert "canary" not in json.dumps(shown)
    root = "/reinforcement"
    assert sealed == {
        f"{root}/tools/0/headers/X~1~0": "canary-tool",
        f"{root}/tools/2/Api_Key": "canary-extra",
        f"{root}/grader/graders/a/headers/A": "canary-judge",
        f"{root}/grader/graders/b/url": "https://g.example/?key=canary-url",
        f"{root}/grader/graders/b/token": "canary-child",
        f"{root}/response_format/headers/x": "canary-format",
        f"{root}/hyperparameters/password": "canary-hyper",
    }
    inner = shown["reinforcement"]
    assert inner["tools"][0]["headers"] == {"X/~": "[redacted]"}
    assert inner["tools"][1] == METHOD["reinforcement"]["tools"][1]
    assert inner["grader"]["graders"]["b"]["url"] == "https://g.example/?key=[redacted]"
    assert restored_method(shown, sealed) == METHOD


def test_what_is_shown_is_still_a_method() -> None:
    shown = split_method(METHOD)[0]["reinforcement"]
    assert (
        ReinforcementMethod.model_validate(shown).model_dump(mode="json")["tools"][0]
        == (shown["tools"][0])
    )


@pytest.mark.parametrize("lost", ["tools/0/headers/X~1~0", "grader/graders/b/url"])
def test_a_used_value_that_is_not_sealed_is_reported(lost: str) -> None:
    shown, sealed = split_method(METHOD)
    sealed.pop(f"/reinforcement/{lost}")
    with pytest.raises(SecretsMissing, match=lost):
        restored_method(shown, sealed)


def test_an_unused_value_may_be_gone() -> None:
    shown, sealed = split_method(METHOD)
    sealed.pop("/reinforcement/tools/2/Api_Key")
    assert restored_method(shown, sealed)["reinforcement"]["tools"][2]["Api_Key"] == "[redacted]"


@pytest.mark.parametrize("kind", ["supervised", "dpo"])
def test_methods_without_secrets_are_left_alone(kind: str) -> None:
    method = {"type": kind, kind: {"hyperparameters": {"n_epochs": 3}}}
    assert split_method(method) == (method, {})
    assert restored_method(method, {}) == method


def test_the_first_form_of_sealed_headers_opens() -> None:
    method = copy.deepcopy(METHOD)
    inner = method["reinforcement"]
    inner["grader"] = {**inner["grader"], "name": "both", "graders": {"a": JUDGE, "b": CALM}}
    for key in ("response_format", "hyperparameters"):
        del inner[key]
    del inner["tools"][2]
    old = {
        "tool:a": {"X/~": "canary-tool"},
        "grader:both/a": {"A": "canary-judge"},
        "grader:both/b": {"K": "canary-hook"},
    }
    assert restored_method(split_method(method)[0], old) == method
    with pytest.raises(SecretsMissing):
        restored_method(split_method(method)[0], {"tool:a": {"X/~": "canary-tool"}})


CALM = {"type": "endpoint", "url": "https://g.example/", "headers": {"K": "canary-hook"}}


def test_criteria_of_the_first_form_open() -> None:
    criteria = [CALM, {"type": "multi", "name": "both", "graders": {"a": JUDGE}}]
    old = {"0": {"grader:endpoint": {"K": "x"}}, "1": {"grader:both/a": {"A": "y"}}}
    assert criteria_by_pointer(old, criteria) == {
        "/0/headers/K": "x",
        "/1/graders/a/headers/A": "y",
    }
