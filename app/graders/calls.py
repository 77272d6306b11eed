"""Reads tool calls from JSON and from text, and pairs them with expected ones."""

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from json import JSONDecoder
from typing import Any, Final

from app.graders.answer_words import after_thinking
from app.graders.texts import TooManyFences, blocks, check_fences, fenced_blocks
from app.kit.strict_json import MAX_VALUES, TooManyValues, has_too_many_values, strict_loads
from app.rollouts.marked_formats import BY_TEMPLATE, HARMONY, build_tool_format
from app.rollouts.tool_formats import ParsedCalls

MAX_EXPECTED: Final = 64
_NAMES: Final = ("name", "function", "tool")
_ARGUMENTS: Final = ("arguments", "parameters", "args", "input")
_VALUE: Final = re.compile(r"[^ \t\r\n,;]")
_DECODER: Final = JSONDecoder()
_OTHERS: Final = frozenset({"id", "call_id", "index", "type"})


class ReferenceFault(ValueError):
    """A reference without calls. The text is for its author."""


@dataclass(frozen=True, slots=True)
class WrittenCall:
    name: str
    arguments: dict[str, Any] | None


def call_of(entry: Any) -> WrittenCall | None:
    if not isinstance(entry, dict):
        return None
    function = entry.get("function")
    if isinstance(function, dict):
        return call_of(function) if not isinstance(function.get("function"), dict) else None
    name = next((entry[key] for key in _NAMES if isinstance(entry.get(key), str)), None)
    if name is None:
        return None
    sent = next((entry[key] for key in _ARGUMENTS if key in entry), None)
    return WrittenCall(name, arguments_of(sent))


def arguments_of(sent: Any) -> dict[str, Any] | None:
    """Returns arguments that are an object or the JSON text of one; `None` for any others."""
    if sent is None or (isinstance(sent, str) and not sent.strip()):
        return {}
    value = json_of(sent) if isinstance(sent, str) else sent
    return value if isinstance(value, dict) else None


def json_of(text: str) -> Any:
    try:
        return strict_loads(text)
    except (ValueError, RecursionError):
        return None


def values_of(text: str) -> list[Any]:
    """Returns the JSON value of a text, or the objects and lists of several in a row, else none."""
    if "{" not in text or "}" not in text:  # an answer may have 100,000 blocks that hold no call
        return []
    value = json_of(text)
    if value is not None or has_too_many_values(text):
        return [value]
    found, position = list[Any](), 0
    try:
        while (start := _VALUE.search(text, position)) is not None:
            if start[0] not in "{[":
                return []
            _, position = _DECODER.raw_decode(text, start.start())
            found.append(strict_loads(text[start.start() : position]))
    except (ValueError, RecursionError):
        return []
    return found


def is_plainly_a_call(entry: Any) -> bool:
    """Returns whether a value has only the keys of a call, unlike a person's name."""
    if not isinstance(entry, dict):
        return False
    function = entry.get("function")
    if isinstance(function, dict):
        entry = {**entry, **function}
        if not isinstance(function.get("function"), str):
            del entry["function"]
    names = [key for key in _NAMES if key in entry]
    arguments = [key for key in _ARGUMENTS if key in entry]
    return len(names) == len(arguments) == 1 and entry.keys() <= {*names, *arguments, *_OTHERS}


def expected_calls(text: str) -> list[WrittenCall]:
    try:
        value = strict_loads(text)
    except TooManyValues:
        raise ReferenceFault(f"'reference' contains more than {MAX_VALUES} values") from None
    except (ValueError, RecursionError):
        value = None
    entries = value if isinstance(value, list) else [value]
    calls = [call_of(entry) for entry in entries]
    named = [call for call in calls if call is not None]
    if len(named) < len(calls):
        raise ReferenceFault("'reference' is not a JSON list of calls with a name and arguments")
    if len(named) > MAX_EXPECTED:
        raise ReferenceFault(f"'reference' has more than {MAX_EXPECTED} calls")
    for call, entry in zip(named, entries, strict=True):
        if call.arguments is None:
            raise ReferenceFault(
                f"'reference' has a call of '{call.name[:40]}' whose arguments are not a JSON "
                f"object of at most {MAX_VALUES} values"
            )
        stray = _stray_key(entry)
        if stray is not None:
            raise ReferenceFault(
                f"'reference' has a call of '{call.name[:40]}' without 'arguments', "
                f"and with the unknown key '{stray[:40]}'"
            )
    return named


def _stray_key(entry: dict[str, Any]) -> str | None:
    """Returns the key of a call without arguments that was probably meant as its arguments."""
    function = entry.get("function")
    inner = function if isinstance(function, dict) else entry
    if any(key in inner for key in _ARGUMENTS):
        return None
    known = {*_NAMES, *_OTHERS}
    return next((key for keys in (inner, entry) for key in keys if key not in known), None)


MAX_CALLS: Final = 256
_TAGS: Final = ("tool_call", "function_call", "tool", "tool_calls", "function_calls")


class RawText(str):
    __slots__ = ()


_MARKS: Final = (
    *("<function_call", "<function=", "<invoke ", "<parameter=", "to=functions."),
    *(
        mark
        for name in BY_TEMPLATE
        if name != "openai"  # whose marks are in every turn
        for mark in build_tool_format(name).marks
        if not mark.isalpha()
    ),
)
_LONGEST_TURN: Final = 65_536
"""Most characters of a text that is read as a turn: Python's parser holds the interpreter lock."""


def read_calls(text: str, expected: Sequence[WrittenCall] = ()) -> list[WrittenCall]:
    """Reads an answer as a turn of each family of models, or else by what such forms share. A value
    that is written without a type has that of the same argument of an expected call.
    """
    for turn in _turns(text, _typed(expected)):
        if turn.tool_calls:
            calls = turn.tool_calls[:MAX_CALLS]
            return [WrittenCall(call.name, arguments_of(call.arguments_json)) for call in calls]
    text = after_thinking(text)
    for form in (_tagged, _xml, _fenced, _raw):
        found = list(islice(form(text), MAX_CALLS))
        if found:
            return found
    return []


def has_marks_of_calls(text: str) -> bool:
    answer = after_thinking(text)
    return any(mark in answer for mark in _MARKS) or any(
        turn.parse_error is not None for turn in _turns(text, [])
    )


def _turns(text: str, tools: list[dict[str, Any]]) -> Iterator[ParsedCalls]:
    answer = after_thinking(text)
    for name in BY_TEMPLATE if len(text) <= _LONGEST_TURN else ():
        turn = HARMONY.split(text, opened=False).answer if name == "openai" else answer
        yield build_tool_format(name).parse(turn, tools)


def _typed(expected: Sequence[WrittenCall]) -> list[dict[str, Any]]:
    functions = defaultdict[str, dict[str, Any]](dict)
    for call in expected:
        for name, value in (call.arguments or {}).items():
            functions[call.name][name] = {"type": _type_of(value)}
    return [
        {"name": function, "parameters": {"properties": properties}}
        for function, properties in functions.items()
    ]


def _type_of(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case str():
            return "string"
        case _:
            return "object"


def calls_of(value: Any) -> list[WrittenCall]:
    entries = value if isinstance(value, list) else [value]
    return [call for entry in entries[:MAX_CALLS] if (call := call_of(entry)) is not None]


def _tagged(text: str) -> Iterator[WrittenCall]:
    found = [
        block
        for tag in _TAGS
        for block in blocks(text, f"<{tag}", ">", f"</{tag}>", whole_word=True)
    ]
    for block in sorted(found, key=lambda one: one.start):
        for value in values_of(block.text):
            yield from calls_of(value)


def _xml(text: str) -> Iterator[WrittenCall]:
    for tag, sign in (("invoke", " name="), ("function", "=")):
        for block in blocks(text, f"<{tag}{sign}", ">", f"</{tag}>"):
            parameters = list(blocks(block.text, f"<parameter{sign}", ">", "</parameter>"))
            named = {_unquoted(each.label): RawText(each.text.strip()) for each in parameters}
            yield WrittenCall(_unquoted(block.label), named or arguments_of(block.text))


def _fenced(text: str) -> Iterator[WrittenCall]:
    try:
        check_fences(text)
    except TooManyFences:
        return
    for block in fenced_blocks(text):
        yield from _raw(block.text)


def _raw(text: str) -> Iterator[WrittenCall]:
    for value in values_of(text):
        entries = value if isinstance(value, list) else [value]
        yield from calls_of([entry for entry in entries if is_plainly_a_call(entry)])


def _unquoted(label: str) -> str:
    return label.strip().strip("\"'")


Scores = Sequence[Sequence[float]]


def best_in_order(scores: Scores) -> list[float]:
    """Returns the score of each expected entry if pairs must have the same order on both sides."""
    columns = len(scores[0]) if scores else 0
    best = [[0.0] * (columns + 1) for _ in range(len(scores) + 1)]
    for row in range(len(scores) - 1, -1, -1):
        for column in range(columns - 1, -1, -1):
            paired = scores[row][column] + best[row + 1][column + 1]
            best[row][column] = max(paired, best[row + 1][column], best[row][column + 1])
    found, row, column = [0.0] * len(scores), 0, 0
    while row < len(scores) and column < columns:
        if best[row][column] == best[row][column + 1]:
            column += 1
        elif best[row][column] == best[row + 1][column]:
            row += 1
        else:
            found[row] = scores[row][column]
            row, column = row + 1, column + 1
    return found


def best_in_any_order(scores: Scores) -> list[float]:
    """Returns each expected entry's score in the best assignment (Kuhn's method, cubic time)."""
    rows, columns = len(scores), max(len(scores), len(scores[0]) if scores else 0)
    cost = [[-score for score in row] + [0.0] * (columns - len(row)) for row in scores]
    row_of = [-1] * columns
    row_price, column_price = [0.0] * rows, [0.0] * columns
    for start in range(rows):
        row_of = _augmented(start, cost, row_of, (row_price, column_price))
    found = [0.0] * rows
    for column, row in enumerate(row_of):
        if row >= 0 and column < len(scores[row]):
            found[row] = scores[row][column]
    return found


def _augmented(
    start: int, cost: list[list[float]], row_of: list[int], prices: tuple[list[float], list[float]]
) -> list[int]:
    """Returns the assignment with the row `start` added, by the shortest path to a free column."""
    row_price, column_price = prices
    columns = len(row_of)
    distance = [math.inf] * columns
    before = [-1] * columns
    done = [False] * columns
    row, column = start, -1
    while True:
        shortest, nearest = math.inf, -1
        for each in range(columns):
            if done[each]:
                continue
            reduced = cost[row][each] - row_price[row] - column_price[each]
            if reduced < distance[each]:
                distance[each], before[each] = reduced, column
            if distance[each] < shortest:
                shortest, nearest = distance[each], each
        row_price[start] += shortest
        for each in range(columns):
            if done[each]:
                row_price[row_of[each]] += shortest
                column_price[each] -= shortest
            else:
                distance[each] -= shortest
        column = nearest
        done[column] = True
        if row_of[column] == -1:
            break
        row = row_of[column]
    assigned = list(row_of)
    while column != -1:
        assigned[column] = start if before[column] == -1 else assigned[before[column]]
        column = before[column]
    return assigned
