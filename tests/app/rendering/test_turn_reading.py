"""A turn is sent in pieces while it is sampled, and no piece is taken back."""

from pathlib import Path

import pytest

from app.rollouts.marked_formats import THINK
from app.rollouts.turns import TURN_FORMATS, TurnFormats, TurnOptions
from tests.support.rendering.format_cases import TOOLS
from tests.support.rendering.sampled_turns import read_streamed, read_whole
from tests.support.rendering.vllm_parsers import THOUGHT_TURNS, ThoughtTurn

HERMES = TurnFormats("hermes", THINK)
CALL = '<tool_call>{"name": "f", "arguments": {"n": 1}}</tool_call>'


@pytest.fixture(scope="module")
def tokenizers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tokenizers")


def test_every_turn_is_read_alike_whole_and_token_by_token(tokenizers: Path) -> None:
    for turn in THOUGHT_TURNS:
        assert read_streamed(turn, tokenizers) == read_whole(turn, tokenizers), turn


@pytest.mark.parametrize(
    ("options", "content", "calls"),
    [
        (TurnOptions(tools=TOOLS, reads_calls=True), "So", 2),
        (TurnOptions(tools=TOOLS, reads_calls=True, one_call=True), "So", 1),
        (TurnOptions(tools=TOOLS), f"So {CALL}{CALL}", 0),
        (
            TurnOptions(tools=TOOLS, reads_calls=True, stop=("nothing", "arg")),
            'So <tool_call>{"name": "f", "',
            0,
        ),
    ],
)
def test_options_state_what_is_a_call_and_where_a_turn_ends(
    tokenizers: Path, options: TurnOptions, content: str, calls: int
) -> None:
    turn = ThoughtTurn(HERMES, f"<think>hm</think>So {CALL}{CALL}")
    for read in (read_whole, read_streamed):
        found = read(turn, tokenizers, options)
        assert (found["reasoning"], found["content"]) == ("hm", content)
        assert len(found["calls"]) == calls


def test_a_pair_of_formats_has_a_name_of_its_own() -> None:
    assert TURN_FORMATS["agent_rft-hermes-qwen3"] == HERMES
    assert len(TURN_FORMATS) == 17 * 5
