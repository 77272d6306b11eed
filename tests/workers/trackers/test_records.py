"""The cut of a rollout's messages, which bounds the whole."""

import json
from typing import Any

import pytest

from workers.trackers.records import cut_messages

LONG = "x" * 19_000


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "user", "content": LONG * 9}],
        [{"role": "assistant", "tool_calls": [{"arguments": LONG} for _ in range(50)]}],
        [{"role": "user", "content": [{"type": "text", "text": LONG} for _ in range(50)]}],
        [{"role": "user", "content": "a short text"} for _ in range(5000)],
        [{"role": "user", "content": "é" * 30_000}],
        [{"role": "user", "content": "x"}, {"content": {str(key): key for key in range(9000)}}],
    ],
)
def test_messages_have_no_more_characters_than_the_limit(messages: list[Any]) -> None:
    kept = cut_messages(messages)
    assert 0 < len(json.dumps(kept)) <= 20_000
    assert kept[0].get("role") == messages[0]["role"]


def test_messages_that_are_left_out_are_counted() -> None:
    messages = [{"role": "user", "content": "a short text"} for _ in range(5000)]
    *first, last = cut_messages(messages)
    assert first == messages[: len(first)]
    assert last["content"] == f"… {5000 - len(first)} more messages"


def test_short_messages_stay_as_they_are() -> None:
    messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": None}]
    assert cut_messages([*messages, "no message"]) == messages
    assert cut_messages(None) == []
