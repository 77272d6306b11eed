"""The texts in which thinking families separate reasoning from an answer."""

from dataclasses import dataclass
from typing import Final, Protocol

from app.rollouts.marked_formats import (
    CHANNEL,
    MARKS,
    MESSAGE,
    START,
    HarmonyMessage,
    harmony_messages,
)


@dataclass(frozen=True, slots=True)
class SplitTurn:
    reasoning: str
    answer: str
    cut: str | None = None
    """The reasoning as written in the turn, marks included; `None` if there is none."""


class Reasoning(Protocol):
    @property
    def name(self) -> str:
        """The name of its parser in vLLM."""
        ...

    @property
    def start(self) -> str:
        """The text that opens reasoning."""
        ...

    @property
    def marks(self) -> tuple[str, ...]:
        """The texts that a decoder must show even if they are control tokens."""
        ...

    def opened_by(self, prompt: str) -> bool:
        """Returns whether a prompt ends where reasoning begins."""
        ...

    def split(self, text: str, *, opened: bool) -> SplitTurn:
        """Splits a turn. `opened` means that the prompt has already opened reasoning."""
        ...


class MarkedReasoning:
    """Reasoning at the beginning of a turn, from a start mark to an end mark. An end mark alone is
    content, because the content before it may already be streamed.
    """

    def __init__(self, name: str, *, start: str, end: str, label: str = "") -> None:
        self.name = name
        self.start = start
        self.marks = (start, end)
        self._end = end
        self._label = label
        """A word of the format after the start mark."""

    def opened_by(self, prompt: str) -> bool:
        return prompt.rstrip().removesuffix(self._label).endswith(self.start)

    def split(self, text: str, *, opened: bool) -> SplitTurn:
        if not opened and not text.lstrip().startswith(self.start):
            return SplitTurn("", text)
        reasoning, end, answer = text.partition(self._end)
        shown = reasoning.strip().removeprefix(self.start)
        if not end and self._label.startswith(shown):  # it may become the label
            return SplitTurn("", answer, reasoning)
        return SplitTurn(shown.removeprefix(self._label).strip(), answer, reasoning + end)


class HarmonyChannels:
    """The channels of gpt-oss: `analysis` is reasoning, calls stay in the answer for the tool-call
    format, other text is content.
    """

    name: Final = "openai_gptoss"
    start: Final = f"{CHANNEL}analysis{MESSAGE}"
    marks: Final = MARKS

    def opened_by(self, prompt: str) -> bool:
        return prompt.rstrip().endswith(self.start)

    def split(self, text: str, *, opened: bool) -> SplitTurn:
        del opened  # no prompt opens the channel
        if MESSAGE not in text and START not in text and CHANNEL not in text:
            return SplitTurn("", text)
        reasoning: list[HarmonyMessage] = []
        answer = []
        for message in harmony_messages(text):
            if message.recipient is not None:
                answer.append(message.text)
            elif message.channel == "analysis":
                reasoning.append(message)
            else:
                answer.append(message.body)
        thought = "\n".join(message.body.strip() for message in reasoning)
        return SplitTurn(thought, "".join(answer), thought or None)


THINK: Final = MarkedReasoning("qwen3", start="<think>", end="</think>")
"""DeepSeek-R1, Qwen3, GLM-4.5, SmolLM3 and others."""
MISTRAL: Final = MarkedReasoning("mistral", start="[THINK]", end="[/THINK]")
GEMMA4: Final = MarkedReasoning("gemma4", start="<|channel>", end="<channel|>", label="thought")
GRANITE: Final = MarkedReasoning(
    "granite", start="Here is my thought process:", end="Here is my response:"
)
HARMONY: Final = HarmonyChannels()
ALL_REASONING: Final[tuple[Reasoning, ...]] = (THINK, MISTRAL, GEMMA4, GRANITE, HARMONY)


def reasoning_of(template: str, tool_format: str) -> Reasoning:
    """Returns the reasoning of the family that a chat template belongs to."""
    if tool_format == "openai" or HARMONY.start in template:
        return HARMONY
    for reasoning in (MISTRAL, GEMMA4, GRANITE):
        if reasoning.start in template:
            return reasoning
    return THINK
