import copy
import json
from typing import Any

import pytest

from app.domain.redaction import REDACTED, collect_headers, redact, restore_headers

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
