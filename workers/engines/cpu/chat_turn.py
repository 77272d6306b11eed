"""The state of one chat request: its counted tokens and their interpretation.

Owns stop strings, the split into reasoning and content, and the part of the content that is final
during sampling. Promises that a streamed answer equals an unstreamed one: both are parsed from the
tokens up to the one that completes a stop string, and final content is a prefix of the content.
Must not know response shapes or chunks.
"""

from dataclasses import dataclass, field
from typing import Any, Final

from app.rendering.formats.tool_format import ParsedToolCall, partial_mark_length
from app.rendering.renderer import Renderer
from app.rendering.turn_parser import OPENING
from workers.engines.cpu.bodies import ChatBody
from workers.engines.cpu.sequence import Sequence

_UNFINISHED_CHARACTER: Final = "\ufffd"


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
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
        text, parser = self.text.rstrip(_UNFINISHED_CHARACTER), self.renderer.parser
        marks = (*parser.reasoning.marks, *(self.body.stop or ()))
        text = text[: len(text) - partial_mark_length(text, marks)]
        content = parser.split(text, after=self._prompt).answer
        if self._parses_calls:
            content = content[: parser.tool_format.final_length(content)]
        return content.strip()

    def answer(self) -> ParsedAnswer:
        """Parses all tokens. A malformed tool call is content, as in vLLM."""
        parsed = self.renderer.parse(
            self.token_ids,
            tools=self.body.tools or (),
            with_tools=self._parses_calls and self.cut is None,
            after=self._prompt,
            until=self.cut,
        )
        return ParsedAnswer(
            content=parsed.content,
            reasoning=parsed.reasoning,
            reasoning_tokens=parsed.reasoning_tokens,
            tool_calls=parsed.tool_calls[: 1 if self.body.parallel_tool_calls is False else None],
        )

    @property
    def _parses_calls(self) -> bool:
        return bool(self.body.tools) and self.body.tool_choice != "none"

    @property
    def _prompt(self) -> list[int]:
        """The end of the prompt, which may open reasoning."""
        length = self.sequence.prompt_length
        return self.sequence.tokens[max(0, length - OPENING) : length]
