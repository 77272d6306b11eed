"""Converts messages and tools to token ids and sampled ids to turns, for one model.

Owns the tokenizer, the chat template, the stop tokens and the parser of a sampled turn. Promises
that sampled ids are never encoded again: after a turn only the delta up to the next turn is
rendered, so `prompt + sampled + bridge` is the conversation that the engine sees and the trainer
trains on. Control tokens inside message text (a tool reply that contains `<|im_end|>`) are broken
up and stay text. Must not know torch, engines or its callers. Uses `tokenizers` and Jinja, which
load in 0.1 s.
"""

import copy
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from tokenizers import AddedToken, Tokenizer

from app.domain.errors import InvalidRequest
from app.rendering.chat_template import ChatTemplate, Message, flat_content
from app.rendering.hermes import ParsedCalls, ParsedToolCall, parse_tool_calls
from app.rendering.model_files import (
    ModelFiles,
    context_length,
    special_tokens,
    template_source,
)

THREAD_FROM: Final = 65_536
"""Characters from which a caller with an event loop encodes on a thread."""
_PARSERS: Final = {"hermes": parse_tool_calls}
_THINK: Final = "<think>"
_THINK_END: Final = "</think>"
_MARKS: Final = (_THINK, _THINK_END, "<tool_call>", "</tool_call>")
_SENTINEL: Final = "Qx7sentinelZ"
_ZERO_WIDTH_SPACE: Final = "\u200b"


@dataclass(frozen=True, slots=True)
class ParsedTurn:
    """An assistant turn, parsed."""

    content: str
    reasoning: str
    reasoning_tokens: int
    tool_calls: list[ParsedToolCall]
    parse_error: str | None
    """A sentence for the model if a call is malformed; the turn has no calls then, and its whole
    text is content.
    """


class Renderer:
    def __init__(
        self,
        path: str,
        *,
        tool_parser: str,
        chat_template: Path | None,
        reasoning_effort: str | None = None,
    ) -> None:
        """Loads the files of `path`, a model directory or hub id. A `reasoning_effort` of `None`
        means the model's default. Raises `ValueError` for an unusable model.
        """
        files = ModelFiles(path)
        self._parse_calls = _PARSERS[tool_parser]
        self._tokenizer = Tokenizer.from_file(str(files.required("tokenizer.json")))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        config = files.json("tokenizer_config.json")
        names = special_tokens(config, files.json("special_tokens_map.json"))
        source = template_source(files, config, chat_template)
        self._template = ChatTemplate(source, names, reasoning_effort=reasoning_effort)
        added: dict[int, AddedToken] = self._tokenizer.get_added_tokens_decoder()
        self._hidden_ids = {i for i, t in added.items() if t.special and t.content not in _MARKS}
        self._control_texts = tuple(added[i].content for i in sorted(self._hidden_ids))
        self._think_end_id: int | None = self._tokenizer.token_to_id(_THINK_END)
        self._end_of_turn_id = self._find_end_of_turn()
        self.context_length = context_length(files.json("config.json"))
        self.stop_token_ids = tuple(sorted(self._stop_ids(files, names)))
        self.starts_thinking = _opens_thinking(self._template)

    def with_variables(self, variables: dict[str, Any]) -> Self:
        """Returns a renderer whose chat template gets these variables in place of an effort's."""
        other = copy.copy(self)
        template = other._template = self._template.with_variables(variables)  # noqa: SLF001 - its own class
        other.starts_thinking = _opens_thinking(template)
        return other

    def prompt_ids(self, messages: list[Message], tools: list[Message] | None) -> list[int]:
        """Returns the token ids of a conversation, up to and including the opening of the
        assistant's turn.

        Raises `InvalidRequest` if the template refuses the messages.
        """
        return self.encode(self.prompt_text(messages, tools))

    def prompt_text(self, messages: list[Message], tools: list[Message] | None) -> str:
        """Returns the text that `prompt_ids` encodes. Raises `InvalidRequest` likewise."""
        return self._template.render(self._safe(messages), tools, generate=True)

    def turn_ids(self, messages: list[Message], tools: list[Message] | None) -> list[int]:
        """Returns the ids of the last message, an assistant's turn, as a model would sample them
        after `prompt_ids` of the messages before it: up to and including its end of turn.

        Raises `InvalidRequest` if the template refuses the messages, or does not render the turn
        directly after its opening.
        """
        history = self._safe(messages)
        opening = self._template.render(history[:-1], tools, generate=True)
        conversation = self._template.render(history, tools, generate=False)
        is_prefix = conversation.startswith(opening)
        ids = self.encode(conversation[len(opening) :]) if is_prefix else []
        if self._end_of_turn_id not in ids:
            raise InvalidRequest(
                "The model's chat template does not render this turn directly after its opening.",
                param="messages",
            )
        return ids[: len(ids) - ids[::-1].index(self._end_of_turn_id)]

    def reread_call(
        self, messages: list[Message], tools: list[Message], *, name: str, arguments: Message
    ) -> list[ParsedToolCall]:
        """Renders a turn that calls one tool, and returns the calls that the parser reads from
        it.
        """
        function = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
        call = {"id": "call00000", "type": "function", "function": function}
        turn: Message = {"role": "assistant", "content": "", "tool_calls": [call]}
        history = self._safe(messages)
        before = self._template.render(history, tools, generate=False)
        after = self._template.render([*history, turn], tools, generate=False)
        return self.parse(self.encode(after[len(before) :])).tool_calls

    def bridge_ids(
        self,
        messages: list[Message],
        tool_messages: list[Message],
        *,
        tools: list[Message] | None,
        ended: bool = True,
    ) -> list[int]:
        """Renders the tokens between a sampled turn and the next: turn end, tool replies, opening.

        `messages` may or may not already contain the sampled turn as its last message. `ended`
        means that the turn's last sampled id was a stop token; else the end of turn is part of the
        bridge. A sentinel replaces the sampled turn's text, so its tokens have no influence.
        """
        history = self._safe(messages)
        last = history.pop() if history and history[-1]["role"] == "assistant" else {}
        replies = self._safe(tool_messages)
        turn: Message = {"role": "assistant", "content": _SENTINEL}
        try:
            text = self._template.render([*history, turn, *replies], tools, generate=True)
        except InvalidRequest:  # some templates look up the call of each reply
            turn["tool_calls"] = last.get("tool_calls") or _dummy_calls(replies)
            text = self._template.render([*history, turn, *replies], tools, generate=True)
        ids = self.encode(text.rpartition(_SENTINEL)[2])
        end = ids.index(self._end_of_turn_id)
        return ids[end + 1 :] if ended else ids[end:]

    def parse(
        self,
        token_ids: list[int] | tuple[int, ...],
        *,
        with_tools: bool = True,
        until: int | None = None,
    ) -> ParsedTurn:
        """Parses a sampled turn, or the first `until` characters of its text. Never raises on a
        model's text. Without tools nothing in the text is a call: all of it is content.
        """
        text = self.decode(token_ids)[:until]
        opened = self.starts_thinking or text.lstrip().startswith(_THINK)
        reasoning, answer = "", text
        if _THINK_END in text:
            reasoning, _, answer = text.partition(_THINK_END)
        elif opened:
            reasoning, answer = text, ""
        reasoning_tokens = self._reasoning_tokens(token_ids, reasoning)
        parsed = self._parse_calls(answer) if with_tools else ParsedCalls(answer.strip(), [], None)
        return ParsedTurn(
            content=parsed.content,
            reasoning=reasoning.strip().removeprefix(_THINK).strip(),
            reasoning_tokens=reasoning_tokens,
            tool_calls=parsed.tool_calls,
            parse_error=parsed.parse_error,
        )

    def decode(self, token_ids: list[int] | tuple[int, ...]) -> str:
        """Returns the text without control tokens, but with tool-call and reasoning marks."""
        visible = [i for i in token_ids if i not in self._hidden_ids]
        text: str = self._tokenizer.decode(visible, skip_special_tokens=False)
        return text

    def count_tokens(self, text: str) -> int:
        return len(self.encode(text))

    def encode(self, text: str) -> list[int]:
        """Returns the ids of a text, about 2 MB a second. A long one leaves the interpreter lock
        to other threads meanwhile, which the tokenizer's method for single texts does not.
        """
        if len(text) < THREAD_FROM:
            ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
            return ids
        [encoding] = self._tokenizer.encode_batch_fast([text], add_special_tokens=False)
        return list(encoding.ids)

    def _safe(self, messages: list[Message]) -> list[Message]:
        """Returns copies whose text cannot forge a turn: control tokens get a zero-width space
        inside.
        """
        copies = []
        for message in messages:
            if not isinstance(message, dict):
                raise InvalidRequest("Each message must be an object.", param="messages")
            content = flat_content(message.get("content"))
            for control in self._control_texts:
                if control in content:
                    broken = control[:1] + _ZERO_WIDTH_SPACE + control[1:]
                    content = content.replace(control, broken)
            copies.append({**message, "content": content})
        return copies

    def _reasoning_tokens(self, token_ids: list[int] | tuple[int, ...], reasoning: str) -> int:
        if not reasoning:
            return 0
        if self._think_end_id is not None and self._think_end_id in token_ids:
            return token_ids.index(self._think_end_id) + 1
        return min(len(token_ids), self.count_tokens(reasoning))

    def _find_end_of_turn(self) -> int:
        turns = [_user("a"), {"role": "assistant", "content": _SENTINEL}, _user("b")]
        tail = self._template.render(turns, None, generate=False).rpartition(_SENTINEL)[2]
        end = next((i for i in self.encode(tail) if i in self._hidden_ids), None)
        if end is None:
            raise ValueError("the chat template ends an assistant turn with no special token")
        return end

    def _stop_ids(self, files: ModelFiles, names: dict[str, str]) -> set[int]:
        declared = files.json("generation_config.json").get("eos_token_id")
        ids = {self._end_of_turn_id, self._tokenizer.token_to_id(names.get("eos_token", ""))}
        ids.update(declared if isinstance(declared, list) else [declared])
        return {i for i in ids if isinstance(i, int)}


def call_fault(content: str) -> str | None:
    """Returns the sentence for the model about the malformed tool call in an answer's content;
    `None` if there is none. Reasoning in front of the answer is skipped.
    """
    _, mark, answer = content.partition(_THINK_END)
    return parse_tool_calls(answer if mark else content).parse_error


def _opens_thinking(template: ChatTemplate) -> bool:
    opening = template.render([_user("a")], None, generate=True)
    return opening.rstrip().endswith(_THINK)


def _user(text: str) -> Message:
    return {"role": "user", "content": text}


def _dummy_calls(replies: list[Message]) -> list[Message]:
    return [
        {
            "id": reply.get("tool_call_id", "call00000"),
            "type": "function",
            "function": {"name": reply.get("name", "tool"), "arguments": "{}"},
        }
        for reply in replies
        if reply["role"] == "tool"
    ]
