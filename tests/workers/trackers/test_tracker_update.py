"""The cut of a rollout's messages, which bounds the whole."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from typing_extensions import override

from tests.support.cases import cases
from workers.trackers.tracker import cut_messages

LONG = "x" * 19_000


@cases(
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


class CountedList(list[Any]):
    """A list that counts the items which were looked at."""

    seen = 0

    @override
    def __iter__(self) -> Iterator[Any]:
        for one in super().__iter__():
            CountedList.seen += 1
            yield one


@pytest.mark.parametrize("part", [{"type": "text", "text": LONG}, "ab", {"a": ["b"]}, 1.5, []])
def test_of_long_messages_no_more_is_looked_at_than_may_be_kept(
    monkeypatch: pytest.MonkeyPatch, part: Any
) -> None:
    """The cut runs on the event loop of all trackers."""
    monkeypatch.setattr(CountedList, "seen", 0)
    content = CountedList([part] * 300_000)
    assert cut_messages([{"role": "user", "content": content}]) == [
        {"role": "system", "content": "… 1 more messages"}
    ]
    assert 0 < CountedList.seen < 9 * 20_000 // 2
