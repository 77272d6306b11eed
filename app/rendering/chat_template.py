"""Compiles a model's chat template as transformers does, but without importing torch.

Owns the Jinja environment and the form in which a template receives messages. Promises the same
text as `apply_chat_template` of transformers 5.23 (`utils/chat_template_utils.py`) for the same
messages. Templates come with model files and are untrusted: they run in Jinja's immutable sandbox.
Must not know token ids.
"""

import copy
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
        self._template = environment.from_string(source)
        self._names = special_tokens
        self._variables = {**special_tokens, **template_variables(reasoning_effort)}
        self._arguments_as_text = self._takes_argument_text()

    def with_variables(self, variables: dict[str, Any]) -> Self:
        """Returns the template with these variables in place of those of a reasoning effort."""
        other = copy.copy(self)
        other._variables = {**self._names, **variables}  # noqa: SLF001 - its own class
        return other

    def render(
        self, messages: list[Message], tools: list[Message] | None, *, generate: bool
    ) -> str:
        """Renders the conversation to text; `generate` appends the opening of the assistant's turn.

        Raises `InvalidRequest` with the template's own message if it refuses the messages.
        """
        try:
            return self._template.render(
                messages=[self._prepared(message) for message in messages],
                tools=tools or None,
                documents=None,
                add_generation_prompt=generate,
                **self._variables,
            )
        except (jinja2.TemplateError, TypeError) as error:
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
        return prepared

    def _takes_argument_text(self) -> bool:
        """Returns true if the template prints argument strings unchanged; other templates expect
        objects and would quote a string again.
        """
        self._arguments_as_text = True
        call = {"type": "function", "function": {"name": "probe", "arguments": _PROBE}}
        messages: list[Message] = [
            {"role": "user", "content": "a"},
            {"role": "assistant", "content": "", "tool_calls": [{"id": "call00000", **call}]},
        ]
        try:
            return _PROBE in self.render(messages, None, generate=False)
        except InvalidRequest:
            return False


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
