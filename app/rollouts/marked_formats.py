"""Tool calls and reasoning with marks of their own: GLM 4.5, Qwen 3 Coder, Gemma, gpt-oss, lists of
Python calls; and the table of all formats of calls.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Protocol

from typing_extensions import override

from app.kit.strict_json import MAX_DEPTH
from app.kit.texts import expression_of
from app.models.models import ToolParser
from app.rollouts.tool_formats import (
    BrokenCall,
    DeepSeek,
    Hermes,
    JsonList,
    Llama3Json,
    MarkedCalls,
    Mistral,
    ParsedCalls,
    ParsedToolCall,
    ToolFormat,
    Tools,
    arguments_json,
    broken_turn,
    content_only,
    loads,
    parameter_schema,
    typed_value,
)

_START: Final = "<tool_call>"
_END: Final = "</tool_call>"
_KEY: Final = "<arg_key>"
_MARKS: Final = (_END, _KEY, "</arg_key>", "<arg_value>", "</arg_value>")
# Each is searched once, forward from the end of what was read before: a turn costs its length.
_NAME: Final = re.compile(r"\s*+([^\s<{]++)\s*+")
_KEY_END: Final = re.compile(r"</arg_key>\s*+<arg_value>")
_VALUE_END: Final = re.compile(r"</arg_value>\s*+(?=<arg_key>|</tool_call>)")


class Glm45(MarkedCalls):
    def __init__(self, name: ToolParser) -> None:
        super().__init__(name, starts=(_START,), others=_MARKS)

    @override
    def read(self, text: str, tools: Tools) -> list[ParsedToolCall]:
        calls, end = list[ParsedToolCall](), 0
        while (start := text.find(_START, end)) >= 0:
            name = _NAME.match(text, start + len(_START))
            if name is None:
                raise _broken()
            arguments, end = _arguments(text, name.end())
            if not text.startswith(_END, end):
                raise _broken()
            values = {
                key: typed_value(value, parameter_schema(tools, name[1], key), guess=True)
                for key, value in arguments
            }
            calls.append(ParsedToolCall(name[1], arguments_json(values)))
        return calls


def _arguments(text: str, at: int) -> tuple[list[tuple[str, str]], int]:
    pairs = []
    while text.startswith(_KEY, at):
        key = _KEY_END.search(text, at + len(_KEY))
        value = key and _VALUE_END.search(text, key.end())
        if key is None or value is None:
            raise _broken()
        pairs.append((text[at + len(_KEY) : key.start()].strip(), text[key.end() : value.start()]))
        at = value.end()
    return pairs, at


def _broken() -> BrokenCall:
    return BrokenCall("it is not a name with <arg_key> and <arg_value> pairs")


_START_CODER: Final = "<tool_call>"
# Each is searched once, forward from the end of what was read before: a turn costs its length.
_HEAD: Final = re.compile(r"\s*+<function=([^>\n]++)>")
_END_CODER: Final = re.compile(r"</function>\s*+</tool_call>")
_KEY_CODER: Final = re.compile(r"\s*+<parameter=([^>\n]++)>")
_VALUE_END_CODER: Final = re.compile(r"</parameter>(?=\s*+(?:<parameter=|\Z))")


class Qwen3Coder(MarkedCalls):
    def __init__(self, name: ToolParser) -> None:
        super().__init__(name, starts=(_START_CODER,), others=("</tool_call>",))

    @override
    def read(self, text: str, tools: Tools) -> list[ParsedToolCall]:
        calls, at = list[ParsedToolCall](), 0
        while (start := text.find(_START_CODER, at)) >= 0:
            head = _HEAD.match(text, start + len(_START_CODER))
            end = head and _END_CODER.search(text, head.end())
            if head is None or end is None:
                raise BrokenCall(
                    "it is not <function=…> with its parameters, closed by </tool_call>"
                )
            body = text[head.end() : end.start()]
            calls.append(ParsedToolCall(head[1], _arguments_coder(head[1], body, tools)))
            at = end.end()
        return calls


def _arguments_coder(function: str, body: str, tools: Tools) -> str:
    values, at = dict[str, Any](), 0
    while (key := _KEY_CODER.match(body, at)) is not None:
        end = _VALUE_END_CODER.search(body, key.end())
        if end is None:
            break
        text = body[key.end() : end.start()].removeprefix("\n").removesuffix("\n")
        values[key[1]] = typed_value(text, parameter_schema(tools, function, key[1]))
        at = end.end()
    if body[at:].strip():
        raise BrokenCall("its function has text outside of <parameter=…> … </parameter>")
    return arguments_json(values)


_NAME_GEMMA: Final = re.compile(r"\s*call:([^\s{]+)\s*")
_BARE: Final = re.compile(r"[^,:{}\[\]]+")


class Gemma(MarkedCalls):
    def __init__(self, name: ToolParser, *, start: str, end: str, quote: str) -> None:
        super().__init__(name, starts=(start,), others=(end, quote))
        self._end, self._quote = end, quote

    @override
    def read(self, text: str, tools: Tools) -> list[ParsedToolCall]:
        calls, (start,) = [], self.starts
        reader = _Reader(text, self._quote)
        while (at := text.find(start, reader.position)) >= 0:
            reader.position = at + len(start)
            name = _NAME_GEMMA.match(text, reader.position)
            if name is None:
                raise BrokenCall("it does not begin with call: and a name")
            reader.position = name.end()
            calls.append(ParsedToolCall(name[1], arguments_json(reader.value(0))))
            if not text.startswith(self._end, reader.position):
                raise BrokenCall(f"it does not end with {self._end}")
        return calls


@dataclass(slots=True)
class _Reader:
    text: str
    quote: str
    position: int = 0

    def value(self, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise BrokenCall("it is nested too deeply")
        if self._skip(self.quote):
            return self._quoted()
        if self._skip("{"):
            return self._members("}", depth, named=True)
        if self._skip("["):
            return self._members("]", depth, named=False)
        bare = _BARE.match(self.text, self.position)
        if bare is None:
            raise BrokenCall(f"a value is missing at character {self.position}")
        self.position = bare.end()
        word = bare[0].strip()
        return None if word == "None" else loads(word)

    def _members(self, end: str, depth: int, *, named: bool) -> Any:
        members: dict[str, Any] = {}
        items: list[Any] = []
        while not self._skip(end):
            if (members or items) and not self._skip(","):
                raise BrokenCall(f"a comma is missing at character {self.position}")
            if named:
                key = self._key()
                members[key] = self.value(depth + 1)
            else:
                items.append(self.value(depth + 1))
        return members if named else items

    def _key(self) -> str:
        if self._skip(self.quote):
            key = self._quoted()
        else:
            bare = _BARE.match(self.text, self.position)
            key = "" if bare is None else bare[0].strip()
            self.position = self.position if bare is None else bare.end()
        if not key or not self._skip(":"):
            raise BrokenCall(f"a key is missing at character {self.position}")
        return key

    def _quoted(self) -> str:
        end = self.text.find(self.quote, self.position)
        if end < 0:
            raise BrokenCall(f"a text is not closed by {self.quote}")
        text = self.text[self.position : end]
        self.position = end + len(self.quote)
        return text

    def _skip(self, mark: str) -> bool:
        found = self.text.startswith(mark, self.position)
        if found:
            self.position += len(mark)
        return found


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
    body: str
    closed: bool

    @property
    def text(self) -> str:
        to = "" if self.recipient is None else f" to=functions.{self.recipient}"
        end = "<|call|>" if self.closed else ""
        return f"{START}assistant{CHANNEL}{self.channel}{to}{MESSAGE}{self.body}{end}"


def harmony_messages(text: str) -> Iterator[HarmonyMessage]:
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


_CALL: Final = re.compile(r"\[\s*[A-Za-z_][\w.]*\(")
_START_PYTHONIC: Final = "<function_calls>"
_END_PYTHONIC: Final = "</function_calls>"
_JSON_NAMES: Final = {"true": True, "false": False, "null": None}


class Pythonic:
    name: ToolParser = "pythonic"
    marks: tuple[str, ...] = ("<|python_start|>", "<|python_end|>")

    def parse(self, text: str, tools: Tools) -> ParsedCalls:
        del tools  # literals have their own types
        body = text.strip().removeprefix(self.marks[0]).removesuffix(self.marks[1]).strip()
        if not _CALL.match(body):
            return content_only(text)
        try:
            return ParsedCalls("", _calls_of(body), None)
        except BrokenCall as broken:
            return broken_turn(text, broken)

    def final_length(self, text: str) -> int:
        body, mark = text.lstrip(), self.marks[0]
        undecided = not body or body.startswith(("[", mark)) or mark.startswith(body)
        return 0 if undecided else len(text)


class Olmo3(MarkedCalls):
    def __init__(self) -> None:
        super().__init__("olmo3", starts=(_START_PYTHONIC,), others=(_END_PYTHONIC,))

    @override
    def read(self, text: str, tools: Tools) -> list[ParsedToolCall]:
        body, end, _ = text.removeprefix(_START_PYTHONIC).partition(_END_PYTHONIC)
        if not end:
            raise BrokenCall(f"it does not end with {_END_PYTHONIC}")
        return _calls_of("[" + ",".join(line for line in body.splitlines() if line.strip()) + "]")


def _calls_of(text: str) -> list[ParsedToolCall]:
    try:
        body = expression_of(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise BrokenCall("it is not a list of Python calls") from None
    if not isinstance(body, ast.List) or not body.elts:
        raise BrokenCall("it is not a list of Python calls")
    try:
        return [_call_of(element) for element in body.elts]
    except RecursionError:  # a name of a thousand parts
        raise BrokenCall("it is nested too deeply") from None


def _call_of(node: ast.expr) -> ParsedToolCall:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name | ast.Attribute):
        raise BrokenCall("it is not a list of Python calls")
    if node.args or any(keyword.arg is None for keyword in node.keywords):
        raise BrokenCall("its arguments must have names")
    arguments = {str(keyword.arg): _value(keyword.value) for keyword in node.keywords}
    return ParsedToolCall(ast.unparse(node.func), arguments_json(arguments))


def _value(node: ast.expr) -> Any:
    match node:
        case ast.Name(id=name) if name in _JSON_NAMES:
            return _JSON_NAMES[name]
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [_value(item) for item in items]
        case ast.Dict(keys=keys, values=values) if None not in keys:
            named = [_value(key) for key in keys if key is not None]
            if all(isinstance(name, str) for name in named):
                return dict(zip(named, map(_value, values), strict=True))
        case ast.Constant(value=None | bool() | int() | float() | str()):
            return node.value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case _:
            pass
    raise BrokenCall("an argument is not a literal")


BY_TEMPLATE: Final[tuple[ToolParser, ...]] = (
    *("openai", "deepseek_v3", "deepseek_v31", "gemma4", "functiongemma", "mistral", "glm45"),
    *("qwen3_coder", "phi4_mini_json", "granite", "olmo3", "hermes", "llama3_json", "pythonic"),
)
"""The formats that a chat template may write, the ones with the rarest marks first."""


_FORMATS: Final[dict[ToolParser, ToolFormat]] = {
    built.name: built
    for built in (
        Hermes(),
        Qwen3Coder("qwen3_coder"),
        Qwen3Coder("qwen3_xml"),
        Llama3Json("llama3_json"),
        Llama3Json("llama4_json"),
        Mistral(),
        Glm45("glm45"),
        Glm45("glm47"),
        DeepSeek("deepseek_v3"),
        DeepSeek("deepseek_v31"),
        Harmony(),
        Pythonic(),
        Olmo3(),
        JsonList("granite", marks={"<|tool_call|>": "", "<tool_call>": ""}),
        JsonList("phi4_mini_json", marks={"functools": "", "<|tool_call|>": "<|/tool_call|>"}),
        Gemma(
            "functiongemma",
            start="<start_function_call>",
            end="<end_function_call>",
            quote="<escape>",
        ),
        Gemma("gemma4", start="<|tool_call>", end="<tool_call|>", quote='<|"|>'),
    )
}


def build_tool_format(name: ToolParser) -> ToolFormat:
    return _FORMATS[name]


@dataclass(frozen=True, slots=True)
class SplitTurn:
    reasoning: str
    answer: str
    cut: str | None = None
    """The reasoning as written in the turn, marks included; `None` if there is none."""


class Reasoning(Protocol):
    @property
    def name(self) -> str:
        """The name of its parser in vLLM."""
        ...

    @property
    def start(self) -> str: ...

    @property
    def marks(self) -> tuple[str, ...]:
        """The texts that a decoder must show even if they are control tokens."""
        ...

    def opened_by(self, prompt: str) -> bool: ...

    def split(self, text: str, *, opened: bool) -> SplitTurn: ...


class MarkedReasoning:
    """Reasoning at the beginning of a turn, from a start mark to an end mark. An end mark alone is
    content, because the content before it may already be streamed.
    """

    def __init__(self, name: str, *, start: str, end: str, label: str = "") -> None:
        self.name = name
        self.start = start
        self.marks = (start, end)
        self._end = end
        self._label = label

    def opened_by(self, prompt: str) -> bool:
        return prompt.rstrip().removesuffix(self._label).endswith(self.start)

    def split(self, text: str, *, opened: bool) -> SplitTurn:
        if not opened and not text.lstrip().startswith(self.start):
            return SplitTurn("", text)
        reasoning, end, answer = text.partition(self._end)
        shown = reasoning.strip().removeprefix(self.start)
        if not end and self._label.startswith(shown):  # it may become the label
            return SplitTurn("", answer, reasoning)
        return SplitTurn(shown.removeprefix(self._label).strip(), answer, reasoning + end)


class HarmonyChannels:
    """The channels of gpt-oss: `analysis` is reasoning, calls stay in the answer for the tool-call
    format, other text is content.
    """

    name: Final = "openai_gptoss"
    start: Final = f"{CHANNEL}analysis{MESSAGE}"
    marks: Final = MARKS

    def opened_by(self, prompt: str) -> bool:
        return prompt.rstrip().endswith(self.start)

    def split(self, text: str, *, opened: bool) -> SplitTurn:
        del opened  # no prompt opens the channel
        if MESSAGE not in text and START not in text and CHANNEL not in text:
            return SplitTurn("", text)
        reasoning: list[HarmonyMessage] = []
        answer = []
        for message in harmony_messages(text):
            if message.recipient is not None:
                answer.append(message.text)
            elif message.channel == "analysis":
                reasoning.append(message)
            else:
                answer.append(message.body)
        thought = "\n".join(message.body.strip() for message in reasoning)
        return SplitTurn(thought, "".join(answer), thought or None)


THINK: Final = MarkedReasoning("qwen3", start="<think>", end="</think>")
"""DeepSeek-R1, Qwen3, GLM-4.5, SmolLM3 and others."""
MISTRAL: Final = MarkedReasoning("mistral", start="[THINK]", end="[/THINK]")
GEMMA4: Final = MarkedReasoning("gemma4", start="<|channel>", end="<channel|>", label="thought")
GRANITE: Final = MarkedReasoning(
    "granite", start="Here is my thought process:", end="Here is my response:"
)
HARMONY: Final = HarmonyChannels()
ALL_REASONING: Final[tuple[Reasoning, ...]] = (THINK, MISTRAL, GEMMA4, GRANITE, HARMONY)


def reasoning_of(template: str, tool_format: str) -> Reasoning:
    if tool_format == "openai" or HARMONY.start in template:
        return HARMONY
    for reasoning in (MISTRAL, GEMMA4, GRANITE):
        if reasoning.start in template:
            return reasoning
    return THINK
