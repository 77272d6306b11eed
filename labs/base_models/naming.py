"""Random names for the tools of a transcript: the two tools differ in every transcript.

A transcript is drawn with the names `lookup` and `calculator`; `Naming` renames its calls. A name
shows as much as it would for a reader: arguments swap places only where their names say which is
which.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from labs.base_models import vocabulary as words
from labs.base_models.vocabulary import TOOLS, Call, function_schema

ORIGINAL_SHARE: Final = 0.06
PLAIN_DESCRIPTION_SHARE: Final = 0.2
UNDESCRIBED_SHARE: Final = 0.1
SYSTEM_PROMPT_SHARE: Final = 0.4
OPENING_SHARE: Final = 0.7
SNAKE_SHARE: Final = 0.65
CAMEL_SHARE: Final = 0.3

Strings = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Variety:
    """The distance of names from usual ones: the share of made-up names, the shares of 0, 1 and 2
    further tools, the words that further tools are made of, how made-up words are drawn, the share
    of names that have a word more. A `steady` transcript always guesses the same word, and its
    only needless call is the last one again: what has to be copied stays the same.
    """

    made_up: float
    further: tuple[float, float, float]
    verbs: Strings
    arguments: Strings
    word: Callable[[random.Random], str]
    longer: float
    steady: bool = False
    original: float = ORIGINAL_SHARE
    descriptions: Strings = words.OTHER_DESCRIPTIONS


EASY: Final = Variety(
    0.3, (0.6, 0.25, 0.15), words.OTHER_VERBS, words.OTHER_ARGUMENTS, words.made_up_word, 0.0
)
HARD: Final = Variety(
    0.5,
    (0.35, 0.35, 0.3),
    words.OTHER_VERBS + words.LIKE_OTHER_VERBS,
    words.OTHER_ARGUMENTS + words.LIKE_OTHER_ARGUMENTS,
    words.strange_word,
    0.25,
)
STEADY: Final = replace(
    HARD,
    steady=True,
    original=0.2,
    descriptions=words.OTHER_DESCRIPTIONS + words.LIKE_OTHER_DESCRIPTIONS,
)
TERSE: Final = replace(STEADY, made_up=1.0, word=words.letter, original=0.0)


@dataclass(frozen=True, slots=True)
class ToolNaming:
    """One tool as a transcript offers it; `arguments` maps its usual argument names to others."""

    name: str
    arguments: dict[str, str]
    description: str

    @property
    def schema(self) -> dict[str, Any]:
        schema = function_schema(self.name, self.description, tuple(self.arguments.values()))
        if not self.description:
            del schema["function"]["description"]
        return schema

    def renamed(self, call: Call) -> Call:
        arguments = {new: call.arguments[old] for old, new in self.arguments.items()}
        return Call(self.name, arguments, call.output)


@dataclass(frozen=True, slots=True)
class Naming:
    """The tools of a transcript by their usual names, and the schemas that it offers, in order."""

    tools: dict[str, ToolNaming]
    schemas: tuple[dict[str, Any], ...]
    variety: Variety

    def renamed(self, call: Call) -> Call:
        return self.tools[call.name].renamed(call)


def draw_naming(rng: random.Random, variety: Variety, needed: Strings) -> Naming:
    """Draws names for the tools `needed` and a schema for each, among those of other tools. A tool
    that is not needed is offered too, but for an eighth of the draws.
    """
    absent = [name for name in ("lookup", "calculator") if name not in needed]
    offered = [*needed, *(name for name in absent if rng.random() < 7 / 8)]
    original = rng.random() < variety.original
    tools = {
        name: _original(name) if original else _draw_tool(rng, variety, name) for name in offered
    }
    more = rng.choices((0, 1, 2), variety.further)[0] if variety is not EASY or not original else 0
    taken = {tool.name for tool in tools.values()}
    schemas = [tool.schema for tool in tools.values()]
    schemas += [_draw_other_tool(rng, variety).schema for _ in range(more)]
    if len({s["function"]["name"] for s in schemas}) < len(schemas) or len(taken) < len(tools):
        return draw_naming(rng, variety, needed)
    rng.shuffle(schemas)
    return Naming(tools, tuple(schemas), variety)


def draw_system_prompt(rng: random.Random) -> str:
    """Returns a system prompt of one to four sentences, or none."""
    if rng.random() >= SYSTEM_PROMPT_SHARE:
        return ""
    sentences = rng.sample(words.SYSTEM_RULES, rng.randint(0, 3))
    if not sentences or rng.random() < OPENING_SHARE:
        sentences.insert(0, rng.choice(words.SYSTEM_OPENINGS))
    return " ".join(_filled(rng, s, words.SYSTEM_WORDS) for s in sentences)


def _original(name: str) -> ToolNaming:
    function = next(t["function"] for t in TOOLS if t["function"]["name"] == name)
    arguments = {argument: argument for argument in function["parameters"]["properties"]}
    return ToolNaming(name, arguments, function["description"])


def _draw_tool(rng: random.Random, variety: Variety, name: str) -> ToolNaming:
    made_up = rng.random() < variety.made_up
    draw = _draw_reader if name == "lookup" else _draw_counter
    return draw(rng, variety, made_up=made_up)


def _draw_reader(rng: random.Random, variety: Variety, *, made_up: bool) -> ToolNaming:
    name = _made_up_name(rng, variety) if made_up else _reader_name(rng, variety)
    description = (
        "" if not made_up and rng.random() < UNDESCRIBED_SHARE else _reader_description(rng)
    )
    if rng.random() < variety.made_up:
        names = (_made_up_name(rng, variety), _made_up_name(rng, variety))
        arguments = {"record": names[0], "field": names[1]}
    else:
        record, field = rng.choice(words.RECORD_ARGUMENTS), rng.choice(words.FIELD_ARGUMENTS)
        arguments = {"record": record, "field": field}
        if rng.random() < 1 / 2:
            arguments = {"field": field, "record": record}
    if len(set(arguments.values())) < len(arguments):
        return _draw_reader(rng, variety, made_up=made_up)
    return ToolNaming(name, arguments, description)


def _draw_counter(rng: random.Random, variety: Variety, *, made_up: bool) -> ToolNaming:
    name = _made_up_name(rng, variety) if made_up else _counter_name(rng, variety)
    description = (
        "" if not made_up and rng.random() < UNDESCRIBED_SHARE else _counter_description(rng)
    )
    known = rng.random() >= variety.made_up
    argument = rng.choice(words.EXPRESSION_ARGUMENTS) if known else _made_up_name(rng, variety)
    return ToolNaming(name, {"expression": argument}, description)


def _draw_other_tool(rng: random.Random, variety: Variety) -> ToolNaming:
    """Draws a tool that no question needs; its description shows it if its name does not."""
    verb, noun = rng.choice(variety.verbs), rng.choice(words.OTHER_NOUNS)
    made_up = rng.random() < variety.made_up
    name = _made_up_name(rng, variety) if made_up else _joined(rng, [verb, noun])
    template = rng.choice(variety.descriptions)
    about = rng.choice(words.OTHER_OWNERS) if "{about}" in template else ""
    description = template.format(Verb=verb.capitalize(), verb=verb, noun=noun, about=about)
    if not made_up and rng.random() < UNDESCRIBED_SHARE:
        description = ""
    count = rng.choice((0, 1, 1, 2, 3))
    drawn = rng.sample(variety.arguments, count)
    arguments = [
        a if rng.random() >= variety.made_up else _made_up_name(rng, variety) for a in drawn
    ]
    return ToolNaming(name, {a: a for a in arguments}, description)


def _reader_name(rng: random.Random, variety: Variety) -> str:
    verb, noun = rng.choice(words.READ_VERBS), rng.choice(words.READ_NOUNS)
    parts = rng.choice(([verb], [verb, noun], [verb, noun], [noun, verb], [noun]))
    return _joined(rng, _lengthened(rng, variety, parts, words.READ_NOUNS))


def _counter_name(rng: random.Random, variety: Variety) -> str:
    if rng.random() < 1 / 2:
        parts = [rng.choice(words.COUNT_NAMES)]
    else:
        parts = [rng.choice(words.COUNT_VERBS), rng.choice(words.COUNT_NOUNS)]
    return _joined(rng, _lengthened(rng, variety, parts, words.COUNT_NOUNS))


def _made_up_name(rng: random.Random, variety: Variety) -> str:
    return _joined(rng, [variety.word(rng) for _ in range(rng.choice((1, 1, 1, 2)))])


def _lengthened(
    rng: random.Random, variety: Variety, parts: list[str], nouns: Strings
) -> list[str]:
    """Returns the parts of a name with a noun or a made-up word more in some draws."""
    if not variety.longer or rng.random() >= variety.longer:
        return parts
    more = rng.choice(nouns) if rng.random() < 1 / 2 else variety.word(rng)
    return rng.choice(([*parts, more], [*parts, more], [more, *parts]))


def _joined(rng: random.Random, parts: list[str]) -> str:
    pieces = [piece for part in parts for piece in part.split("_")]
    style = rng.random()
    if style < SNAKE_SHARE:
        return "_".join(pieces)
    if style < SNAKE_SHARE + CAMEL_SHARE:
        return pieces[0] + "".join(piece.capitalize() for piece in pieces[1:])
    return "-".join(pieces)


def _reader_description(rng: random.Random) -> str:
    if rng.random() < PLAIN_DESCRIPTION_SHARE:
        return _original("lookup").description
    return _filled(rng, rng.choice(words.READ_DESCRIPTIONS), words.READ_WORDS)


def _counter_description(rng: random.Random) -> str:
    if rng.random() < PLAIN_DESCRIPTION_SHARE:
        return _original("calculator").description
    return _filled(rng, rng.choice(words.COUNT_DESCRIPTIONS), words.COUNT_WORDS)


def _filled(rng: random.Random, template: str, choices: dict[str, Strings]) -> str:
    drawn = {slot: rng.choice(options) for slot, options in choices.items()}
    drawn |= {slot.capitalize(): word.capitalize() for slot, word in drawn.items()}
    return template.format(
        **drawn, made=words.made_up_word(rng).capitalize(), number=rng.randrange(100)
    )
