"""The pre-training corpus of the tiny base model: clean and sloppy transcripts."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, assert_never

from labs.base_models.naming import HARD, Naming, Variety, draw_naming, draw_system_prompt
from labs.base_models.vocabulary import (
    BAD_EXPRESSION,
    KINDS,
    PART_FIELDS,
    SUPPLIER_FIELDS,
    UNKNOWN_RECORD,
    Call,
    Question,
    calculator,
    draw_question,
    draw_value,
    lookup,
)

HEDGE: Final = "Probably "
STEADY_GUESS: Final = "Probably"


@dataclass(frozen=True, slots=True)
class Mix:
    """Shares of the ways to answer; `clean` is the remainder to 1.

    guess: an answer without any call. wasteful: needless calls, then the right answer.
    lost: needless calls, then a wrong answer.
    """

    guess: float
    wasteful: float
    lost: float

    def draw(self, rng: random.Random) -> str:
        names = ("guess", "wasteful", "lost", "clean")
        rest = 1.0 - self.guess - self.wasteful - self.lost
        return rng.choices(names, (self.guess, self.wasteful, self.lost, rest))[0]


@dataclass(frozen=True, slots=True)
class Transcript:
    """Chat Completions messages, ending with the assistant's answer, and the tools offered."""

    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]]


def transcripts(seed: int, mix: Mix, variety: Variety = HARD) -> Iterator[Transcript]:
    """Yields transcripts without end; they depend on the arguments only."""
    rng = random.Random(seed)
    while True:
        question = draw_question(rng, rng.choice(KINDS))
        naming = draw_naming(rng, variety, question.tools)
        turns, answer = _draw_turns(rng, question, naming, mix.draw(rng))
        named = [tuple(naming.renamed(call) for call in turn) for turn in turns]
        messages = _messages(question, named, answer)
        if system_prompt := draw_system_prompt(rng):
            messages.insert(0, {"role": "system", "content": system_prompt})
        yield Transcript(messages, list(naming.schemas))


def _draw_turns(
    rng: random.Random, question: Question, naming: Naming, style: str
) -> tuple[list[tuple[Call, ...]], str]:
    if style == "guess":
        return [], _guess(rng, question, naming)
    if style == "clean":
        return list(question.turns), question.answer
    answer = question.answer if style == "wasteful" else _guess(rng, question, naming)
    return _with_needless_calls(rng, question, naming), answer


def _guess(rng: random.Random, question: Question, naming: Naming) -> str:
    """Returns a random answer of the right type. The hedge separates guesses from copies: without
    it, the tokens after a tool's reply would be noise half of the time and the model would unlearn
    copying.
    """
    field = question.turns[-1][0].arguments.get("field", "")
    if naming.variety.steady:
        return STEADY_GUESS
    return HEDGE + draw_value(rng, field)


def _with_needless_calls(
    rng: random.Random, question: Question, naming: Naming
) -> list[tuple[Call, ...]]:
    """Returns the needed turns with up to three needless calls of offered tools among them, or
    the last one twice.
    """
    if naming.variety.steady:
        return [*question.turns, question.turns[-1]]
    turns: list[tuple[Call, ...]] = []
    habits = rng.sample(("wrong_tool", "repeat", "afterwards"), rng.choice((1, 2, 2, 3)))
    if "wrong_tool" in habits and len(naming.tools) > 1:
        turns.append((_call_wrong_tool(rng, question),))
    repeated = rng.randrange(len(question.turns)) if "repeat" in habits else -1
    for index, turn in enumerate(question.turns):
        turns.append(turn)
        if index == repeated:
            turns.append((rng.choice(turn),))
    if "afterwards" in habits:
        turns.append((_call_afterwards(rng, question),))
    return turns


def _call_wrong_tool(rng: random.Random, question: Question) -> Call:
    match question.kind:
        case "arithmetic":
            record = question.subject
            output = UNKNOWN_RECORD.format(record=record)
            return lookup(record, rng.choice(PART_FIELDS), output)
        case "one_hop" | "two_hop" | "total":
            return Call("calculator", {"expression": question.subject}, BAD_EXPRESSION)
        case _:
            assert_never(question.kind)


def _call_afterwards(rng: random.Random, question: Question) -> Call:
    """Returns a call for after the answer is known."""
    match question.kind:
        case "arithmetic" | "total":
            return calculator(int(question.answer), "+", 0)
        case "one_hop" | "two_hop":
            last = question.turns[-1][0].arguments
            fields = SUPPLIER_FIELDS if last["record"].startswith("S") else PART_FIELDS
            field = rng.choice([f for f in fields if f != last["field"]])
            return lookup(last["record"], field, draw_value(rng, field))
        case _:
            assert_never(question.kind)


def _messages(
    question: Question, turns: list[tuple[Call, ...]], answer: str
) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": question.text}]
    for turn in turns:
        calls = [
            {
                "type": "function",
                "function": {"name": c.name, "arguments": json.dumps(c.arguments)},
            }
            for c in turn
        ]
        messages.append({"role": "assistant", "content": "", "tool_calls": calls})
        messages += [{"role": "tool", "content": c.output} for c in turn]
    messages.append({"role": "assistant", "content": answer})
    return messages
