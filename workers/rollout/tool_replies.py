"""Tool replies on their way into the context: as messages, as token ids, cut when they do not fit.

Owns the cut: every reply over a common length loses its end and says so. Must not know who
answered.
"""

import asyncio
from dataclasses import dataclass
from typing import Any, Final

from app.rendering.renderer import Renderer
from workers.rollout.tools import CallPosition, ToolOutcome

NOTICE: Final = "\n[cut: the reply did not fit into the context]"
_RESERVE: Final = 16
"""Tokens kept free for the turn that follows; with fewer there is nothing left to say."""
_CHARACTERS_PER_TOKEN: Final = 32
"""More than any ordinary text: what is cut at this rate would not have fitted anyway."""
_THREAD_FROM: Final = 65_536
"""Characters from which encoding (about 2 MB/s) leaves the event loop to others."""


@dataclass(frozen=True, slots=True)
class Reply:
    place: CallPosition
    name: str
    arguments: str
    outcome: ToolOutcome


@dataclass(frozen=True, slots=True)
class FittedReplies:
    messages: list[dict[str, Any]]
    texts: list[str]
    """What the model reads of each reply."""
    token_ids: list[int] | None
    """The bridge to the next turn, or `None` when not even cut replies fit."""


async def fit_replies(
    renderer: Renderer,
    conversation: list[dict[str, Any]],
    replies: list[Reply],
    *,
    tools: list[dict[str, Any]],
    ended: bool,
    room: int,
) -> FittedReplies:
    """Messages and bridge ids of `replies`, at most `room` tokens less a reserve."""
    budget = room - _RESERVE
    longest = max(len(reply.outcome.output) for reply in replies)
    ceiling = max(0, budget) * _CHARACTERS_PER_TOKEN
    high = min(longest, ceiling)

    async def bridge(length: int) -> list[int]:
        messages = _messages(replies, length)
        if sum(len(message["content"]) for message in messages) < _THREAD_FROM:
            return renderer.bridge_ids(conversation, messages, tools=tools, ended=ended)
        return await asyncio.to_thread(
            renderer.bridge_ids, conversation, messages, tools=tools, ended=ended
        )

    ids = await bridge(high)
    if len(ids) > budget:
        low, ids_low = 0, await bridge(0)
        if len(ids_low) > budget:
            return _fitted(replies, high, None)
        # The longest common length that fits, to 1/32: finer is not worth the encoding.
        while high - low > max(1, high // 32):
            middle = (low + high) // 2
            ids_middle = await bridge(middle)
            if len(ids_middle) > budget:
                high = middle
            else:
                low, ids_low = middle, ids_middle
        return _fitted(replies, low, ids_low)
    return _fitted(replies, high, ids)


def _fitted(replies: list[Reply], length: int, token_ids: list[int] | None) -> FittedReplies:
    texts = [_cut(reply.outcome.output, length) for reply in replies]
    return FittedReplies(_messages(replies, length), texts, token_ids)


def _messages(replies: list[Reply], length: int) -> list[dict[str, Any]]:
    return [
        {
            "role": "tool",
            "tool_call_id": reply.place.call_id,
            "name": reply.name,
            "content": _cut(reply.outcome.output, length),
        }
        for reply in replies
    ]


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[:length] + NOTICE
