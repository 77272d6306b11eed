"""Reads the facts of a row that determine its grader: its keys, and the form of each value.

Owns the names of these keys. A null and a blank text count as absent. Pure.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Any, Final

from app.domain.graders.texts.calls import ReferenceFault, expected_calls
from app.domain.graders.texts.code_tests import TestsFault, code_tests, is_function_name
from app.domain.graders.texts.numerals import is_number
from app.domain.texts.strict_json import TooManyValues, strict_loads

TESTS: Final = "tests"
FUNCTION_KEYS: Final = ("function", "entry_point")
CALL_KEYS: Final = ("calls", "expected_calls", "expected_tool_calls", "tool_calls")
# fmt: off
REFERENCE_KEYS: Final = (
    "reference_answer", "answer", "reference", "expected_answer", "expected", "target", "solution",
    "ground_truth", "label",
)
# fmt: on
_SOLVED: Final = "####"
"""Mark before the answer of a worked solution, as in the rows of GSM8K."""
_LABEL_CHARACTERS: Final = 64
_LABEL_WORDS: Final = 8


class ReferenceForm(Enum):
    FUNCTION_TESTS = "tests of a function"
    PROGRAM_TESTS = "tests of a program"
    NAME = "a name"
    CALLS = "calls"
    JSON = "JSON"
    NUMBER = "a number"
    LABEL = "a short text"
    TEXT = "a text"


@dataclass(frozen=True, slots=True)
class RowFacts:
    location: str
    """Line of the file, from 1, with the file's name if there are several."""
    forms: Mapping[str, ReferenceForm]
    """Form of each usable value, by key."""
    faults: Mapping[str, str]
    """Fault of each unusable value, by key."""
    offers_tools: bool


def row_facts(item: Mapping[str, Any], line: int, *, file: str | None = None) -> RowFacts:
    """Returns the facts of the row in this line; `file` names the file if there are several."""
    location = f"line {line}" if file is None else f"line {line} of the {file} file"
    forms, faults = dict[str, ReferenceForm](), dict[str, str]()
    for key, form_of in _READERS.items():
        value = item.get(key)
        if value is None or (isinstance(value, str) and not value.strip()):
            continue
        try:
            form = form_of(value)
        except (TestsFault, ReferenceFault) as fault:
            faults[key] = str(fault)
            continue
        if form is not None:
            forms[key] = form
    return RowFacts(location, forms, faults, bool(item.get("tools")))


def _as_text(value: Any) -> str:
    """Returns a value as a template renders it."""
    return value if isinstance(value, str) else json.dumps(value)


def _tests(value: Any) -> ReferenceForm:
    text = _as_text(value)
    try:
        code_tests(text, with_function=False)
    except TestsFault:
        try:
            code_tests(text, with_function=True)
        except TestsFault as fault:
            raise TestsFault(
                f'{fault}; a test is {{"arguments", "expected"}} or {{"stdin", "stdout"}}'
            ) from None
        return ReferenceForm.FUNCTION_TESTS
    return ReferenceForm.PROGRAM_TESTS


def _name(value: Any) -> ReferenceForm | None:
    if not isinstance(value, str) or not value.isidentifier():
        return None
    if not is_function_name(value):
        raise TestsFault(f"{value!r} is a keyword of Python, so no function has this name")
    return ReferenceForm.NAME


def _calls(value: Any) -> ReferenceForm:
    expected_calls(_as_text(value))
    return ReferenceForm.CALLS


def _reference(value: Any) -> ReferenceForm:
    match value:
        case bool():
            return ReferenceForm.LABEL
        case int() | float():
            return ReferenceForm.NUMBER
        case str():
            return _form_of_text(value.strip())
        case _:
            return ReferenceForm.JSON


def _form_of_text(text: str) -> ReferenceForm:
    if is_number(text.rpartition(_SOLVED)[2].strip()):
        return ReferenceForm.NUMBER
    if text[0] in "{[":
        try:
            strict_loads(text)
        except TooManyValues as many:
            raise ReferenceFault(str(many)) from None
        except (ValueError, RecursionError):
            return ReferenceForm.TEXT
        return ReferenceForm.JSON
    short = len(text) <= _LABEL_CHARACTERS and len(text.split()) <= _LABEL_WORDS
    return ReferenceForm.LABEL if short and "\n" not in text else ReferenceForm.TEXT


_READERS: Final[Mapping[str, Callable[[Any], ReferenceForm | None]]] = MappingProxyType(
    {
        TESTS: _tests,
        **dict.fromkeys(FUNCTION_KEYS, _name),
        **dict.fromkeys(CALL_KEYS, _calls),
        **dict.fromkeys(REFERENCE_KEYS, _reference),
    }
)
