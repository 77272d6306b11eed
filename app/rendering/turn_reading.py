"""Reads one assistant turn while it is sampled: the part of it that is final, and all of it at its
end.

Owns stop strings, and the parts of reasoning and content that a stream may already send. Both
engines parse chats with it (vLLM through `workers/engines/vllm_plugins`), so that a client gets the
same parts as training. Promises that a streamed turn equals an unstreamed one: both are parsed from
the tokens up to the one that completes a stop string, and the final part is a prefix of the whole.
Must not know engines or response shapes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from app.rendering.formats.tool_format import ParsedToolCall, Tools, partial_mark_length
from app.rendering.turn_parser import OPENING, TurnParser

_UNFINISHED_CHARACTER: Final = "\ufffd"


@dataclass(frozen=True, slots=True)
class TurnOptions:
    """The options of a request for the parsing of its turns."""

    tools: Tools = ()
    reads_calls: bool = False
    """False if calls stay text: without tools, or with `tool_choice` `none`."""
    one_call: bool = False
    """True if all calls but the first are dropped (`parallel_tool_calls` is false)."""
    stop: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    content: str
    """Text without reasoning and without tool calls."""
    reasoning: str
    reasoning_tokens: int
    tool_calls: list[ParsedToolCall]


@dataclass(frozen=True, slots=True)
class Delta:
    """Text that has become final since the last delta."""

    content: str = ""
    reasoning: str = ""


class TurnReading:
    def __init__(
        self, parser: TurnParser, options: TurnOptions, *, prompt: Sequence[int] = ()
    ) -> None:
        self._parser = parser
        self._options = options
        self.text = ""
        """Text of the tokens so far."""
        self.cut: int | None = None
        """Index of the first stop string in the text, if any."""
        self._sent = Delta()
        self._prompt = list(prompt[-OPENING:])
        """The tokens in front of the turn, which may open reasoning."""

    def show(self, text: str) -> None:
        """Sets the text of the tokens so far. Must not be called after `cut` is set."""
        self.text = text
        found = [index for stop in self._options.stop if (index := text.find(stop)) >= 0]
        self.cut = min(found, default=None)

    def new(self) -> Delta:
        """Returns the new part of the turn that no later token can change. Valid only while `cut`
        is `None`.
        """
        return self._beyond(self._final())

    def rest(self, answer: ParsedAnswer) -> Delta:
        """Returns the content and reasoning of the whole turn that no call of `new` has
        returned.
        """
        return self._beyond(Delta(answer.content, answer.reasoning))

    def answer(self, token_ids: Sequence[int]) -> ParsedAnswer:
        """Parses all tokens. A malformed tool call is content."""
        parsed = self._parser.parse(
            token_ids,
            tools=self._options.tools,
            with_tools=self._options.reads_calls and self.cut is None,
            after=self._prompt,
            until=self.cut,
        )
        return ParsedAnswer(
            content=parsed.content,
            reasoning=parsed.reasoning,
            reasoning_tokens=parsed.reasoning_tokens,
            tool_calls=parsed.tool_calls[: 1 if self._options.one_call else None],
        )

    def _final(self) -> Delta:
        text = self.text.rstrip(_UNFINISHED_CHARACTER)
        marks = (*self._parser.reasoning.marks, *self._options.stop)
        text = text[: len(text) - partial_mark_length(text, marks)]
        split = self._parser.split(text, after=self._prompt)
        content = split.answer
        if self._options.reads_calls:
            content = content[: self._parser.tool_format.final_length(content)]
        return Delta(content.strip(), split.reasoning)

    def _beyond(self, now: Delta) -> Delta:
        content, reasoning = len(self._sent.content), len(self._sent.reasoning)
        fresh = Delta(now.content[content:], now.reasoning[reasoning:])
        self._sent = Delta(
            self._sent.content + fresh.content, self._sent.reasoning + fresh.reasoning
        )
        return fresh
