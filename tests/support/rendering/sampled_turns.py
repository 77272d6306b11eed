"""Reads turns of the tables as an engine does, whole and token by token."""

from pathlib import Path
from typing import Any

from app.rollouts.chat_template import ModelTokens
from app.rollouts.marked_formats import build_tool_format
from app.rollouts.turns import ParsedTurn, TurnOptions, TurnParser, TurnReading
from tests.support.rendering.format_cases import TOOLS
from tests.support.rendering.vllm_parsers import ThoughtTurn, save_marked_tokenizer

OPTIONS = TurnOptions(tools=TOOLS, reads_calls=True)


def read_whole(
    turn: ThoughtTurn, directory: Path, options: TurnOptions = OPTIONS
) -> dict[str, Any]:
    """Returns the findings of one reading, in the form of `vllm_turn_reader`."""
    sampled, parser, ids = _begun(turn, directory, options)
    sampled.show(parser.tokens.decode(ids))
    answer = sampled.answer(ids)
    return _found(answer.content, answer.reasoning, answer)


def read_streamed(
    turn: ThoughtTurn, directory: Path, options: TurnOptions = OPTIONS
) -> dict[str, Any]:
    """Joins what is sent after each token, and what is left at the end."""
    sampled, parser, ids = _begun(turn, directory, options)
    decoding, content, reasoning, taken = parser.tokens.decoding(), "", "", list[int]()
    for token in ids:
        taken.append(token)
        sampled.show(sampled.text + decoding(token))
        if sampled.cut is not None:
            break
        new = sampled.new()
        content, reasoning = content + new.content, reasoning + new.reasoning
    answer = sampled.answer(taken)
    rest = sampled.rest(answer)
    return _found(content + rest.content, reasoning + rest.reasoning, answer)


def _begun(
    turn: ThoughtTurn, directory: Path, options: TurnOptions
) -> tuple[TurnReading, TurnParser, list[int]]:
    tokens = ModelTokens(save_marked_tokenizer(turn.formats, directory) / "tokenizer.json")
    parser = TurnParser(tokens, build_tool_format(turn.formats.calls), turn.formats.reasoning)
    sampled = TurnReading(parser, options, prompt=tokens.encode(turn.prompt))
    return sampled, parser, tokens.encode(turn.text)


def _found(content: str, reasoning: str, answer: ParsedTurn) -> dict[str, Any]:
    calls = [[call.name, call.arguments_json] for call in answer.tool_calls]
    return {"content": content, "reasoning": reasoning, "calls": calls}
