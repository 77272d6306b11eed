import copy
import json
from typing import Any

import pytest

from app.domain.jobs.redaction import (
    REDACTED,
    collect_headers,
    redact,
    redact_grader,
    restore_headers,
)

METHOD: dict[str, Any] = {
    "type": "reinforcement",
    "reinforcement": {
        "tools": [
            {"name": "a", "server_url": "https://t.example/", "headers": {"X-Key": "canary"}},
            {"name": "b", "server_url": "https://t.example/", "headers": None, "extra": 1},
            {"name": "c", "server_url": "https://t.example/"},
        ],
        "grader": {"type": "endpoint", "name": "a", "url": "u", "headers": {"K": "canary"}},
        "response_format": None,
    },
}


def test_values_are_redacted_and_names_kept() -> None:
    before = copy.deepcopy(METHOD)
    redacted = redact(METHOD)
    assert before == METHOD
    assert "canary" not in json.dumps(redacted)
    assert redacted["reinforcement"]["tools"][0]["headers"] == {"X-Key": REDACTED}
    assert redacted["reinforcement"]["tools"][1:] == METHOD["reinforcement"]["tools"][1:]
    assert redacted["reinforcement"]["grader"]["headers"] == {"K": REDACTED}


def test_headers_come_back_to_their_owners() -> None:
    headers = collect_headers(METHOD)
    assert headers == {"tool:a": {"X-Key": "canary"}, "grader:a": {"K": "canary"}}
    assert restore_headers(redact(METHOD), headers) == METHOD
    with pytest.raises(KeyError):
        restore_headers(redact(METHOD), {"tool:a": {"X-Key": "canary"}})


def test_a_method_without_headers_is_left_alone() -> None:
    method: dict[str, Any] = {"type": "reinforcement", "reinforcement": {"tools": None}}
    assert redact(method) == method
    assert collect_headers(method) == {}
    assert restore_headers(method, {}) == method


def test_nested_graders_are_redacted_under_labels_of_their_own() -> None:
    judge = {"type": "score_model", "base_url": "https://j.example", "headers": {"A": "canary"}}
    hook = {"type": "endpoint", "name": "multi", "url": "u", "headers": {"K": "canary", "L": "c"}}
    grader = {"type": "multi", "name": "multi", "graders": {"a": judge, "b": hook, "c": {}}}
    method: dict[str, Any] = {"reinforcement": {"tools": METHOD["reinforcement"]["tools"]}}
    method["reinforcement"]["grader"] = grader
    headers = collect_headers(method)
    assert headers.keys() == {"tool:a", "grader:multi/a", "grader:multi/b"}
    assert "canary" not in json.dumps(redact(method))
    assert restore_headers(redact(method), headers) == method
    assert redact_grader(grader)["graders"]["b"]["headers"] == {"K": REDACTED, "L": REDACTED}
    assert grader["graders"]["b"]["headers"]["K"] == "canary"  # type: ignore[index]  # a value of unknown JSON is an object to mypy


@pytest.mark.parametrize(
    "extra", [{"headers": "text"}, {"headers": 3}, {"graders": [1]}, {"graders": {"a": 1}}]
)
def test_keys_that_a_client_made_up_break_nothing(extra: dict[str, Any]) -> None:
    method = {"reinforcement": {"grader": {"type": "string_check", **extra}}}
    assert redact(method) == method
    assert collect_headers(method) == {}
