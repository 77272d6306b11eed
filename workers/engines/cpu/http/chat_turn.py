"""The state of one chat request: its counted tokens and their interpretation.

Owns the number of sampled tokens that belong to the turn. Must not know response shapes or chunks.
"""

from dataclasses import dataclass, field
from typing import Any

from app.rendering.renderer import Renderer
from app.rendering.turn_reading import ParsedAnswer, TurnOptions, TurnReading
from workers.engines.cpu.batching.sequence import Sequence
from workers.engines.cpu.http.bodies import ChatBody


@dataclass(slots=True)
class ChatTurn:
    body: ChatBody
    sequence: Sequence
    renderer: Renderer
    envelope: dict[str, Any] = field(default_factory=dict)
    count: int = 0
    """Number of sampled tokens that belong to the turn. The sequence may contain more."""
    reading: TurnReading = field(init=False)

    def __post_init__(self) -> None:
        prompt = self.sequence.tokens[: self.sequence.prompt_length]
        self.reading = TurnReading(self.renderer.parser, _options(self.body), prompt=prompt)

    def advance_to(self, count: int) -> None:
        """Extends the turn to `count` tokens. Must not be called after `cut` is set."""
        self.count = count
        self.reading.show(self.renderer.decode(self.token_ids))

    @property
    def cut(self) -> int | None:
        """Index of the first stop string in the text, if any."""
        return self.reading.cut

    @property
    def token_ids(self) -> list[int]:
        start = self.sequence.prompt_length
        return self.sequence.tokens[start : start + self.count]

    def answer(self) -> ParsedAnswer:
        """Parses all tokens. A malformed tool call is content, as in vLLM with the parsers of
        `app.rendering`.
        """
        return self.reading.answer(self.token_ids)


def _options(body: ChatBody) -> TurnOptions:
    return TurnOptions(
        tools=body.tools or (),
        reads_calls=bool(body.tools) and body.tool_choice != "none",
        one_call=body.parallel_tool_calls is False,
        stop=tuple(body.stop or ()),
    )
