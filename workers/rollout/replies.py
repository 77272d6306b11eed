"""Renders an environment's replies into the context: as messages and as token ids, cut to fit.

Owns the cut: every reply over a common length is truncated and ends with a notice. Must not know
the source of the replies.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from app.domain.models.context_size import most_characters
from app.rendering.prompts import off_loop_if_long
from app.rendering.renderer import Renderer
from workers.rollout.environment import Message, Reply

NOTICE: Final = "\n[cut: the reply did not fit into the context]"
_RESERVE: Final = 16
"""Tokens reserved for the next turn; with fewer it could not contain an answer."""


@dataclass(frozen=True, slots=True)
class FittedReplies:
    messages: list[Message]
    texts: list[str]
    """The text of each reply that the model reads."""
    token_ids: list[int] | None
    """The bridge to the next turn; `None` if not even truncated replies fit."""


async def fit_replies(
    renderer: Renderer,
    conversation: list[Message],
    replies: Sequence[Reply],
    *,
    tools: list[dict[str, Any]],
    sampled: Sequence[int],
    tokens_left: int,
) -> FittedReplies:
    """Returns messages and bridge ids of `replies` to the turn `sampled`, at most `tokens_left`
    less a reserve.
    """
    budget = tokens_left - _RESERVE
    longest = max(len(reply.text) for reply in replies)
    high = min(longest, most_characters(budget))

    async def bridge(length: int) -> list[int]:
        messages = _messages(replies, length)
        return await off_loop_if_long(
            sum(len(message["content"]) for message in messages),
            lambda: renderer.bridge_ids(conversation, messages, tools=tools, sampled=sampled),
        )

    ids = await bridge(high)
    if len(ids) > budget:
        low, ids_low = 0, await bridge(0)
        if len(ids_low) > budget:
            return _fitted(replies, high, None)
        # Find the longest common length that fits, to 1/32; finer is not worth it.
        while high - low > max(1, high // 32):
            middle = (low + high) // 2
            ids_middle = await bridge(middle)
            if len(ids_middle) > budget:
                high = middle
            else:
                low, ids_low = middle, ids_middle
        return _fitted(replies, low, ids_low)
    return _fitted(replies, high, ids)


def _fitted(replies: Sequence[Reply], length: int, token_ids: list[int] | None) -> FittedReplies:
    texts = [_cut(reply.text, length) for reply in replies]
    return FittedReplies(_messages(replies, length), texts, token_ids)


def _messages(replies: Sequence[Reply], length: int) -> list[Message]:
    return [reply.message(_cut(reply.text, length)) for reply in replies]


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[:length] + NOTICE
