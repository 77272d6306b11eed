"""OpenAI's harmony format of gpt-oss, `openai` in vLLM: messages in channels.

    <|channel|>analysis<|message|>reasoning<|end|>
    <|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{…}<|call|>
    <|start|>assistant<|channel|>final<|message|>answer<|return|>

OpenAI's own library reads ids of its own vocabulary, which it downloads; this reads the text of
any tokenizer.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from typing_extensions import override

from app.rendering.formats.tool_format import (
    BrokenCall,
    MarkedCalls,
    ParsedToolCall,
    Tools,
    arguments_json,
    loads,
)

START: Final = "<|start|>"
MESSAGE: Final = "<|message|>"
CHANNEL: Final = "<|channel|>"
ENDS: Final = ("<|end|>", "<|return|>", "<|call|>")
MARKS: Final = (START, CHANNEL, MESSAGE, "<|constrain|>", *ENDS)
_RECIPIENT: Final = re.compile(r"to=(?:functions\.)?([^\s<]+)")
_CHANNEL: Final = re.compile(r"<\|channel\|>\s*(\w+)")
_STOP: Final = re.compile("|".join(map(re.escape, (START, *ENDS))))
_STRING_OR_STOP: Final = re.compile(
    r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\Z)|' + f"(?P<stop>{_STOP.pattern})", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class HarmonyMessage:
    channel: str
    recipient: str | None
    """The function that is called."""
    body: str
    closed: bool

    @property
    def text(self) -> str:
        """The message as the model writes it."""
        to = "" if self.recipient is None else f" to=functions.{self.recipient}"
        end = "<|call|>" if self.closed else ""
        return f"{START}assistant{CHANNEL}{self.channel}{to}{MESSAGE}{self.body}{end}"


def harmony_messages(text: str) -> Iterator[HarmonyMessage]:
    """Yields the messages of a sampled turn; a header without a body is not a message yet."""
    at = 0
    while at >= 0 and (begin := text.find(MESSAGE, at)) >= 0:
        header = text[at:begin].rpartition(START)[2]
        channel, recipient = _CHANNEL.search(header), _RECIPIENT.search(header)
        body = begin + len(MESSAGE)
        stop = _stop(text, body, is_json=recipient is not None)
        end = len(text) if stop is None else stop.start()
        yield HarmonyMessage(
            channel="final" if channel is None else channel[1],
            recipient=None if recipient is None else recipient[1],
            body=text[body:end],
            closed=stop is not None and stop[0] != START,
        )
        at = text.find(START, end)


def _stop(text: str, at: int, *, is_json: bool) -> re.Match[str] | None:
    """Finds the mark that ends the body at a position. Strings of a call's JSON may hold marks; one
    that is not closed yet holds the rest of the text.
    """
    if not is_json:
        return _STOP.search(text, at)
    found = _STRING_OR_STOP.finditer(text, at)
    return next((match for match in found if match["stop"]), None)


class Harmony(MarkedCalls):
    """Reads the calls that `HarmonyChannels` leaves in an answer."""

    def __init__(self) -> None:
        super().__init__("openai", starts=(START,), others=MARKS)

    @override
    def read(self, text: str, tools: Tools) -> list[ParsedToolCall]:
        calls = []
        for message in harmony_messages(text):
            if message.recipient is None:
                continue
            if not message.closed:
                raise BrokenCall("it does not end with <|call|>")
            calls.append(ParsedToolCall(message.recipient, arguments_json(loads(message.body))))
        return calls
