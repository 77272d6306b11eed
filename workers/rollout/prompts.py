"""Renders the prompt of a rollout to token ids."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, assert_never

from app.files.datasets import DatasetRow
from app.kit.errors import InvalidRequest, RunFailed
from app.kit.ids import SampleKey, Split
from app.kit.texts import excerpt
from app.models.context_size import most_characters
from app.rollouts.renderer import Renderer, off_loop_if_long
from app.rollouts.trajectory import Failure, FailureClass
from workers.rollout.environment import InfrastructureFailure, Message, Observation, Reply

_SHOWN: Final = 300


async def prompt_ids(
    renderer: Renderer,
    observation: Observation,
    row: DatasetRow,
    key: SampleKey,
    *,
    context_length: int,
) -> list[int]:
    """Renders the prompt. Raises `RunFailed` for an unusable row, `InfrastructureFailure` for an
    unusable first observation.
    """
    source = observation.source
    try:
        text = renderer.prompt_text(observation.messages, observation.tools)
        ids = await off_loop_if_long(len(text), lambda: renderer.encode(text))
    except InvalidRequest as error:
        if source is not None:
            # A template repeats what it does not expect, which is text of the environment.
            why = f"cannot be rendered: {excerpt(str(error), most=_SHOWN)}"
            raise _unusable(source, why) from error
        label = _file_of(key.split)
        raise RunFailed(
            f"Example {row.index + 1} of the {label} file cannot be rendered: {error}",
            code=f"invalid_{label}_file",
            param=f"{label}_file",
        ) from error
    if source is not None and len(ids) >= context_length:
        raise _unusable(source, f"has {len(ids)} tokens, and the context {context_length}")
    return ids


def _unusable(source: str, why: str) -> InfrastructureFailure:
    message = f"the conversation that it began {why}"
    return InfrastructureFailure(Failure(FailureClass.ENVIRONMENT_BAD_REPLY, message, source))


def _file_of(split: Split) -> Literal["training", "validation"]:
    match split:
        case "train":
            return "training"
        case "valid" | "valid_greedy" | "valid_base" | "test" | "report":
            return "validation"
        case _:
            assert_never(split)


NOTICE: Final = "\n[cut: the reply did not fit into the context]"
_RESERVE: Final = 16
"""Tokens reserved for the next turn; with fewer it could not contain an answer."""


@dataclass(frozen=True, slots=True)
class FittedReplies:
    messages: list[Message]
    texts: list[str]
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
