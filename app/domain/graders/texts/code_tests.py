"""Reads the tests of a `code_execution` grader: calls of a function, or runs of a whole program."""

import keyword
from dataclasses import dataclass
from typing import Any, Final

from app.domain.texts.strict_json import TooManyValues, strict_loads

MAX_TESTS: Final = 64
MAX_TEST_VALUES: Final = 250_000
"""Largest number of values in all tests of a row: as many as fit into the longest rendered text at
8 characters each.
"""
NO_FUNCTION: Final = "its 'function' is not the name of a function"
_CALL_KEYS: Final = {"arguments", "expected"}
_RUN_KEYS: Final = {"stdin", "stdout"}


class TestsFault(ValueError):
    """A text without tests. The message is for its author."""

    __test__ = False


@dataclass(frozen=True, slots=True)
class CallTest:
    """A call of the function and the value that it must return."""

    arguments: tuple[Any, ...]
    expected: Any


@dataclass(frozen=True, slots=True)
class RunTest:
    """A run of the program and the text that it must print."""

    stdin: str
    stdout: str


CodeTest = CallTest | RunTest


def is_function_name(text: str) -> bool:
    """Returns whether Python can define a function of this name; reserved words such as `class` are
    excluded.
    """
    return text.isidentifier() and not keyword.iskeyword(text)


def code_tests(text: str, *, with_function: bool) -> list[CodeTest]:
    """Reads a JSON list of tests; with a function each one calls it. Raises `TestsFault`."""
    try:
        entries = strict_loads(text, most=MAX_TEST_VALUES)
    except TooManyValues:
        raise TestsFault(f"the tests contain more than {MAX_TEST_VALUES} values") from None
    except (ValueError, RecursionError):
        raise TestsFault("the tests are not JSON") from None
    if not isinstance(entries, list) or not 0 < len(entries) <= MAX_TESTS:
        raise TestsFault(f"the tests are a list of 1 to {MAX_TESTS} objects")
    read = _call if with_function else _run
    return [read(number, entry) for number, entry in enumerate(entries)]


def _call(number: int, entry: Any) -> CallTest:
    if not isinstance(entry, dict) or set(entry) != _CALL_KEYS:
        raise TestsFault(f"test {number} needs the keys 'arguments' and 'expected', and no others")
    if not isinstance(entry["arguments"], list):
        raise TestsFault(f"the 'arguments' of test {number} are not a list")
    return CallTest(tuple(entry["arguments"]), entry["expected"])


def _run(number: int, entry: Any) -> RunTest:
    if not isinstance(entry, dict) or not {"stdout"} <= set(entry) <= _RUN_KEYS:
        raise TestsFault(
            f"test {number} needs the key 'stdout' and may have 'stdin': without a 'function' in "
            "the grader a test runs the whole program"
        )
    stdin, stdout = entry.get("stdin", ""), entry["stdout"]
    if not isinstance(stdin, str) or not isinstance(stdout, str):
        raise TestsFault(f"'stdin' and 'stdout' of test {number} are texts")
    return RunTest(stdin, stdout)
