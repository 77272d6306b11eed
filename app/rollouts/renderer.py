"""Converts messages and tools to token ids and sampled ids to turns, for one model.

The context of each turn is what a chat renders of the conversation; sampled ids are trained as they
were sampled. Control text inside messages and tools (a tool reply that contains `<|im_end|>`) is
broken up and stays text.
"""

import asyncio
import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from pathlib import Path
from typing import Any, Final, Self, TypeVar

import structlog

from app.kit.errors import InvalidRequest
from app.models.chat import check_characters, check_messages, check_tokens
from app.models.models import BaseModelSpec, ToolParser, ToolParserChoice
from app.rollouts.chat_template import (
    THREAD_FROM,
    BridgeRenderer,
    ChatTemplate,
    ControlText,
    Message,
    ModelFiles,
    ModelTokens,
    context_length,
    special_tokens,
    template_source,
)
from app.rollouts.marked_formats import reasoning_of
from app.rollouts.tool_formats import ParsedToolCall
from app.rollouts.turns import TurnFormats, choose_formats, written_calls


class Renderer:
    def __init__(
        self,
        path: str,
        *,
        tool_parser: ToolParserChoice,
        chat_template: Path | None,
        reasoning_effort: str | None = None,
        download: bool = True,
    ) -> None:
        """Loads the files of `path`, a model directory or hub id. A `reasoning_effort` of `None`
        means the model's default. Raises `ValueError` for an unusable model, and without `download`
        for one whose files are not on this machine.
        """
        files = ModelFiles(path, download=download)
        tokens = ModelTokens(files.required("tokenizer.json"))
        config = files.json("tokenizer_config.json")
        names = special_tokens(config, files.json("special_tokens_map.json"))
        source = template_source(files, config, chat_template)
        self.template = ChatTemplate(source, names, reasoning_effort=reasoning_effort)
        try:
            chosen = choose_formats(self.template, tokens, tool_parser)
            declared = _declared_ends(files, tokens, names)
            self._bridges = BridgeRenderer(self.template, tokens, declared)
        except InvalidRequest as error:
            raise ValueError(f"the chat template cannot be used: {error.message}") from error
        self.parser = chosen.parser
        self.tools_fault = chosen.fault or self._bridges.fault
        """The reason why the model works without tools only; `None` if it works with them."""
        self.reasoning = chosen.parser.reasoning_in(source)
        """vLLM's name of the format of the model's reasoning; `None` if its chat template has none.
        """
        self._tokens = chosen.parser.tokens
        self.control_text = ControlText(tokens.added, template=source, marks=chosen.parser.marks)
        self.context_length = context_length(files.json("config.json"))
        self.stop_token_ids = tuple(sorted(declared | self._bridges.end_ids))
        self.drops_thoughts_after = _thought_droppers(self)
        """The roles of messages behind which the template leaves out the thoughts of earlier turns,
        even if they are sent back.
        """

    @property
    def tool_parser(self) -> ToolParser:
        return self.parser.tool_format.name

    @property
    def last_written_id(self) -> int:
        """The largest number of a token that a text may have; control text that the template does
        not write is broken up.
        """
        return max(
            number
            for token, number in self._tokens.vocabulary.items()
            if number not in self._tokens.control_ids or token in self.template.source
        )

    @property
    def end_of_turn_id(self) -> int:
        return self._bridges.end_of_turn_id

    def with_variables(self, variables: dict[str, Any]) -> Self:
        other = copy.copy(self)
        template = self.template.with_variables(variables)
        prompt = template.render([{"role": "user", "content": "a"}], None, generate=True)
        other.template = template
        other._bridges = self._bridges.with_template(template)  # noqa: SLF001 - its own class
        other.parser = self.parser.after_prompt(self.encode(prompt))
        return other

    def prompt_ids(self, messages: list[Message], tools: list[Message] | None) -> list[int]:
        """Includes the opening of the assistant's turn. Raises `InvalidRequest`."""
        return self.encode(self.prompt_text(messages, tools))

    def prompt_text(self, messages: list[Message], tools: list[Message] | None) -> str:
        offered = self.control_text.tools(tools)
        return self.template.render(self._safe(messages), offered, generate=True)

    def unseen(self, messages: list[Message], tools: list[Message] | None) -> list[int]:
        return self.template.unseen(self._safe(messages), self.control_text.tools(tools))

    def turn_ids(self, messages: list[Message], tools: list[Message] | None) -> list[int]:
        """Returns the ids of the last message as a model would sample them after `prompt_ids` of
        the messages before it, with the token that ends such a turn. Raises `InvalidRequest` if the
        template refuses the messages, or does not render the turn directly after its opening.
        """
        history = self._safe(messages)
        offered = self.control_text.tools(tools)
        opening = self.template.render(history[:-1], offered, generate=True)
        conversation = self.template.render(history, offered, generate=False)
        is_prefix = conversation.startswith(opening)
        ids = self.encode(conversation[len(opening) :]) if is_prefix else []
        body = list(takewhile(lambda number: number not in self.stop_token_ids, ids))
        shown = next(iter(ids[len(body) :]), None)
        end = self._bridges.end_of(history[-1], shown=shown)
        if is_prefix and end is not None:
            return [*body, end]
        raise InvalidRequest(
            "The model's chat template does not render this turn directly after its opening.",
            param="messages",
        )

    def reread_call(
        self, messages: list[Message], tools: list[Message], *, name: str, arguments: Message
    ) -> list[ParsedToolCall]:
        history, offered = self._safe(messages), self.control_text.tools(tools) or []
        return written_calls(
            self.template, self.parser, history, offered, name=name, arguments=arguments
        )

    def context_ids(
        self,
        messages: list[Message],
        replies: list[Message],
        *,
        tools: list[Message] | None,
        row: Sequence[int],
    ) -> list[int]:
        """Returns the ids of the turn that follows the replies to the last of `messages`, as a chat
        renders them. A template that does not show such a conversation (two calls at once, a reply
        to a call that cannot be parsed) gets `row`, the ids of the last turn and of all before it,
        continued by the bridge. Raises `InvalidRequest` if it renders that neither.
        """
        if self._bridges.shows(messages[-1], replies):
            try:
                return self.prompt_ids([*messages, *replies], tools)
            except InvalidRequest:
                pass  # refused by the template: the bridge shows the replies alone
        return [*row, *self.bridge_ids(messages, replies, tools=tools, sampled=row)]

    def bridge_ids(
        self,
        messages: list[Message],
        replies: list[Message],
        *,
        tools: list[Message] | None,
        sampled: Sequence[int] | None = None,
    ) -> list[int]:
        """Renders the tokens between a sampled turn and the next: turn end, replies, opening.

        `messages` may contain the sampled turn as its last message; its calls name the replies.
        `sampled` are the turn's ids, `None` for a usual end; the bridge ends a cut turn.
        """
        last = messages[-1] if messages and messages[-1].get("role") == "assistant" else {}
        turn = self.control_text.broken(last) if last else {}
        offered = self.control_text.tools(tools)
        bridge = self._bridges.bridge(turn, self._safe(replies), offered)
        return bridge.after(sampled, self.stop_token_ids)

    def decode(self, token_ids: Sequence[int]) -> str:
        return self._tokens.decode(token_ids)

    def pieces(self, token_ids: Sequence[int], most: int) -> list[str]:
        return self._tokens.pieces(token_ids, most)

    def count_tokens(self, text: str) -> int:
        return len(self.encode(text))

    def encode(self, text: str) -> list[int]:
        return self._tokens.encode(text)

    def _safe(self, messages: list[Message]) -> list[Message]:
        return [self.control_text.broken(message) for message in messages]


def _declared_ends(files: ModelFiles, tokens: ModelTokens, names: dict[str, str]) -> frozenset[int]:
    declared = files.json("generation_config.json").get("eos_token_id")
    ids = [tokens.id_of(names.get("eos_token", ""))]
    ids += declared if isinstance(declared, list) else [declared]
    return frozenset(number for number in ids if isinstance(number, int))


_THOUGHT: Final = "Zq5thought"
_CALL: Final[Message] = {
    "id": "call00000", "type": "function", "function": {"name": "probe", "arguments": "{}"},
}  # fmt: skip
_FOLLOWING: Final[tuple[tuple[Message, Message], ...]] = (
    (
        {"content": "", "tool_calls": [_CALL]},
        {"role": "tool", "tool_call_id": _CALL["id"], "name": "probe", "content": "b"},
    ),
    ({"content": "b"}, {"role": "user", "content": "c"}),
)
"""A turn with what answers it."""


def _thought_droppers(renderer: Renderer) -> tuple[str, ...]:
    """Measured on the template; empty for a model without reasoning."""
    if renderer.reasoning is None:
        return ()
    dropping = []
    for turn, reply in _FOLLOWING:
        thinking = {"role": "assistant", "reasoning_content": _THOUGHT, **turn}
        question = {"role": "user", "content": "a"}
        try:
            shown = _THOUGHT in renderer.prompt_text([question, thinking, reply], None)
        except InvalidRequest:
            continue
        if not shown:
            dropping.append(reply["role"])
    return tuple(dropping)


Result = TypeVar("Result")


async def off_loop_if_long(characters: int, encode: Callable[[], Result]) -> Result:
    return encode() if characters < THREAD_FROM else await asyncio.to_thread(encode)


async def fitting_prompt_ids(
    renderer: Renderer, messages: list[Message], tools: list[Message] | None, *, context_length: int
) -> list[int]:
    """Raises `InvalidRequest`, also for a prompt that leaves no token for an answer."""
    check_messages(messages, context_length)
    text = renderer.prompt_text(messages, tools)
    check_characters(len(text), context_length)
    ids = await off_loop_if_long(len(text), lambda: renderer.encode(text))
    check_tokens(len(ids), context_length)
    return ids


log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class ToolUse:
    formats: TurnFormats
    fault: str | None
    control_text: ControlText | None = None
    template: ChatTemplate | None = None

    @property
    def parser(self) -> ToolParser:
        return self.formats.calls


@lru_cache(maxsize=64)
def tool_use(spec: BaseModelSpec, *, download: bool = False) -> ToolUse:
    """Reads the model's files, slowly the first time. A model that cannot be read here is assumed
    to work with tools; else its first run fails. A request must not wait for a download.
    """
    try:
        renderer = Renderer(
            spec.path,
            tool_parser=spec.tool_parser,
            chat_template=spec.chat_template,
            download=download,
        )
    except (OSError, ValueError) as error:
        log.warning("the model's use of tools is not known", model=spec.name, error=str(error))
        calls: ToolParser = "hermes" if spec.tool_parser == "auto" else spec.tool_parser
        return ToolUse(TurnFormats(calls, reasoning_of("", calls)), None)
    formats = TurnFormats(renderer.tool_parser, renderer.parser.reasoning)
    return ToolUse(formats, renderer.tools_fault, renderer.control_text, renderer.template)
