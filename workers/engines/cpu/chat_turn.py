"""The state of one chat request: its counted tokens and their interpretation.

Owns stop strings, the split into reasoning and content, and the part of the content that is final
during sampling. Promises that a streamed answer equals an unstreamed one: both are parsed from the
tokens up to the one that completes a stop string, and final content is a prefix of the content.
Must not know response shapes or chunks.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from app.rendering.hermes import CALL_START, ParsedToolCall
from app.rendering.renderer import Renderer
from workers.engines.cpu.bodies import ChatBody
from workers.engines.cpu.sequence import Sequence

_THINK: Final = "<think>"
_THINK_END: Final = "</think>"
_MARKS: Final = (CALL_START, _THINK, _THINK_END)
_UNFINISHED_CHARACTER: Final = "\ufffd"


@dataclass(frozen=True, slots=True)
class Answer:
    content: str
    """Text without reasoning and without tool calls."""
    reasoning: str
    reasoning_tokens: int
    tool_calls: list[ParsedToolCall]


@dataclass(slots=True)
class ChatTurn:
    body: ChatBody
    sequence: Sequence
    renderer: Renderer
    envelope: dict[str, Any] = field(default_factory=dict)
    count: int = 0
    """Number of sampled tokens that belong to the turn. The sequence may contain more."""
    text: str = ""
    """Text of these tokens."""
    cut: int | None = None
    """Index of the first stop string in the text, if any."""

    def advance_to(self, count: int) -> None:
        """Extends the turn to `count` tokens. Must not be called after `cut` is set."""
        self.count = count
        self.text = self.renderer.decode(self.token_ids)
        indices = [index for stop in self.body.stop or [] if (index := self.text.find(stop)) >= 0]
        self.cut = min(indices, default=None)

    @property
    def token_ids(self) -> list[int]:
        start = self.sequence.prompt_length
        return self.sequence.tokens[start : start + self.count]

    def final_content(self) -> str:
        """Returns the prefix of the content that no later token can change. Valid only while `cut`
        is `None`.
        """
        text = self.text.rstrip(_UNFINISHED_CHARACTER)
        text = text[: len(text) - _partial_mark_length(text, (*_MARKS, *(self.body.stop or ())))]
        content = self._after_reasoning(text).lstrip()
        if self._parses_calls:
            content = content.partition(CALL_START)[0]
        return content.rstrip()

    def answer(self) -> Answer:
        """Parses all tokens. A malformed tool call is content, as in vLLM."""
        text = self.text[: self.cut]
        parsed = self.renderer.parse(self.token_ids, until=self.cut)
        content = self._after_reasoning(text)
        calls = parsed.tool_calls if self._parses_calls and self.cut is None else []
        if calls:
            content = content.partition(CALL_START)[0]
        has_reasoning = self._starts_with_reasoning(text)
        return Answer(
            content=content.strip(),
            reasoning=parsed.reasoning if has_reasoning else "",
            reasoning_tokens=parsed.reasoning_tokens if has_reasoning else 0,
            tool_calls=calls[: 1 if self.body.parallel_tool_calls is False else None],
        )

    @property
    def _parses_calls(self) -> bool:
        return bool(self.body.tools) and self.body.tool_choice != "none"

    def _starts_with_reasoning(self, text: str) -> bool:
        """Returns true if the turn begins with reasoning. An end marker without a start marker
        stays content, because the content before it may already be streamed.
        """
        return self.renderer.starts_thinking or text.lstrip().startswith(_THINK)

    def _after_reasoning(self, text: str) -> str:
        return text.partition(_THINK_END)[2] if self._starts_with_reasoning(text) else text


def _partial_mark_length(text: str, marks: Iterable[str]) -> int:
    """Returns the length of the longest text suffix that is a proper prefix of a mark."""
    return max(
        (
            length
            for mark in marks
            for length in range(1, len(mark))
            if text.endswith(mark[:length])
        ),
        default=0,
    )
