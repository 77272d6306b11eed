"""Readings of the turns of the tables in vLLM: by its own parsers, recorded or asked of its
environment, and by the parsers of this project, which a plugin gives it.

`tests/workers/engines/test_vllm_parsers.py` holds the recording to vLLM; it writes the file instead
with RECORD_VLLM_READINGS=1.
"""

import json
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import pytest
from tokenizers import AddedToken

from app.models.models import ToolParser
from app.rollouts.marked_formats import HARMONY, build_tool_format, reasoning_of
from app.rollouts.turns import TurnFormats
from tests.support.engines.vllm_server import VLLM_PYTHON
from tests.support.models.tiny_model import build_tokenizer
from tests.support.rendering.format_cases import ANSWERS, BROKEN, MARKED, READ, THOUGHTS, TOOLS
from workers.engines.vllm import PLUGINS

RECORDED: Final = Path(__file__).with_name("vllm_readings.json")
_PROGRAM: Final = Path(__file__).with_name("vllm_turn_reader.py")
_LONGEST: Final = 500
"""Turns beyond it are about the depth of our own parser."""


@dataclass(frozen=True, slots=True)
class WrittenTurn:
    parser: ToolParser
    text: str


@dataclass(frozen=True, slots=True)
class ReadTurn:
    """The findings of one way of reading a turn."""

    content: str
    calls: tuple[tuple[str, str], ...]
    """Names and arguments, as JSON with sorted keys where it is JSON."""


@dataclass(frozen=True, slots=True)
class TurnReadings:
    whole: ReadTurn
    streamed: ReadTurn


@dataclass(frozen=True, slots=True)
class ThoughtTurn:
    """A turn in a pair of formats, with the end of its prompt."""

    formats: TurnFormats
    text: str
    prompt: str = ""


def _turns(rows: Iterable[tuple[ToolParser, str]]) -> tuple[WrittenTurn, ...]:
    return tuple(
        WrittenTurn(name, _as_sampled(name, text)) for name, text in rows if len(text) < _LONGEST
    )


def _as_sampled(name: ToolParser, text: str) -> str:
    """Returns a whole turn: the table of harmony has what is left of one when reasoning is cut."""
    if name != "openai":
        return text
    before, _, call = text.partition("<|start|>")
    final = f"<|channel|>final<|message|>{before}<|end|><|start|>" if before else "<|start|>"
    return (final + call).removeprefix("<|start|>assistant")


TURNS: Final = _turns([row[:2] for row in READ] + [row[:2] for row in BROKEN] + ANSWERS)


THOUGHT_TURNS: Final = (
    *(
        ThoughtTurn(TurnFormats(turn.parser, reasoning_of("", turn.parser)), turn.text)
        for turn in (*TURNS, *_turns(row[:2] for row in MARKED))
    ),
    *(
        ThoughtTurn(
            TurnFormats("openai" if reasoning is HARMONY else "hermes", reasoning),
            text,
            reasoning.start if opened else "",
        )
        for reasoning, text, opened, *_ in THOUGHTS
    ),
)
"""Every turn of the tables, with and without reasoning, as `TurnReading` reads it."""


def read_by_us(turn: WrittenTurn) -> ReadTurn:
    answer = turn.text
    if turn.parser == "openai":
        answer = HARMONY.split(answer, opened=False).answer
    parsed = build_tool_format(turn.parser).parse(answer, TOOLS)
    calls = tuple((call.name, _sorted(call.arguments_json)) for call in parsed.tool_calls)
    return ReadTurn(parsed.content, calls)


def recorded() -> dict[WrittenTurn, TurnReadings]:
    rows = json.loads(RECORDED.read_text())
    return {
        WrittenTurn(row["parser"], row["text"]): TurnReadings(
            _read(row["whole"]), _read(row["streamed"])
        )
        for row in rows
    }


def write_recorded(readings: dict[WrittenTurn, TurnReadings]) -> None:
    """Writes a line for each turn."""
    rows = [
        json.dumps({**asdict(turn), **asdict(reading)}, ensure_ascii=False)
        for turn, reading in readings.items()
    ]
    RECORDED.write_text("[\n" + ",\n".join(rows) + "\n]\n")


def read_by_vllm(turns: Sequence[WrittenTurn], directory: Path) -> dict[WrittenTurn, TurnReadings]:
    """Returns what vLLM reads in each turn. `directory` takes tokenizers with a format's marks."""
    asked = [
        {**asdict(turn), "prompt": "", "tokenizer": str(_tokenizer(turn, directory))}
        for turn in turns
    ]
    found = ask_vllm(asked, directory, plugin=None)
    return {turn: _reading(turn, each) for turn, each in zip(turns, found, strict=True)}


def read_by_plugin(turns: Sequence[ThoughtTurn], directory: Path) -> list[dict[str, Any]]:
    """Returns what vLLM reads with our plugin, whole and streamed."""
    asked = [
        {
            "parser": turn.formats.name,
            "text": turn.text,
            "prompt": turn.prompt,
            "tokenizer": str(save_marked_tokenizer(turn.formats, directory)),
        }
        for turn in turns
    ]
    return ask_vllm(asked, directory, plugin=PLUGINS / "agent_rft_turns.py")


def save_marked_tokenizer(formats: TurnFormats, directory: Path) -> Path:
    """Saves a tokenizer with the marks of both formats."""
    marks = {*build_tool_format(formats.calls).marks, *formats.reasoning.marks}
    model_dir = directory / formats.name
    if not model_dir.exists():
        tokenizer = build_tokenizer()
        tokenizer.add_tokens([AddedToken(mark) for mark in sorted(marks)])
        tokenizer.save_pretrained(model_dir)
    return model_dir


def ask_vllm(
    turns: list[dict[str, Any]], directory: Path, *, plugin: Path | None
) -> list[dict[str, Any]]:
    if not VLLM_PYTHON.exists():
        pytest.skip("vLLM's environment is absent: make vllm-env")
    asked = {"tools": TOOLS, "turns": turns, "plugin": None if plugin is None else str(plugin)}
    done = subprocess.run(
        (VLLM_PYTHON, _PROGRAM),
        input=json.dumps(asked),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        cwd=directory,
    )
    # vLLM writes lines of its own to standard output before the answer.
    found: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return found


def _tokenizer(turn: WrittenTurn, directory: Path) -> Path:
    """Returns a tokenizer with the marks of the turn's format; vLLM takes a Mistral that has no
    `[ARGS]` for an old one.
    """
    marks = set(build_tool_format(turn.parser).marks)
    if "[TOOL_CALLS] [" in turn.text:
        marks.remove("[ARGS]")
    model_dir = directory / f"{turn.parser}-{len(marks)}"
    if not model_dir.exists():
        tokenizer = build_tokenizer()
        tokenizer.add_tokens([AddedToken(mark) for mark in sorted(marks)])
        tokenizer.save_pretrained(model_dir)
    return model_dir


def _reading(turn: WrittenTurn, found: dict[str, Any]) -> TurnReadings:
    assert "fault" not in found, (turn, found)
    for way in ("whole", "streamed"):
        assert "fault" not in found[way], (turn, found)
    return TurnReadings(_read(found["whole"]), _read(found["streamed"]))


def _read(found: dict[str, Any]) -> ReadTurn:
    calls = tuple((name, _sorted(arguments)) for name, arguments in found["calls"])
    return ReadTurn(found["content"].strip(), calls)


def _sorted(arguments: str) -> str:
    """Returns the JSON text of arguments with sorted keys; other text as it is."""
    try:
        return json.dumps(json.loads(arguments), sort_keys=True)
    except ValueError:
        return arguments
