"""The questions, tools and replies of the tiny base model's pre-training corpus.

Owns the texts that `tiny_agent` is based on: question sentences, tool schemas, field names, value
words. Promises that equal draws give equal texts. Must not know any fixed record: identifiers and
values are drawn again for every transcript, so that no answer can be memorised.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any, Final, Literal

QuestionKind = Literal["arithmetic", "one_hop", "two_hop", "total"]

KINDS: Final[tuple[QuestionKind, ...]] = ("arithmetic", "one_hop", "two_hop", "total")
OPERATORS: Final = ("+", "-", "*")
NUMBER_FIELDS: Final = ("price", "weight", "stock", "width")
PART_FIELDS: Final = (*NUMBER_FIELDS, "color", "material")
SUPPLIER_FIELDS: Final = ("city", "days", "rating")
COLORS: Final = ("red", "green", "blue", "black", "white", "grey")
MATERIALS: Final = ("steel", "brass", "oak", "glass", "nylon", "cork")
CITIES: Final = ("Lima", "Oslo", "Rome", "Cairo", "Delhi", "Paris", "Quito", "Tunis")
WORDS: Final = {"color": COLORS, "material": MATERIALS, "city": CITIES}

ASK: Final = ("What is the", "Tell me the")
ASK_ARITHMETIC: Final = ("What is", "Work out")
END: Final = {"What is the": "?", "Tell me the": ".", "What is": "?", "Work out": "."}

UNKNOWN_RECORD: Final = "Error: no record {record}"
BAD_EXPRESSION: Final = "Error: not an expression"


def function_schema(name: str, description: str, parameters: tuple[str, ...]) -> dict[str, Any]:
    """Returns a Chat Completions function tool whose parameters are all required strings."""
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": description,
            "parameters": {
                "type": "object",
                "properties": {p: {"type": "string"} for p in parameters},
                "required": list(parameters),
                "additionalProperties": False,
            },
            "strict": True,
        },
    }


TOOLS: Final = (
    function_schema("lookup", "Read one field of a record.", ("record", "field")),
    function_schema("calculator", "Evaluate an arithmetic expression.", ("expression",)),
)


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call and the tool's reply."""

    name: str
    arguments: dict[str, str]
    output: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the turns of tool calls that answer it; calls of one turn run in parallel."""

    kind: QuestionKind
    text: str
    turns: tuple[tuple[Call, ...], ...]
    answer: str
    subject: str

    @property
    def tools(self) -> tuple[str, ...]:
        """Names of the tools that the answer needs, in the order of their first calls."""
        return tuple(dict.fromkeys(call.name for turn in self.turns for call in turn))


def lookup(record: str, field: str, output: str) -> Call:
    return Call("lookup", {"record": record, "field": field}, output)


def calculator(left: int, operator: str, right: int) -> Call:
    result = {"+": left + right, "-": left - right, "*": left * right}[operator]
    return Call("calculator", {"expression": f"{left} {operator} {right}"}, str(result))


def draw_part(rng: random.Random) -> str:
    return f"P{rng.randrange(1000):03d}"


def draw_supplier(rng: random.Random) -> str:
    return f"S{rng.randrange(100):02d}"


def draw_value(rng: random.Random, field: str) -> str:
    words = WORDS.get(field)
    return rng.choice(words) if words else str(rng.randrange(10, 100))


def draw_question(rng: random.Random, kind: QuestionKind) -> Question:
    return {
        "arithmetic": _arithmetic,
        "one_hop": _one_hop,
        "two_hop": _two_hop,
        "total": _total,
    }[kind](rng)


def _arithmetic(rng: random.Random) -> Question:
    opening, operator = rng.choice(ASK_ARITHMETIC), rng.choice(OPERATORS)
    left, right = rng.randrange(10, 100), rng.randrange(10, 100)
    if operator == "-":
        left, right = max(left, right), min(left, right)
    call = calculator(left, operator, right)
    text = f"{opening} {call.arguments['expression']}{END[opening]}"
    return Question("arithmetic", text, ((call,),), call.output, str(left))


def _one_hop(rng: random.Random) -> Question:
    opening = rng.choice(ASK)
    if rng.random() < 1 / 3:
        noun, record, field = "supplier", draw_supplier(rng), rng.choice(SUPPLIER_FIELDS)
    else:
        noun, record, field = "part", draw_part(rng), rng.choice(PART_FIELDS)
    answer = draw_value(rng, field)
    text = f"{opening} {field} of {noun} {record}{END[opening]}"
    return Question("one_hop", text, ((lookup(record, field, answer),),), answer, record)


def _two_hop(rng: random.Random) -> Question:
    opening, part, supplier = rng.choice(ASK), draw_part(rng), draw_supplier(rng)
    field = rng.choice(SUPPLIER_FIELDS)
    answer = draw_value(rng, field)
    text = f"{opening} {field} of the supplier of part {part}{END[opening]}"
    turns = ((lookup(part, "supplier", supplier),), (lookup(supplier, field, answer),))
    return Question("two_hop", text, turns, answer, part)


def _total(rng: random.Random) -> Question:
    opening, field = rng.choice(ASK), rng.choice(NUMBER_FIELDS)
    first, second = draw_part(rng), draw_part(rng)
    left, right = int(draw_value(rng, field)), int(draw_value(rng, field))
    total = calculator(left, "+", right)
    text = f"{opening} {field} of parts {first} and {second} together{END[opening]}"
    pair = (lookup(first, field, str(left)), lookup(second, field, str(right)))
    return Question("total", text, (pair, (total,)), total.output, first)
