"""One chat request under way: which of its sampled tokens count, and what they say.

Owns stop strings, what is reasoning and what is content, and what is certain while tokens still
come. Promises that a streamed answer says what a whole one says: both are read from the tokens up
to the one that completed a stop string, and what was certain earlier begins the content. Must not
know response shapes or chunks.
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
    """Sampled tokens that count. The sequence may be ahead."""
    text: str = ""
    """Text of these tokens."""
    cut: int | None = None
    """Index of the first stop string in the text."""

    def hear(self, count: int) -> None:
        """So many tokens are sampled by now. Once there is a cut, no more may be heard."""
        self.count = count
        self.text = self.renderer.decode(self.token_ids)
        found = [at for stop in self.body.stop or [] if (at := self.text.find(stop)) >= 0]
        self.cut = min(found, default=None)

    @property
    def token_ids(self) -> list[int]:
        start = self.sequence.prompt_length
        return self.sequence.tokens[start : start + self.count]

    def certain(self) -> str:
        """The start of the content that no later token can turn into something else. Before a cut
        only.
        """
        text = self.text.rstrip(_UNFINISHED_CHARACTER)
        text = text[: len(text) - _begun(text, (*_MARKS, *(self.body.stop or ())))]
        content = self._spoken(text).lstrip()
        if self._wants_calls:
            content = content.partition(CALL_START)[0]
        return content.rstrip()

    def answer(self) -> Answer:
        """Parses all tokens. A broken tool call is content, as in vLLM."""
        text = self.text[: self.cut]
        parsed = self.renderer.parse(self.token_ids, until=self.cut)
        content = self._spoken(text)
        calls: list[ParsedToolCall] = []
        if self._wants_calls and self.cut is None and parsed.parse_error is None:
            calls = parsed.tool_calls
        if calls:
            content = content.partition(CALL_START)[0]
        opened = self._opened(text)
        return Answer(
            content=content.strip(),
            reasoning=parsed.reasoning if opened else "",
            reasoning_tokens=parsed.reasoning_tokens if opened else 0,
            tool_calls=calls[: 1 if self.body.parallel_tool_calls is False else None],
        )

    @property
    def _wants_calls(self) -> bool:
        return bool(self.body.tools) and self.body.tool_choice != "none"

    def _opened(self, text: str) -> bool:
        """Returns true if the turn begins with reasoning. An end marker without a beginning comes
        too late to retract streamed content, and stays content.
        """
        return self.renderer.starts_thinking or text.lstrip().startswith(_THINK)

    def _spoken(self, text: str) -> str:
        return text.partition(_THINK_END)[2] if self._opened(text) else text


def _begun(text: str, marks: Iterable[str]) -> int:
    """Characters at the end of a text that may be the beginning of a mark."""
    return max(
        (
            length
            for mark in marks
            for length in range(1, len(mark))
            if text.endswith(mark[:length])
        ),
        default=0,
    )
