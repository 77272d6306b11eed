"""Rows of a supervised job's files: conversations that end in the answer to learn.

Source: the hosted API's `FineTuneChatRequestInput`. Pure. Must not know files.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, assert_never

from app.domain.data.chat_rows import Fault, messages_faults, parallel_calls_faults, tools_faults
from app.domain.methods.supervised import TrainOn

_WEIGHTS: Final = (0, 1)


def row_faults(item: dict[str, Any], train_on: TrainOn = "all") -> Iterator[Fault]:
    """Returns everything that is wrong with a row of a job that learns these answers."""
    messages: Any = item.get("messages")
    faults = list(messages_faults(messages, "/messages", row=item))
    yield from faults
    if isinstance(messages, list):
        for position, message in enumerate(messages):
            yield from _weight_faults(message, f"/messages/{position}/weight")
    if not faults:
        yield from _answer_faults(messages, train_on)
    yield from tools_faults(item.get("tools"), "/tools", callable_names=None)
    yield from parallel_calls_faults(item.get("parallel_tool_calls"), "/parallel_tool_calls")


def learned_turns(messages: Sequence[Mapping[str, Any]], train_on: TrainOn) -> list[int]:
    """Returns the indices of the assistant messages to train; a first message is not trained,
    because it answers nothing.
    """
    answers = [index for index, message in enumerate(messages) if message["role"] == "assistant"]
    match train_on:
        case "last":
            chosen = answers[-1:]
        case "all":
            chosen = answers
        case _:
            assert_never(train_on)
    return [index for index in chosen if index and messages[index].get("weight") != 0]


def nothing_left(limit: int) -> str:
    """Returns the fault of a row whose answer begins behind the model's last token."""
    return (
        f"its answer begins after the {limit} tokens that the model takes: there is nothing left "
        "to learn"
    )


def _weight_faults(message: Any, pointer: str) -> Iterator[Fault]:
    weight = message.get("weight") if isinstance(message, dict) else None
    if weight is None:
        return
    if message.get("role") != "assistant":
        yield pointer, "only an assistant message has a weight"
    if isinstance(weight, bool) or weight not in _WEIGHTS:
        yield pointer, "must be 0 or 1"


def _answer_faults(messages: list[dict[str, Any]], train_on: TrainOn) -> Iterator[Fault]:
    """Yields a fault unless at least one answer is trained."""
    last = len(messages) - 1
    if messages[last]["role"] != "assistant":
        yield (
            f"/messages/{last}/role",
            (
                "the last message must have role 'assistant': a supervised job learns it. Rows "
                "that end with the user's message are for a job whose method.type is "
                "'reinforcement'"
            ),
        )
        return
    learned = [
        position
        for position, message in enumerate(messages)
        if message["role"] == "assistant" and message.get("weight") != 0
    ]
    if not learned:
        yield "/messages", "every assistant message has weight 0: there is nothing to learn"
    elif train_on == "last" and last not in learned:
        yield f"/messages/{last}/weight", "the last answer has weight 0"
    elif learned == [0]:
        yield "/messages/0", "the only answer to learn has no message before it that it answers"
