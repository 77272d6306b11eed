"""Calls that make curricula from sources."""

import json
from typing import Any

from tests.support.api.application import Api

CURRICULA = "/v1/curricula"
WORDS = [
    *("alpha", "bravo", "charlie", "delta", "echo", "foxtrot"),
    *("golf", "hotel", "india", "juliet", "kilo", "lima"),
]


def question(number: int) -> str:
    return f"How far is {WORDS[number % 12]} from {WORDS[number // 12 % 12]} in month {number}?"


ROWS = [
    {"messages": [{"role": "user", "content": question(number)}], "answer": str(number)}
    for number in range(24)
]
CALL: dict[str, Any] = {
    "model": "tiny-agent",
    "method": {
        "type": "reinforcement",
        "reinforcement": {
            "grader": {
                "type": "string_check", "name": "x", "operation": "eq",
                "input": "{{sample.output_text}}", "reference": "{{item.answer}}",
            },
            "hyperparameters": {"n_epochs": 1},
        },
    },
}  # fmt: skip


async def uploaded(api: Api, content: bytes, filename: str = "table.csv") -> str:
    """Uploads a file that is not JSON Lines. Returns its id."""
    reply = await api.call(
        "POST", "/v1/files", files={"file": (filename, content)}, data={"purpose": "user_data"}
    )
    assert reply.status_code == 200, reply.text
    file_id: str = reply.json()["id"]
    return file_id


async def previewed(api: Api, *sources: dict[str, Any], **options: Any) -> dict[str, Any]:
    reply = await api.call(
        "POST", f"{CURRICULA}/preview", json={"sources": list(sources), **options}
    )
    assert reply.status_code == 200, reply.text
    preview: dict[str, Any] = reply.json()
    return preview


async def preview_of(
    api: Api, content: bytes, filename: str = "table.csv", *, options: Any = None, **source: Any
) -> dict[str, Any]:
    """Returns the preview of one file."""
    file_id = await uploaded(api, content, filename)
    sent = {"type": "file", "file_id": file_id, **source}
    return await previewed(api, sent, **(options or {}))


async def made_from(
    api: Api, *sources: dict[str, Any], name: str = "made", **options: Any
) -> dict[str, Any]:
    body = {"name": name, "sources": list(sources), **options}
    reply = await api.call("POST", CURRICULA, json=body)
    assert reply.status_code == 200, reply.text
    curriculum: dict[str, Any] = reply.json()
    return curriculum


async def rows_of(api: Api, file_id: str) -> list[dict[str, Any]]:
    content = (await api.call("GET", f"/v1/files/{file_id}/content")).content
    return [json.loads(line) for line in content.splitlines()]


async def file_count(api: Api) -> int:
    return len((await api.call("GET", "/v1/files", params={"limit": 100})).json()["data"])


def codes(preview: dict[str, Any]) -> list[tuple[str, str]]:
    return [(found["severity"], found["code"]) for found in preview["findings"]]
