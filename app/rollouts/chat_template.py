"""A model's chat template and tokenizer, and text that must not act as a mark."""

import copy
import hashlib
import json
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count, takewhile
from pathlib import Path
from typing import Any, Final, Self

import jinja2
from huggingface_hub import hf_hub_download
from huggingface_hub.errors import EntryNotFoundError, LocalEntryNotFoundError
from jinja2.ext import Extension, loopcontrols
from jinja2.nodes import Node
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment
from tokenizers import AddedToken, Tokenizer
from tokenizers.decoders import DecodeStream
from typing_extensions import override

from app.files.conversations import reasoning_of_message
from app.jobs.response_formats import template_variables
from app.kit.errors import InvalidRequest
from app.models.chat import with_names_of_calls


class ModelFiles:
    def __init__(self, path: str, *, download: bool = True) -> None:
        self._path = path
        self._download = download
        self._cached_only = False
        self._directory = Path(path) if Path(path).is_dir() else None

    def find(self, name: str) -> Path | None:
        if self._directory is not None:
            file = self._directory / name
            return file if file.is_file() else None
        try:
            return Path(hf_hub_download(self._path, name, local_files_only=not self._download))
        except LocalEntryNotFoundError:  # no network, or no download wanted
            self._cached_only = True
            return None
        except EntryNotFoundError:
            return None

    def required(self, name: str) -> Path:
        file = self.find(name)
        if file is None:
            where = " in the hub cache, and it was not downloaded" if self._cached_only else ""
            raise ValueError(f"model {self._path!r} has no {name}{where}")
        return file

    def json(self, name: str) -> dict[str, Any]:
        file = self.find(name)
        content = {} if file is None else json.loads(file.read_text(encoding="utf-8"))
        return content if isinstance(content, dict) else {}


def template_source(files: ModelFiles, config: dict[str, Any], override: Path | None) -> str:
    file = override or files.find("chat_template.jinja")
    if file is not None:
        return file.read_text(encoding="utf-8")
    source = config.get("chat_template")
    if isinstance(source, list):
        named = {entry["name"]: entry["template"] for entry in source}
        source = named.get("tool_use", named.get("default"))
    if not isinstance(source, str):
        raise ValueError("the model has no chat template; configure one")  # noqa: TRY004 - a bad file
    return source


def special_tokens(*configs: dict[str, Any]) -> dict[str, str]:
    names: dict[str, str] = {}
    for config in configs:
        for key, value in config.items():
            text = value.get("content") if isinstance(value, dict) else value
            if key.endswith("_token") and isinstance(text, str):
                names.setdefault(key, text)
    return names


def context_length(config: dict[str, Any]) -> int:
    text_config = config.get("text_config", config)
    if not isinstance(text_config, dict):
        text_config = {}
    length = text_config.get("max_position_embeddings") or text_config.get("n_positions")
    if not isinstance(length, int) or length < 1:
        raise ValueError("config.json has no max_position_embeddings")
    return length


Message = dict[str, Any]

UNSEEN: Final = (
    "the model's chat template does not show a message of this role at this place, so that the "
    "model would not read it"
)
_SENTINEL: Final = "Qx7sentinelZ"
_PROBE: Final = '{"probe": 1}'
_PROBE_TEXTS: Final = (_PROBE, '{"probe":1}', "{'probe': 1}")
"""`_PROBE` in the three spellings that a template may write: JSON, compact JSON, Python."""
_REASONING: Final = ("reasoning", "reasoning_content", "thinking")
"""The names by which templates read reasoning: each gets it under its own (gpt-oss: the last)."""
_SHORT_ID: Final = 9
"""Number of letters and digits of a call's id that the templates of Mistral require."""
_TEMPLATE_FAULTS: Final = (
    *(jinja2.TemplateError, TypeError, ValueError, LookupError),
    *(AttributeError, ArithmeticError, RecursionError),
)
"""Errors that an untrusted template raises for messages that it does not expect."""


class _GenerationBlock(Extension):
    """Renders the body of `{% generation %}`, which marks text for training in transformers."""

    tags = {"generation"}  # noqa: RUF012 - Jinja reads the class attribute

    @override
    def parse(self, parser: Parser) -> Node | list[Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


class ChatTemplate:
    def __init__(
        self, source: str, special_tokens: dict[str, str], *, reasoning_effort: str | None = None
    ) -> None:
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=[_GenerationBlock, loopcontrols]
        )
        environment.filters["tojson"] = _to_json
        environment.globals["raise_exception"] = _refuse
        environment.globals["strftime_now"] = _now
        self.source = source
        self._template = environment.from_string(source)
        self._names = special_tokens
        self._variables = {**special_tokens, **template_variables(reasoning_effort)}
        self._short_ids = False
        self._arguments_as_text = self._takes_argument_text()
        self._short_ids = not self._shows_call_id("call_" + "0" * 24) and self._shows_call_id(
            "0" * _SHORT_ID
        )

    def with_variables(self, variables: dict[str, Any]) -> Self:
        other = copy.copy(self)
        other._variables = {**self._names, **variables}  # noqa: SLF001 - its own class
        return other

    def render(
        self, messages: list[Message], tools: list[Message] | None, *, generate: bool
    ) -> str:
        """Renders the conversation to text; `generate` appends the opening of the assistant's turn.

        Raises `InvalidRequest` with the template's own message if it refuses the messages.
        """
        prepared = [self._prepared(message) for message in with_names_of_calls(messages)]
        try:
            return self._template.render(
                messages=prepared,
                tools=tools or None,
                documents=None,
                add_generation_prompt=generate,
                **self._variables,
            )
        except _TEMPLATE_FAULTS as error:
            raise InvalidRequest(
                f"The model's chat template refused the messages: {error}", param="messages"
            ) from error

    def unseen(self, messages: list[Message], tools: list[Message] | None) -> list[int]:
        """Returns the positions of messages to the model whose text is not shown where they stand:
        some templates leave out a system message that is not the first one, or replies of tools.
        Raises `InvalidRequest` as `render` does.
        """
        marks = {
            position: f"{_SENTINEL}{position}."
            for position, message in enumerate(messages)
            if message["role"] != "assistant" and flat_content(message.get("content")).strip()
        }
        marked = [
            {**message, "content": marks.get(position, message.get("content"))}
            for position, message in enumerate(messages)
        ]
        text = self.render(marked, tools, generate=True)
        return [position for position, mark in marks.items() if mark not in text]

    def _prepared(self, message: Message) -> Message:
        if not isinstance(message.get("role"), str):
            raise InvalidRequest("Each message needs a role.", param="messages")
        # A null stands for an absent key, and templates ask whether a key is there.
        prepared = {key: value for key, value in message.items() if value is not None}
        if prepared["role"] == "developer":
            prepared["role"] = "system"
        prepared["content"] = flat_content(message.get("content"))
        calls = message.get("tool_calls")
        thought = next(
            (message[name] for name in _REASONING if message.get(name) is not None), None
        )
        if thought is not None:
            prepared |= dict.fromkeys(_REASONING, thought)
            if calls and prepared["content"]:
                prepared.pop("thinking")  # gpt-oss shows one of the two, and refuses both
        if not calls:
            prepared.pop("tool_calls", None)
        elif not self._arguments_as_text:
            prepared["tool_calls"] = [_with_object_arguments(call) for call in calls]
        return _with_short_ids(prepared) if self._short_ids else prepared

    def _shows_call_id(self, call_id: str) -> bool:
        function = {"name": "probe", "arguments": "{}"}
        call = {"id": call_id, "type": "function", "function": function}
        messages: list[Message] = [
            {"role": "user", "content": "a"},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call_id, "name": "probe", "content": "b"},
        ]
        try:
            self.render(messages, None, generate=True)
        except InvalidRequest:
            return False
        return True

    def _takes_argument_text(self) -> bool:
        """Returns true if the template prints argument strings unchanged where it prints JSON;
        other templates expect objects, and would quote a string again or treat it as a value.
        """
        self._arguments_as_text = True
        if _PROBE not in self._shown_arguments(_PROBE):
            return False
        of_object = self._shown_arguments(json.loads(_PROBE))
        return not of_object or any(text in of_object for text in _PROBE_TEXTS)

    def _shown_arguments(self, arguments: Any) -> str:
        function = {"name": "probe", "arguments": arguments}
        call = {"id": "call00000", "type": "function", "function": function}
        turn = {"role": "assistant", "content": "", "tool_calls": [call]}
        try:
            return self.render([{"role": "user", "content": "a"}, turn], None, generate=False)
        except InvalidRequest:
            return ""


def flat_content(content: Any) -> str:
    """Raises `InvalidRequest` for content that is no text, `None` or list of such parts."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [
            part.get("text", part.get("refusal")) if isinstance(part, dict) else None
            for part in content
        ]
        texts = [part for part in parts if isinstance(part, str)]
        if len(texts) == len(parts):
            return "".join(texts)
    raise InvalidRequest("Message content must be text.", param="messages")


def _with_object_arguments(call: Any) -> Any:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("arguments"), str):
        return call
    try:
        arguments = json.loads(function["arguments"])
    except ValueError:
        return call
    return {**call, "function": {**function, "arguments": arguments}}


def _with_short_ids(message: Message) -> Message:
    """Returns a prepared message in which each call has a short id; equal ids stay equal."""
    short = dict(message)
    if isinstance(short.get("tool_call_id"), str):
        short["tool_call_id"] = _short_id(short["tool_call_id"])
    if short.get("tool_calls"):
        short["tool_calls"] = [
            {**call, "id": _short_id(str(call.get("id")))} if isinstance(call, dict) else call
            for call in short["tool_calls"]
        ]
    return short


def _short_id(call_id: str) -> str:
    if len(call_id) == _SHORT_ID and call_id.isalnum():
        return call_id
    return hashlib.sha256(call_id.encode()).hexdigest()[:_SHORT_ID]


def _to_json(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    return json.dumps(
        value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
    )


def _refuse(message: str) -> None:
    raise jinja2.TemplateError(message)


def _now(pattern: str) -> str:
    return datetime.now(UTC).astimezone().strftime(pattern)


_ZERO_WIDTH_SPACE: Final = "\u200b"
_ASSISTANT_MARKS: Final = frozenset(
    ("<think>", "</think>", "[THINK]", "[/THINK]", "<tool_call>", "</tool_call>")
)
_MARK_WRITERS: Final = ("assistant", "system", "developer")
_FIELDS: Final = ("name", "tool_call_id", "reasoning_content", "reasoning", "thinking")


class ControlText:
    def __init__(
        self, added: Mapping[int, AddedToken], *, template: str, marks: frozenset[str]
    ) -> None:
        tokens = [added[number] for number in sorted(added)]
        special = [token.content for token in tokens if token.special]
        used = [
            token.content
            for token in tokens
            if _is_mark(token.content) and (token.content in marks or token.content in template)
        ]
        self._in_turns = tuple(text for text in special if text not in _ASSISTANT_MARKS)
        self._everywhere = tuple(dict.fromkeys((*special, *used)))

    def broken(self, message: Any) -> Message:
        """Returns a copy whose text cannot be read as control text. Raises `InvalidRequest`."""
        if not isinstance(message, dict):
            raise InvalidRequest("Each message must be an object.", param="messages")
        content = flat_content(message.get("content") or message.get("refusal"))
        return self.within({**message, **reasoning_of_message(message), "content": content})

    def within(self, message: Message) -> Message:
        """Returns the same for an engine that renders the message itself: absent keys stay absent.
        Parts are joined, because a forged mark may be spread over two.
        """
        writes_marks = message.get("role") in _MARK_WRITERS
        controls = self._in_turns if writes_marks else self._everywhere
        copy = dict(message)
        if isinstance(copy.get("content"), list):
            copy["content"] = flat_content(copy["content"])
        for field in ("content", *_FIELDS):
            if copy.get(field):
                copy[field] = _broken_values(copy[field], controls)
        if copy.get("tool_calls"):
            copy["tool_calls"] = _broken_values(copy["tool_calls"], self._in_turns)
        return copy

    def tools(self, tools: list[Message] | None) -> list[Message] | None:
        return tools and _broken_values(tools, self._everywhere, param="tools")


def _is_mark(text: str) -> bool:
    """Returns false for added tokens that are ordinary text, such as words or runs of spaces."""
    return bool(text.strip()) and not text.strip()[0].isalnum()


def _broken(text: str, controls: tuple[str, ...]) -> str:
    for control in controls:
        if control in text:
            text = text.replace(control, control[:1] + _ZERO_WIDTH_SPACE + control[1:])
    return text


def _broken_values(value: Any, controls: tuple[str, ...], *, param: str = "messages") -> Any:
    try:
        return _broken_within(value, controls)
    except RecursionError:
        raise InvalidRequest(f"The {param} are nested too deeply.", param=param) from None


def _broken_within(value: Any, controls: tuple[str, ...]) -> Any:
    if isinstance(value, str):
        return _broken(value, controls)
    if isinstance(value, list):
        return [_broken_within(item, controls) for item in value]
    if isinstance(value, dict):
        return {
            _broken(key, controls) if isinstance(key, str) else key: _broken_within(item, controls)
            for key, item in value.items()
        }
    return value


THREAD_FROM: Final = 65_536
"""Number of characters from which a caller with an event loop encodes on a thread."""
_UNFINISHED: Final = "\ufffd"
_LONGEST_CHARACTER: Final = 8
"""Tokens after which a text that ends with a broken character is a piece: four may write one, and a
run of broken bytes would else be decoded again for each of its tokens.
"""


class ModelTokens:
    def __init__(self, file: Path) -> None:
        self._tokenizer = Tokenizer.from_file(str(file))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.added: Mapping[int, AddedToken] = self._tokenizer.get_added_tokens_decoder()
        self.control_ids = frozenset(n for n, token in self.added.items() if token.special)
        self._hidden_ids = self.control_ids

    def showing(self, marks: Collection[str]) -> Self:
        other = copy.copy(self)
        other._hidden_ids = frozenset(  # noqa: SLF001 - its own class
            number for number in self.control_ids if self.added[number].content not in marks
        )
        return other

    def encode(self, text: str) -> list[int]:
        """About 2 MB a second; a long text releases the interpreter lock."""
        if len(text) < THREAD_FROM:
            ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
            return ids
        [encoding] = self._tokenizer.encode_batch_fast([text], add_special_tokens=False)
        return list(encoding.ids)

    def decode(self, token_ids: Sequence[int]) -> str:
        visible = [number for number in token_ids if number not in self._hidden_ids]
        text: str = self._tokenizer.decode(visible, skip_special_tokens=False)
        return text

    def decoding(self) -> Callable[[int], str]:
        """Returns a function that takes the ids of a text one by one and returns the text that each
        adds, in one pass; `decode` of each prefix would take quadratic time.
        """
        stream = DecodeStream(skip_special_tokens=False)

        def step(number: int) -> str:
            shown = None if number in self._hidden_ids else stream.step(self._tokenizer, number)
            return shown or ""

        return step

    def pieces(self, token_ids: Sequence[int], most: int) -> list[str]:
        """Returns the text of each of the first `most` ids; joined, they are `decode`. The first
        token of a character that spans several has all of it, the others an empty text.
        """
        shown = [i for i, number in enumerate(token_ids) if number not in self._hidden_ids]
        stored = [index for index in shown if index < most]
        lengths, last = self._lengths([token_ids[index] for index in stored])
        text, start = self.decode(token_ids), 0
        pieces = [""] * min(most, len(token_ids))
        for index, length in zip(stored, lengths, strict=True):
            pieces[index] = text[start : start + length]
            start += length
        if stored and len(stored) == len(shown):
            # The rest of a turn that ends within a character stands where that one begins.
            pieces[stored[last]] += text[start:]
        # A step's rollouts have millions of tokens and few different texts.
        return [sys.intern(piece) for piece in pieces]

    def _lengths(self, ids: Sequence[int]) -> tuple[list[int], int]:
        """Returns the number of characters of each id's piece, and the index of the id at which the
        last piece begins. Decodes each id after the piece before it, because a first token may lose
        its space.
        """
        lengths, known, start, begin = [0] * len(ids), 0, 0, 0
        for end in range(1, len(ids) + 1):
            text = self.decode(ids[start:end])
            if text.endswith(_UNFINISHED) and end - begin < _LONGEST_CHARACTER:
                continue
            lengths[begin] = max(0, len(text) - known)
            known = len(self.decode(ids[begin:end]))
            start, begin = begin, end
        return lengths, min(begin, len(ids) - 1)

    @property
    def vocabulary(self) -> Mapping[str, int]:
        found: dict[str, int] = self._tokenizer.get_vocab(with_added_tokens=True)
        return found

    def id_of(self, token: str) -> int | None:
        number: int | None = self._tokenizer.token_to_id(token)
        return number


_MARKED: Final = ("Rq3markedA", "Rq3markedB")


@dataclass(frozen=True, slots=True)
class Bridge:
    closing: list[int]
    """The end of the sampled turn, if it is not in the turn itself."""
    rest: list[int]
    """The replies and the opening of the next turn."""

    def after(self, sampled: Sequence[int] | None, stop_ids: Sequence[int]) -> list[int]:
        """Returns the ids after a turn. A cut turn still needs its end, and some families end a
        turn with the token that opens the reply. `None` means a turn with its usual end.
        """
        if sampled is None:
            return self.rest
        last = [*sampled[-1:]]
        if not last or last[0] not in stop_ids:
            return [*self.closing, *self.rest]
        return self.rest[1:] if self.rest[:1] == last != self.closing else self.rest


class BridgeRenderer:
    def __init__(
        self, template: ChatTemplate, tokens: ModelTokens, declared: frozenset[int] = frozenset()
    ) -> None:
        """`declared`: the tokens that end a turn by the model's files."""
        self._template = template
        self._tokens = tokens
        turn = _assistant(_SENTINEL)
        end = self._first_control_id([turn])
        self.turns_end = end is not None
        """False for a template whose turns end where the next message begins (GLM)."""
        end = self._first_control_id([turn, _user("b")]) if end is None else end
        if end is None:
            raise InvalidRequest("It ends an assistant's turn with no special token.")
        self.end_of_turn_id = end
        self._end_of_call_id = self._end_before_reply(declared | {end})
        self._calls = False
        """True if the template shows the reply of a tool only after a turn that calls it."""
        self.fault = self._choose()

    @property
    def end_ids(self) -> frozenset[int]:
        return frozenset(
            number for number in (self.end_of_turn_id, self._end_of_call_id) if number is not None
        )

    def end_of(self, turn: Message, *, shown: int | None) -> int | None:
        """Returns the token that ends a turn. `shown` is the one that the template writes behind it
        while nothing follows; some end a call with what opens the reply (GLM, Gemma).
        """
        if turn.get("tool_calls") and self._end_of_call_id is not None:
            return self._end_of_call_id
        return self.end_of_turn_id if shown is None and not self.turns_end else shown

    def shows(self, turn: Message, replies: list[Message]) -> bool:
        """Returns false if the template shows no reply of a tool, or none without a call before."""
        if all(reply["role"] != "tool" for reply in replies):
            return True
        return self.fault is None and (not self._calls or bool(turn.get("tool_calls")))

    def bridge(self, turn: Message, replies: list[Message], tools: list[Message] | None) -> Bridge:
        """Reads only the calls of `turn`. Raises `InvalidRequest`."""
        of_tools = any(reply["role"] == "tool" for reply in replies)
        if of_tools and self.fault is not None:
            raise InvalidRequest(f"This model {self.fault}.", param="messages")
        if of_tools and self._calls:
            return self._after_calls(turn, replies, tools)
        return self._after_text(replies, tools)

    def with_template(self, template: ChatTemplate) -> Self:
        other = copy.copy(self)
        other._template = template  # noqa: SLF001 - its own class
        return other

    def _first_control_id(self, turns: list[Message]) -> int | None:
        ids = self._tokens.encode(self._tail(turns, None, generate=False))
        return next((number for number in ids if number in self._tokens.control_ids), None)

    def _end_before_reply(self, declared: frozenset[int]) -> int | None:
        """Returns what ends a turn between its call and the reply: a declared end, or else the last
        control token that stands there with and without the reply, or else the first one.
        """
        argument, content = _MARKED
        reply: Message = {"role": "tool", "name": "probe", "content": content}
        calls, replies = _with_calls({}, [reply])
        calls[0]["function"]["arguments"] = json.dumps({"probe": argument})
        called = [_user("a"), {"role": "assistant", "content": "", "tool_calls": calls}]
        try:
            alone = self._template.render(called, None, generate=False)
            followed = self._template.render([*called, *replies], None, generate=True)
        except InvalidRequest:
            return None
        between, shown, _ = followed.rpartition(argument)[2].partition(content)
        if not shown:
            return None
        ids = self._tokens.encode(between)
        common = common_length(self._tokens.encode(alone.rpartition(argument)[2]), ids)
        ends = [number for number in ids if number in declared]
        ends += [number for number in reversed(ids[:common]) if number in self._tokens.control_ids]
        ends += [number for number in ids[common:] if number in self._tokens.control_ids]
        return next(iter(ends), None)

    def _after_text(self, replies: list[Message], tools: list[Message] | None) -> Bridge:
        turn = _assistant(_unused_in(replies))
        ids = self._tokens.encode(self._tail([turn, *replies], tools, generate=True))
        if not self.turns_end:
            return Bridge([], ids)
        end = next((i for i, number in enumerate(ids) if number in self._tokens.control_ids), None)
        if end is None:
            raise InvalidRequest("The model's chat template does not end a turn.", param="messages")
        return Bridge(ids[end : end + 1], ids[end + 1 :])

    def _after_calls(
        self, turn: Message, replies: list[Message], tools: list[Message] | None
    ) -> Bridge:
        """The turn is what calls share with and without replies, up to its last control token."""
        calls, replies = _with_calls(turn, replies)
        called = [_user("a"), {"role": "assistant", "content": "", "tool_calls": calls}]
        alone = self._tokens.encode(self._template.render(called, tools, generate=False))
        whole = self._tokens.encode(
            self._template.render([*called, *replies], tools, generate=True)
        )
        common = common_length(alone, whole)
        ends = [i for i, number in enumerate(whole[:common]) if number in self._tokens.control_ids]
        if not ends:
            raise InvalidRequest("The model's chat template does not end a turn.", param="messages")
        return Bridge(whole[ends[-1] : ends[-1] + 1], whole[ends[-1] + 1 :])

    def _tail(self, turns: list[Message], tools: list[Message] | None, *, generate: bool) -> str:
        text = self._template.render([_user("a"), *turns], tools, generate=generate)
        _, sentinel, tail = text.rpartition(turns[0]["content"])
        if not sentinel:
            raise InvalidRequest("The model's chat template does not show a turn's text.")
        return tail

    def _choose(self) -> str | None:
        faults = []
        for calls in (False, True):
            self._calls = calls
            fault = self._reply_fault()
            if fault is None:
                return None
            faults.append(fault)
        return f"cannot be used with tools: its chat template {faults[-1]}"

    def _reply_fault(self) -> str | None:
        replies: list[Message] = [
            {"role": "tool", "name": "probe", "content": content} for content in _MARKED
        ]
        render = self._after_calls if self._calls else lambda _, *rest: self._after_text(*rest)
        for shown in (replies[:1], replies):
            try:
                text = self._tokens.decode(render({}, shown, None).rest)
            except InvalidRequest as error:
                return f"refuses the reply of a tool ({error.message})"
            for reply in shown:
                times = text.count(reply["content"])
                if times != 1:
                    return f"shows the reply of a tool {times} times instead of once"
        return None


def common_length(left: list[int], right: list[int]) -> int:
    pairs = zip(left, right, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _with_calls(turn: Message, replies: list[Message]) -> tuple[list[Message], list[Message]]:
    names = {
        call.get("id"): (call.get("function") or {}).get("name")
        for call in turn.get("tool_calls") or ()
    }
    calls, answered = [], []
    for number, reply in enumerate(replies):
        if reply["role"] == "tool":
            call_id = reply.get("tool_call_id") or f"call{number:05}"
            name = reply.get("name") or names.get(call_id) or "tool"
            function = {"name": name, "arguments": "{}"}
            calls.append({"id": call_id, "type": "function", "function": function})
            answered.append({**reply, "tool_call_id": call_id})
        else:
            answered.append(reply)
    return calls, answered


def _unused_in(replies: list[Message]) -> str:
    texts = "".join(text for reply in replies for text in reply.values() if isinstance(text, str))
    return next(
        sentinel for number in count() if (sentinel := f"{_SENTINEL}{number or ''}") not in texts
    )


def _user(text: str) -> Message:
    return {"role": "user", "content": text}


def _assistant(text: str) -> Message:
    return {"role": "assistant", "content": text}
