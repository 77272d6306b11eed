"""Encodes a prompt on a thread while an event loop runs.

Promises: a prompt that cannot fit is refused before it is encoded, and a long one is encoded on a
thread, so that the loop serves others meanwhile.
"""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from app.domain.models.context_size import check_characters, check_messages, check_tokens
from app.rendering.chat_template import Message
from app.rendering.renderer import Renderer
from app.rendering.tokens import THREAD_FROM

Result = TypeVar("Result")


async def off_loop_if_long(characters: int, encode: Callable[[], Result]) -> Result:
    """Runs `encode`, on a thread if its text is long."""
    return encode() if characters < THREAD_FROM else await asyncio.to_thread(encode)


async def fitting_prompt_ids(
    renderer: Renderer, messages: list[Message], tools: list[Message] | None, *, context_length: int
) -> list[int]:
    """Returns `Renderer.prompt_ids`. Raises `InvalidRequest` likewise, and for a prompt that leaves
    no token of the context for an answer.
    """
    check_messages(messages, context_length)
    text = renderer.prompt_text(messages, tools)
    check_characters(len(text), context_length)
    ids = await off_loop_if_long(len(text), lambda: renderer.encode(text))
    check_tokens(len(ids), context_length)
    return ids
