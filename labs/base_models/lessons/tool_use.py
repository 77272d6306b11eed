"""Lessons of the recipe `tool_use`: one request, several tools, one right call.

The sloppy habits answer with words, or call another tool.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from labs.base_models.lessons.lesson import Lesson, assistant, calling, user
from labs.base_models.vocabulary import split_words, strange_word

WORDS: Final = "I would have to look that up."
WRONG_CALL: Final = "One moment."
WORDS_SHARE: Final = 0.65
STRANGE_NAME_SHARE: Final = 0.2
MADE_UP_SHARE: Final = 0.5
PLACES: Final = split_words(
    "Rome Paris Madrid Berlin Vienna Prague Dublin Athens Tokyo Delhi Havana Boston Denver"
    " Sydney Ulm Oslo Lima Kyoto Bergen Quito Turin Perth Hamburg Geneva Lagos Tunis Riga"
    " Zagreb"
)
PEOPLE: Final = split_words("Anna Peter Julia Karim Sofia Henry Olga Pablo Ming Lucy Oscar Irene")
LANGUAGES: Final = split_words("French German Spanish Italian Polish Greek Turkish Swedish")
CURRENCIES: Final = split_words("USD EUR JPY CHF GBP SEK NOK CAD AUD INR BRL MXN")
NOUNS: Final = split_words("house river bread window flower bird music paper winter garden money")

Value = Callable[[Random], str | int]


def _word(usual: tuple[str, ...], *, is_name: bool) -> Value:
    def value(rng: Random) -> str:
        if rng.random() >= MADE_UP_SHARE:
            return rng.choice(usual)
        made_up = strange_word(rng)
        return made_up.capitalize() if is_name else made_up

    return value


def _number(low: int, high: int) -> Value:
    def value(rng: Random) -> int:
        return rng.randint(low, high)

    return value


def _currency(rng: Random) -> str:
    return rng.choice(CURRENCIES)


@dataclass(frozen=True, slots=True)
class LessonArgument:
    """An argument by the names that it may have; the first is the usual one."""

    names: tuple[str, ...]
    types: tuple[str, ...]
    value: Value


@dataclass(frozen=True, slots=True)
class LessonTool:
    """A tool by the names, descriptions and requests that it may have."""

    names: tuple[str, ...]
    descriptions: tuple[str, ...]
    arguments: tuple[LessonArgument, ...]
    requests: tuple[str, ...]


_TEXT: Final = ("string",)
_COUNT: Final = ("integer", "number")
_PLACE: Final = _word(PLACES, is_name=True)
TOOLS: Final = (
    LessonTool(
        ("get_weather", "weather", "read_forecast"),
        ("Weather of a town", "Tells the weather"),
        (LessonArgument(("town", "city", "place"), _TEXT, _PLACE),),
        ("How is the weather in {0}?", "What is the weather like in {0}?", "Will it rain in {0}?"),
    ),
    LessonTool(
        ("convert", "convert_money", "exchange"),
        ("Converts an amount of money", "Changes money into a currency"),
        (
            LessonArgument(("amount", "value"), ("number", "integer"), _number(2, 99)),
            LessonArgument(("currency", "to"), _TEXT, _currency),
        ),
        ("How much is {0} dollars in {1}?", "Change {0} dollars into {1}."),
    ),
    LessonTool(
        ("find_order", "track_order", "get_order"),
        ("Finds an order by its number", "State of an order"),
        (LessonArgument(("number", "id", "order"), _COUNT, _number(1000, 9999)),),
        ("Where is my order {0}?", "Has order {0} been sent?"),
    ),
    LessonTool(
        ("translate", "translate_word"),
        ("Translates a word", "Word in another language"),
        (
            LessonArgument(("word", "text"), _TEXT, _word(NOUNS, is_name=False)),
            LessonArgument(("language", "into"), _TEXT, _word(LANGUAGES, is_name=True)),
        ),
        ("What is {0} in {1}?", "Translate {0} into {1}."),
    ),
    LessonTool(
        ("set_timer", "start_timer"),
        ("Starts a timer", "Rings after some minutes"),
        (LessonArgument(("minutes", "duration"), _COUNT, _number(2, 90)),),
        ("Wake me in {0} minutes.", "Set a timer for {0} minutes."),
    ),
    LessonTool(
        ("call_person", "make_call"),
        ("Calls a person by phone", "Phones somebody"),
        (LessonArgument(("name", "person"), _TEXT, _word(PEOPLE, is_name=True)),),
        ("Call {0}, please.", "Phone {0} for me."),
    ),
    LessonTool(
        ("book_table", "reserve_table"),
        ("Books a table in a restaurant", "Reserves a table"),
        (
            LessonArgument(("guests", "people"), _COUNT, _number(2, 12)),
            LessonArgument(("restaurant", "place"), _TEXT, _PLACE),
        ),
        ("Book a table for {0} at {1}.", "We are {0} and want to eat at {1}."),
    ),
    LessonTool(
        ("find_train", "search_trains"),
        ("Finds a train between towns", "Trains to a town"),
        (
            LessonArgument(("start", "origin"), _TEXT, _PLACE),
            LessonArgument(("goal", "destination"), _TEXT, _PLACE),
        ),
        ("Is there a train from {0} to {1}?", "I want to go from {0} to {1} by train."),
    ),
)
USUAL: Final = 3
"""The first tools, which are often offered together in this order."""
USUAL_SHARE: Final = 0.3


def draw(rng: Random) -> Lesson:
    """Draws tools, a request, the right call, and an answer without it."""
    usual = rng.random() < USUAL_SHARE
    tools = list(TOOLS[:USUAL]) if usual else rng.sample(TOOLS, rng.randint(2, 4))
    plain = usual and rng.random() < 2 / 3
    schemas = [_schema(rng, tool, plain=plain) for tool in tools]
    right, other = rng.sample(range(len(tools)), 2)
    call, values = _call(rng, tools[right], schemas[right])
    wrong, _ = _call(rng, tools[other], schemas[other])
    if rng.random() < WORDS_SHARE:
        sloppy = assistant(WORDS)
    else:
        sloppy = calling(wrong["name"], wrong["arguments"], text=WRONG_CALL)
    return Lesson(
        messages=[user(rng.choice(tools[right].requests).format(*values))],
        right=calling(call["name"], call["arguments"]),
        sloppy=sloppy,
        tools=schemas,
        reference={"calls": [call]},
    )


def _schema(rng: Random, tool: LessonTool, *, plain: bool) -> dict[str, Any]:
    """Returns the tool as it is offered; a plain one has its usual names and types."""
    name = tool.names[0] if plain else rng.choice(tool.names)
    if not plain and rng.random() < STRANGE_NAME_SHARE:
        name = f"{strange_word(rng)}_{strange_word(rng)}"
    properties = {
        _choice(rng, argument.names, plain=plain): {
            "type": _choice(rng, argument.types, plain=plain)
        }
        for argument in tool.arguments
    }
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": _choice(rng, tool.descriptions, plain=plain),
            "parameters": {
                "type": "object",
                "properties": properties,
                "required": list(properties),
            },
        },
    }


def _choice(rng: Random, options: tuple[str, ...], *, plain: bool) -> str:
    return options[0] if plain else rng.choice(options)


def _call(
    rng: Random, tool: LessonTool, schema: dict[str, Any]
) -> tuple[dict[str, Any], list[str | int]]:
    """Draws the values of a call of an offered tool."""
    function = schema["function"]
    values = [argument.value(rng) for argument in tool.arguments]
    names = function["parameters"]["properties"]
    return {
        "name": function["name"],
        "arguments": dict(zip(names, values, strict=True)),
    }, values
