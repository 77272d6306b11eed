"""Reads the small files of a model directory or hub id, without its weights."""

import copy
import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Self

import jinja2
from huggingface_hub import hf_hub_download
from huggingface_hub.errors import EntryNotFoundError, LocalEntryNotFoundError
from jinja2.ext import Extension, loopcontrols
from jinja2.nodes import Node
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment
from tokenizers import AddedToken
from typing_extensions import override

from app.jobs.response_formats import template_variables
from app.kit.errors import InvalidRequest


class ModelFiles:
    """Files of a model directory, or of a hub id, which are downloaded to the hub cache."""

    def __init__(self, path: str, *, download: bool = True) -> None:
        """Without `download`, a hub id only has the files in the hub cache."""
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
    """Returns `bos_token`, `eos_token`, … as text; older files contain an object for each."""
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

_PROBE: Final = '{"probe": 1}'
_PROBE_TEXTS: Final = (_PROBE, '{"probe":1}', "{'probe': 1}")
"""`_PROBE` in the three spellings that a template may write: JSON, compact JSON, Python."""
_SHORT_ID: Final = 9
"""Number of letters and digits of a call's id that the templates of Mistral require."""
_TEMPLATE_FAULTS: Final = (
    *(jinja2.TemplateError, TypeError, ValueError, LookupError),
    *(AttributeError, ArithmeticError, RecursionError),
)
"""Errors that an untrusted template raises for messages that it does not expect."""


class _GenerationBlock(Extension):
    """Support for `{% generation %}`, which marks assistant text for training in transformers; here
    it only renders its body.
    """

    tags = {"generation"}  # noqa: RUF012 - Jinja reads the class attribute

    @override
    def parse(self, parser: Parser) -> Node | list[Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


class ChatTemplate:
    def __init__(
        self, source: str, special_tokens: dict[str, str], *, reasoning_effort: str | None = None
    ) -> None:
        """The template receives `reasoning_effort` as the variables of `template_variables`."""
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
        self._short_ids = self._refuses_long_ids()

    def with_variables(self, variables: dict[str, Any]) -> Self:
        """Returns the template with these variables instead of those of a reasoning effort."""
        other = copy.copy(self)
        other._variables = {**self._names, **variables}  # noqa: SLF001 - its own class
        return other

    def render(
        self, messages: list[Message], tools: list[Message] | None, *, generate: bool
    ) -> str:
        """Renders the conversation to text; `generate` appends the opening of the assistant's turn.

        Raises `InvalidRequest` with the template's own message if it refuses the messages.
        """
        prepared = [self._prepared(message) for message in messages]
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

    def _prepared(self, message: Message) -> Message:
        if not isinstance(message.get("role"), str):
            raise InvalidRequest("Each message needs a role.", param="messages")
        prepared = dict(message)
        if prepared["role"] == "developer":
            prepared["role"] = "system"
        prepared["content"] = flat_content(message.get("content"))
        calls = message.get("tool_calls")
        if not calls:
            prepared.pop("tool_calls", None)
        elif not self._arguments_as_text:
            prepared["tool_calls"] = [_with_object_arguments(call) for call in calls]
        return _with_short_ids(prepared) if self._short_ids else prepared

    def _refuses_long_ids(self) -> bool:
        return not self._shows_call_id("call_" + "0" * 24) and self._shows_call_id("0" * _SHORT_ID)

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
        """Renders a call; returns an empty text if the template refuses it."""
        function = {"name": "probe", "arguments": arguments}
        call = {"id": "call00000", "type": "function", "function": function}
        turn = {"role": "assistant", "content": "", "tool_calls": [call]}
        try:
            return self.render([{"role": "user", "content": "a"}, turn], None, generate=False)
        except InvalidRequest:
            return ""


def flat_content(content: Any) -> str:
    """Returns the text of a message's content: a string, `None`, or a list of text parts. Raises
    `InvalidRequest` for other content.
    """
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [part.get("text") if isinstance(part, dict) else None for part in content]
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
        value,
        ensure_ascii=ensure_ascii,
        indent=indent,
        separators=separators,
        sort_keys=sort_keys,
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
        """`added` are the tokenizer's added tokens, `marks` those of the model's parsers."""
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
        """Returns a copy of a message whose text cannot be read as control text. Raises
        `InvalidRequest` for an invalid message.
        """
        if not isinstance(message, dict):
            raise InvalidRequest("Each message must be an object.", param="messages")
        return self.within({**message, "content": flat_content(message.get("content"))})

    def within(self, message: Message) -> Message:
        """Returns the same copy for an engine that renders the message itself: absent keys stay
        absent. Parts are joined, because a forged mark may be spread over two.
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
        """Returns a copy of tools whose text cannot be read as control text. Raises
        `InvalidRequest` for tools that are nested too deeply.
        """
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
