"""Turns with reasoning of each thinking family, as vLLM's own reasoning parsers read them.

Every case is written in the marks of a family. vLLM's readings are recorded, like those of calls in
`vllm_parsers.py`: `tests/workers/engines/test_vllm_parsers.py` holds the recording to vLLM, and
writes the file instead with RECORD_VLLM_READINGS=1.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from app.models.models import ToolParser
from app.rollouts.marked_formats import GEMMA4, GRANITE, HARMONY, MISTRAL, THINK, Reasoning
from app.rollouts.turns import TurnFormats, TurnOptions
from tests.support.rendering.sampled_turns import read_streamed, read_whole
from tests.support.rendering.vllm_parsers import ThoughtTurn, ask_vllm, save_marked_tokenizer

RECORDED: Final = Path(__file__).with_name("vllm_reasoning_readings.json")
FAMILIES: Final[dict[str, Reasoning]] = {
    "qwen3": THINK,
    "deepseek_r1": THINK,
    "glm45": THINK,
    "nemotron_v3": THINK,
    "mistral": MISTRAL,
    "gemma4": GEMMA4,
    "granite": GRANITE,
    "openai_gptoss": HARMONY,
}
"""Our reasoning by the name of the family's parser in vLLM. Its `olmo3` needs that family's own
vocabulary, whose tokens are parts of the marks.
"""
_MARKED: Final = {
    "thought and answer": ("", "S\nhm\nE\n\n42"),
    "opened by the prompt": ("S\n", "hm\nE\n\n42"),
    "unfinished": ("", "S\nhm"),
    "opened, unfinished": ("S\n", "hm"),
    "opened, unfinished, empty": ("S\n", "\n"),
    "no thought": ("", "42"),
    "closed by the prompt": ("S\n\nE\n\n", "42"),
    "empty thought": ("", "S\n\nE\n\n42"),
    "thought alone": ("", "S\nhm\nE"),
    "two thoughts": ("", "S\na\nE\nb\nS\nc\nE\nd"),
    "text first": ("", "Hm. S\na\nE\nb"),
    "an end alone": ("", "hm E 42"),
    "a start within": ("", "S\na S b\nE\nc"),
    "several lines": ("", "S\na\n\n- é 漢字 😀\n```\nx < y\n```\nE\n\nIt is 42.\n\nYes."),
}
"""Prompt and turn by the name of a case; S and E stand for the marks."""
_HARMONY: Final = {
    "thought and answer": "<|channel|>analysis<|message|>hm<|end|><|start|>assistant"
    "<|channel|>final<|message|>42<|return|>",
    "unfinished": "<|channel|>analysis<|message|>hm",
    "no thought": "<|channel|>final<|message|>42<|return|>",
    "two thoughts": "<|channel|>analysis<|message|>a<|end|><|start|>assistant"
    "<|channel|>analysis<|message|>b<|end|><|start|>assistant<|channel|>final<|message|>42",
    "thought alone": "<|channel|>analysis<|message|>hm<|end|>",
    "a word before calls": "<|channel|>analysis<|message|>hm<|end|><|start|>assistant"
    "<|channel|>commentary<|message|>I look it up.<|end|>",
    "several lines": "<|channel|>analysis<|message|>a\n\n- é 漢字 😀<|end|><|start|>assistant"
    "<|channel|>final<|message|>It is 42.\n\nYes.<|return|>",
}
_CALLS: Final[dict[str, ToolParser]] = {"openai_gptoss": "openai", "mistral": "mistral"}
"""Formats of calls whose marks a reasoning parser wants in the tokenizer, or writes itself."""
_NO_CALLS: Final = TurnOptions()


@dataclass(frozen=True, slots=True)
class ReasoningTurn:
    family: str
    """The name of vLLM's parser."""
    case: str
    prompt: str
    text: str

    @property
    def thought(self) -> ThoughtTurn:
        calls = _CALLS.get(self.family, "hermes")
        return ThoughtTurn(TurnFormats(calls, FAMILIES[self.family]), self.text, self.prompt)


@dataclass(frozen=True, slots=True)
class ReadReasoning:
    reasoning: str
    content: str


@dataclass(frozen=True, slots=True)
class ReasoningReadings:
    whole: ReadReasoning
    streamed: ReadReasoning


def _turns() -> Iterator[ReasoningTurn]:
    for family, reasoning in FAMILIES.items():
        if reasoning is HARMONY:
            yield from (ReasoningTurn(family, case, "", text) for case, text in _HARMONY.items())
            continue
        start, end = reasoning.start, reasoning.marks[1]
        if reasoning is GEMMA4:
            start += "thought"

        def written(text: str, start: str = start, end: str = end) -> str:
            return text.replace("S\n", f"{start}\n").replace("S ", f"{start} ").replace("E", end)

        for case, (prompt, text) in _MARKED.items():
            yield ReasoningTurn(family, case, written(prompt), written(text))


REASONING_TURNS: Final = tuple(_turns())


def ours(turn: ReasoningTurn, directory: Path) -> ReasoningReadings:
    read = (each(turn.thought, directory, _NO_CALLS) for each in (read_whole, read_streamed))
    return ReasoningReadings(*map(_read, read))


def reasoning_of_vllm(
    turns: Sequence[ReasoningTurn], directory: Path
) -> dict[ReasoningTurn, ReasoningReadings]:
    """Returns what vLLM reads. `directory` takes tokenizers with the marks."""
    asked = [
        {
            "parser": None,
            "reasoning": turn.family,
            "text": turn.text,
            "prompt": turn.prompt,
            "tokenizer": str(save_marked_tokenizer(turn.thought.formats, directory)),
        }
        for turn in turns
    ]
    found = ask_vllm(asked, directory, plugin=None)
    for turn, each in zip(turns, found, strict=True):
        assert "fault" not in each, (turn, each)
        assert all("fault" not in each[way] for way in ("whole", "streamed")), (turn, each)
    return {
        turn: ReasoningReadings(_read(each["whole"]), _read(each["streamed"]))
        for turn, each in zip(turns, found, strict=True)
    }


def recorded_reasoning() -> dict[ReasoningTurn, ReasoningReadings]:
    return {
        ReasoningTurn(row["family"], row["case"], row["prompt"], row["text"]): ReasoningReadings(
            _read(row["whole"]), _read(row["streamed"])
        )
        for row in json.loads(RECORDED.read_text())
    }


def record_reasoning(readings: dict[ReasoningTurn, ReasoningReadings]) -> None:
    """Writes a line for each turn."""
    rows = [
        json.dumps({**asdict(turn), **asdict(reading)}, ensure_ascii=False)
        for turn, reading in readings.items()
    ]
    RECORDED.write_text("[\n" + ",\n".join(rows) + "\n]\n")


def _read(found: dict[str, Any]) -> ReadReasoning:
    return ReadReasoning(found["reasoning"].strip(), found["content"].strip())
