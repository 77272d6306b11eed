"""Compiles a model's chat template as transformers does, but without importing torch.

Owns the Jinja environment and the format in which a template receives messages. Promises the same
text as `apply_chat_template` of transformers 5.23 (`utils/chat_template_utils.py`) for the same
messages. Templates come with model files and are untrusted: they run in Jinja's immutable sandbox.
Must not know token ids.
"""

import copy
import hashlib
import json
from datetime import UTC, datetime
from typing import Any, Final, Self

import jinja2
from jinja2.ext import Extension, loopcontrols
from jinja2.nodes import Node
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment
from typing_extensions import override

from app.domain.errors import InvalidRequest
from app.domain.methods.reasoning_efforts import template_variables

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
