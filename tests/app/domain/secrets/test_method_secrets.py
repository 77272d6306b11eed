import copy
import json
from typing import Any

import pytest

from app.jobs.reinforcement import ReinforcementMethod
from app.jobs.results import redact_method, restored_method
from app.kit.redaction import SecretsMissing

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
            {"name": "b", "server_url": "https://t.example/", "headers": None},
        ],
        "grader": {
            "type": "multi",
            "graders": {"a": JUDGE, "b": HOOK},
            "calculate_output": "a + b",
        },
        "response_format": {"type": "json_object"},
        "hyperparameters": {"n_epochs": 2},
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
        f"{root}/grader/graders/a/headers/A": "canary-judge",
        f"{root}/grader/graders/b/url": "https://g.example/?key=canary-url",
    }
    inner = shown["reinforcement"]
    assert inner["tools"][0]["headers"] == {"X/~": "[redacted]"}
    assert inner["tools"][1] == METHOD["reinforcement"]["tools"][1]
    assert inner["grader"]["graders"]["b"]["url"] == "https://g.example/?key=[redacted]"
    assert restored_method(shown, sealed) == METHOD


def test_unknown_keys_are_dropped() -> None:
    sent = copy.deepcopy(METHOD)
    inner = sent["reinforcement"]
    for holder in (inner, inner["tools"][0], inner["grader"], inner["grader"]["graders"]["a"]):
        holder |= {"Api_Key": "canary", "extra": None, "deep": [{"token": "canary"}]}
    inner["hyperparameters"]["password"] = "canary"
    assert split_method(sent) == split_method(METHOD)


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


@pytest.mark.parametrize("kind", ["supervised", "dpo"])
def test_methods_without_secrets_are_left_alone(kind: str) -> None:
    method = {"type": kind, kind: {"hyperparameters": {"n_epochs": 3}}}
    assert split_method(method) == (method, {})
    assert restored_method(method, {}) == method
