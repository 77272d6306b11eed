"""One or a few wrong values anywhere in a good request: always a client error, never a fault."""

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.support.contract.service import BASE, Service
from tests.support.patience import PATIENCE_S

CASES = 600
VALUES: list[Any] = [
    *(None, True, 0, -1, 1, 2**31, 2**63, 10**400, 0.5, -0.0, 1e308, 5e-324),
    *("", "\x01", "\u2028\u202e\ufeff\uffff", "a" * 300, "a" * 70_000, "😀" * 64),
    *("auto", "null", "NaN", "1e999", "-Infinity", "../..", "%00", "\r\nX: y"),
    *("http://[::1]:9/", "http://127.0.0.1:9#@x", "https://\u212a.example", "http://a:b@c/"),
    *([], {}, [[]], [None], {"": None}, {"type": "endpoint"}, [{}] * 3000),
    {"a" * 70: "b"},
    {str(number): "v" for number in range(17)},
]
CHAT: dict[str, Any] = {
    "model": BASE,
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "x"}]},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": "1"},
    ],
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}],
    "stream": False,
    "stop": ["a"],
}


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from paths(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value[:20]):
            yield from paths(inner, (*path, index))


def with_value(body: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    changed = copy.deepcopy(body)
    target = changed
    for part in path[:-1]:
        target = target[part]
    target[path[-1]] = value
    return changed


@pytest.mark.parametrize("noun", ["fine_tuning/jobs", "chat/completions"])
def test_no_value_at_any_path_is_a_500(service: Service, job: Any, noun: str) -> None:
    good = CHAT
    if noun == "fine_tuning/jobs":
        kept = ("training_file", "validation_file", "method", "seed")
        good = {key: job.to_dict()[key] for key in kept}
        good["method"]["reinforcement"]["tools"][0]["headers"] = {"X-Key": "k"}  # echoed redacted
        good |= {"model": BASE, "metadata": {"a": "b"}}
        good["integrations"] = [{"type": "wandb", "wandb": {"project": "p", "tags": ["t"]}}]
    chance = random.Random(20261121)
    key = {"Authorization": f"Bearer {service.api.key}", "Content-Type": "application/json"}
    statuses = set()
    with httpx.Client(base_url=service.api.base_url, headers=key, timeout=PATIENCE_S) as http:
        for _ in range(CASES):
            body: Any = good
            for _ in range(chance.choice((1, 1, 2, 4))):
                path = chance.choice(list(paths(body)))
                body = with_value(body, path, chance.choice(VALUES))
            content = bytearray(json.dumps(body).encode())
            if chance.random() < 0.2:
                content[chance.randrange(len(content))] = chance.randrange(256)
            reply = http.post(f"/{noun}", content=bytes(content))
            assert reply.status_code < 500, (body, reply.text)
            assert reply.headers["x-request-id"].startswith("req_")
            statuses.add(reply.status_code)
            if reply.status_code >= 400:
                assert set(reply.json()["error"]) == {"message", "type", "param", "code"}
                assert len(reply.content) < 4096
        assert {200, 400} <= statuses
        after = None
        while True:  # what was accepted can be read back
            page = http.get("/fine_tuning/jobs", params={"after": after} if after else {}).json()
            if not page["has_more"]:
                break
            after = page["data"][-1]["id"]
