"""Our parsers, which training and both engines read turns with, against those of a vLLM without our
plugin.

Every turn of the tables is read by both, by vLLM whole and token by token. vLLM's part is recorded,
so that this runs without it. Where the two differ, `DIFFERENT` has the reason.
"""

from typing import Final

from tests.support.cases import cases
from tests.support.rendering.vllm_parsers import TURNS, WrittenTurn, read_by_us, recorded

NULL: Final = "vLLM reads `null` only; ours also the `None` that the family's template writes"
MARK: Final = "vLLM ends a value at the first </parameter>, ours at the one before the next mark"
EMPTY: Final = "vLLM streams no arguments for an empty object; clients take '' for {}"
CALL_ID: Final = "vLLM takes the call's id for a part of its name"
NUMBERS: Final = "vLLM drops values that are not text"
LIST: Final = "vLLM reads the items of a list as text"
UNTYPED: Final = "vLLM takes a value without a schema for text, ours for JSON where it is JSON"
TEXT_BEFORE: Final = "vLLM drops the text before the calls, and streams all of it as text"
UNSTREAMED: Final = "vLLM streams neither the call nor the text"
OTHER_MARK: Final = "vLLM knows `functools[` alone, the published template writes `<|tool_call|>`"
REPAIRED: Final = "vLLM makes a call of it; training answers with a sentence that says the fault"
SWALLOWED: Final = "vLLM streams nothing of an answer or a fault that begins as a call does"
DROPPED: Final = "vLLM drops the mark or the whole text of a call that it cannot read"

DIFFERENT: Final[dict[tuple[str, str], str]] = {
    ("qwen3_coder", "Hm.\n<tool_call>\n<function=f>\n<parameter=s>\n12"): NULL,
    ("qwen3_xml", "<tool_call>\n<function=f>\n<parameter=s>\nline"): MARK,
    ("llama4_json", '<|python_tag|>{"name": "f", "parameters": {}}; '): EMPTY,
    ("llama3_json", '{"type": "function", "name": "f", "parameters": {}}'): EMPTY,
    ("mistral", "Hm.[TOOL_CALLS]f[ARGS]"): CALL_ID,
    ("functiongemma", "<start_function_call>call:f{s:<escape>a, {b}<escape>,n:3}"): NUMBERS,
    ("gemma4", "Hm.<|tool_call>call:f{o:{x:["): LIST,
    ("glm47", "<tool_call>f<arg_key>new"): UNTYPED,
    ("olmo3", "Hm.\n<function_calls>"): TEXT_BEFORE,
    ("phi4_mini_json", 'functools[{"name": "f"'): UNSTREAMED,
    ("phi4_mini_json", "<|tool_call|>["): OTHER_MARK,
    ("hermes", '<tool_call>{"name": "f", "arguments": {"n": 1}}'): REPAIRED,
    ("hermes", '<tool_call>{"name": "f", "argum</tool_call>'): REPAIRED,
    ("hermes", '<tool_call>{"name": "f", "arguments": [1]}</tool_call>'): REPAIRED,
    ("qwen3_coder", "<tool_call>\n<function=f>\n<parameter=s>\na"): REPAIRED,
    ("qwen3_coder", "<tool_call><function=f>x"): REPAIRED,
    ("qwen3_coder", "It is <function=f>."): REPAIRED,
    ("llama3_json", '{"name": "f", "parameters": [1]}'): REPAIRED,
    ("llama3_json", '{"name": "f", "parameters": {}} and more'): REPAIRED,
    ("functiongemma", "<start_function_call>call:f{s:<escape>a"): REPAIRED,
    ("gemma4", "<|tool_call>call:f{n:3}"): REPAIRED,
    ("glm45", "<tool_call>f\n<arg_key>s</arg_key>"): REPAIRED,
    ("deepseek_v31", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>nope"): REPAIRED,
    ("openai", "<|channel|>commentary to=functions.f<|message|>{"): REPAIRED,
    ("pythonic", "[f(1)]"): REPAIRED,
    ("pythonic", "[f(x=1e999)]"): REPAIRED,
    ("olmo3", "<function_calls>\nf()"): REPAIRED,
    ("llama3_json", '<|python_tag|>print("x")'): SWALLOWED,
    ("llama3_json", '{"answer": 42}'): SWALLOWED,
    ("pythonic", "[f(x=__import__('os'))]"): SWALLOWED,
    ("pythonic", "[f("): SWALLOWED,
    ("pythonic", "[1, 2]"): SWALLOWED,
    ("pythonic", "[see](here)"): SWALLOWED,
    ("phi4_mini_json", 'functools[{"arguments": {}}]'): SWALLOWED,
    ("mistral", '[TOOL_CALLS] [{"name": "f"'): DROPPED,
    ("mistral", "[TOOL_CALLS]"): DROPPED,
    (
        "deepseek_v3",
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n",
    ): DROPPED,
    ("granite", "<|tool_call|>{}"): DROPPED,
}
"""Reasons by parser and text of the turn, or the beginning of its text."""


def _reason(turn: WrittenTurn) -> tuple[str, str] | None:
    exact = (turn.parser, turn.text)
    if exact in DIFFERENT:
        return exact
    others = {(other.parser, other.text) for other in TURNS}
    beginnings = [
        key
        for key in DIFFERENT.keys() - others
        if key[0] == turn.parser and turn.text.startswith(key[1])
    ]
    return max(beginnings, key=lambda key: len(key[1]), default=None)


def test_the_recording_has_every_turn() -> None:
    assert set(recorded()) == set(TURNS)


@cases("turn", TURNS, ids=lambda turn: f"{turn.parser}: {turn.text[:30]}")
def test_both_read_a_turn_alike_unless_a_reason_is_given(turn: WrittenTurn) -> None:
    found, ours = recorded()[turn], read_by_us(turn)
    alike = found.whole == ours and found.streamed == ours
    assert alike == (_reason(turn) is None), (ours, found)


def test_every_reason_is_of_a_turn() -> None:
    assert {_reason(turn) for turn in TURNS} - {None} == set(DIFFERENT)
