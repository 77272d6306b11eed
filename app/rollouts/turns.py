"""A model's formats of turns: which it writes, and how a sampled turn is read, whole or live."""

import copy
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, Self, get_args

from app.kit.errors import InvalidRequest
from app.models.models import ToolParser, ToolParserChoice
from app.rollouts.chat_template import ChatTemplate, Message, ModelTokens, common_length
from app.rollouts.marked_formats import (
    ALL_REASONING,
    BY_TEMPLATE,
    Reasoning,
    SplitTurn,
    build_tool_format,
    reasoning_of,
)
from app.rollouts.tool_formats import (
    ParsedToolCall,
    ToolFormat,
    Tools,
    content_only,
    partial_mark_length,
)


@dataclass(frozen=True, slots=True)
class TurnFormats:
    calls: ToolParser
    reasoning: Reasoning

    @property
    def name(self) -> str:
        return f"agent_rft-{self.calls}-{self.reasoning.name}"


TURN_FORMATS: Final = MappingProxyType(
    {
        formats.name: formats
        for calls in get_args(ToolParser)
        for reasoning in ALL_REASONING
        for formats in (TurnFormats(calls, reasoning),)
    }
)


OPENING: Final = 16
"""Number of tokens at the end of a prompt in which reasoning may be opened."""
_PROBE_TOOL: Final[Message] = {
    "type": "function",
    "function": {
        "name": "probe_tool",
        "description": "Looks a place up.",
        "parameters": {
            "type": "object",
            "properties": {
                "place": {"type": "string", "description": "The place."},
                "number": {"type": "integer", "description": "A number."},
            },
            "required": ["place"],
        },
    },
}
_PROBE_ARGUMENTS: Final[Message] = {"place": "New York", "number": 3}
_QUESTION: Final[Message] = {"role": "user", "content": "a"}


@dataclass(frozen=True, slots=True)
class ParsedTurn:
    content: str
    reasoning: str
    reasoning_tokens: int
    tool_calls: list[ParsedToolCall]
    parse_error: str | None
    """A sentence for the model if a call is malformed; then the whole text is content."""


class TurnParser:
    def __init__(self, tokens: ModelTokens, tool_format: ToolFormat, reasoning: Reasoning) -> None:
        self.tool_format = tool_format
        self.reasoning = reasoning
        self.marks = frozenset((*tool_format.marks, *reasoning.marks))
        self.tokens = tokens.showing(self.marks)
        self.opened = False

    def reasoning_in(self, template: str) -> str | None:
        shown = any(mark in template for mark in self.reasoning.marks)
        return self.reasoning.name if shown else None

    def parse(
        self,
        token_ids: Sequence[int],
        *,
        tools: Tools = (),
        with_tools: bool = True,
        after: Sequence[int] | None = None,
        until: int | None = None,
    ) -> ParsedTurn:
        """Parses a turn, or the first `until` characters of its text; never raises. `tools` type
        the arguments; without tools all is content. `after` are the ids before the turn, which may
        open reasoning; `None` stands for the prompt of a first turn.
        """
        split = self.split(self.tokens.decode(token_ids)[:until], after=after)
        answer = split.answer
        parsed = self.tool_format.parse(answer, tools) if with_tools else content_only(answer)
        return ParsedTurn(
            content=parsed.content,
            reasoning=split.reasoning,
            reasoning_tokens=self._reasoning_tokens(token_ids, split),
            tool_calls=parsed.tool_calls,
            parse_error=parsed.parse_error,
        )

    def after_prompt(self, prompt: Sequence[int]) -> Self:
        other = copy.copy(self)
        other.opened = self.opens(prompt)
        return other

    def split(self, text: str, *, after: Sequence[int] | None) -> SplitTurn:
        return self.reasoning.split(text, opened=self.opens(after))

    def opens(self, after: Sequence[int] | None) -> bool:
        if after is None:
            return self.opened
        return self.reasoning.opened_by(self.tokens.decode(after[-OPENING:]))

    def _reasoning_tokens(self, token_ids: Sequence[int], split: SplitTurn) -> int:
        if not split.cut:
            return 0
        end = self.tokens.id_of(self.reasoning.marks[-1])
        if split.cut.endswith(self.reasoning.marks[-1]) and end in token_ids:
            return token_ids.index(end) + 1
        return min(len(token_ids), len(self.tokens.encode(split.cut)))


@dataclass(frozen=True, slots=True)
class ChosenFormats:
    parser: TurnParser
    fault: str | None


def choose_formats(
    template: ChatTemplate, tokens: ModelTokens, choice: ToolParserChoice
) -> ChosenFormats:
    """`auto` becomes the format that parses the calls of the template."""
    found = next(
        (name for name in BY_TEMPLATE if _reads_back(template, _parser(template, tokens, name))),
        None,
    )
    if choice == "auto":
        fault = None if found else "writes no tool calls that a known format reads back"
        return ChosenFormats(_parser(template, tokens, found or "hermes"), _sentence(fault))
    parser = _parser(template, tokens, choice)
    if _reads_back(template, parser):
        return ChosenFormats(parser, None)
    fault = f"writes tool calls that the parser {choice!r} does not read back"
    if found is not None:
        fault += f"; {found!r} does"
    return ChosenFormats(parser, _sentence(fault))


def _sentence(fault: str | None) -> str | None:
    return None if fault is None else f"cannot be used with tools: its chat template {fault}"


def written_calls(
    template: ChatTemplate,
    parser: TurnParser,
    messages: list[Message],
    tools: list[Message],
    *,
    name: str,
    arguments: Message,
) -> list[ParsedToolCall]:
    function = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
    call = {"id": "call00000", "type": "function", "function": function}
    turn: Message = {"role": "assistant", "content": "", "tool_calls": [call]}
    opening = parser.tokens.encode(template.render(messages, tools, generate=True))
    whole = parser.tokens.encode(template.render([*messages, turn], tools, generate=False))
    start = common_length(opening, whole)
    return parser.parse(whole[start:], tools=tools, after=whole[:start]).tool_calls


def call_fault(content: str, tool_parser: ToolParser = "hermes") -> str | None:
    tool_format = build_tool_format(tool_parser)
    split = reasoning_of("", tool_parser).split(content, opened=False)
    return tool_format.parse(split.answer, ()).parse_error


def _parser(template: ChatTemplate, tokens: ModelTokens, name: ToolParser) -> TurnParser:
    tool_format = build_tool_format(name)
    reasoning = reasoning_of(template.source, tool_format.name)
    prompt = tokens.encode(template.render([_QUESTION], None, generate=True))
    return TurnParser(tokens, tool_format, reasoning).after_prompt(prompt)


def _reads_back(template: ChatTemplate, parser: TurnParser) -> bool:
    try:
        calls = written_calls(
            template,
            parser,
            [_QUESTION],
            [_PROBE_TOOL],
            name="probe_tool",
            arguments=_PROBE_ARGUMENTS,
        )
    except InvalidRequest:
        return False
    read = [(call.name, json.loads(call.arguments_json)) for call in calls]
    return read == [("probe_tool", _PROBE_ARGUMENTS)]


_UNFINISHED_CHARACTER: Final = "\ufffd"


@dataclass(frozen=True, slots=True)
class TurnOptions:
    tools: Tools = ()
    reads_calls: bool = False
    """False if calls stay text: without tools, or with `tool_choice` `none`."""
    one_call: bool = False
    """True if all calls but the first are dropped (`parallel_tool_calls` is false)."""
    stop: tuple[str, ...] = ()


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
        self.cut: int | None = None
        self._sent = Delta()
        self._prompt = list(prompt[-OPENING:])
        """The tokens in front of the turn, which may open reasoning."""

    def show(self, text: str) -> None:
        """Sets the text of the tokens so far. Must not be called after `cut` is set."""
        self.text = text
        found = [index for stop in self._options.stop if (index := text.find(stop)) >= 0]
        self.cut = min(found, default=None)

    def new(self) -> Delta:
        """Returns what no later token can change. Valid only while `cut` is `None`."""
        return self._beyond(self._final())

    def rest(self, answer: ParsedTurn) -> Delta:
        """Returns what no call of `new` has returned."""
        return self._beyond(Delta(answer.content, answer.reasoning))

    def answer(self, token_ids: Sequence[int]) -> ParsedTurn:
        """Parses all tokens. A malformed tool call is content."""
        parsed = self._parser.parse(
            token_ids,
            tools=self._options.tools,
            with_tools=self._options.reads_calls and self.cut is None,
            after=self._prompt,
            until=self.cut,
        )
        return replace(
            parsed, tool_calls=parsed.tool_calls[: 1 if self._options.one_call else None]
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
