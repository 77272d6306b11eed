"""Compares texts with expressions and JSON Schemas in a process that is ended at a time limit: a
schema's work may double with each reference.
"""

import json
import os
import re
import resource
import selectors
import subprocess
import sys
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from typing import IO, Any, Final

import jsonschema_rs

from app.kit.processes import running_module

MAX_PATTERN: Final = 4_096
MAX_COMPILED_BYTES: Final = 2**18
LIMIT_S: Final = 10.0
CHECK_LIMIT_S: Final = 5.0
_CACHE_BYTES: Final = 2**21
_MAX_BYTES: Final = 2**30
_MOST_IDLE: Final = 2
_SHOWN: Final = 300
_NO_FAULT: Final = "multiple repeat"
"""A fault in Python alone."""
_SYNTAX: Final = "in the syntax of Rust's `regex`"
_OF_OTHERS: Final = re.compile(r"\(\?(?:<?[=!]|>|P=)|\\[1-9k]")
"""What only engines with back-tracking have."""
_GONE: Final = (OSError, ValueError, EOFError)

Question = Mapping[str, Any]
Compiled = tuple[jsonschema_rs.Draft202012Validator | None, str]


class JsonSchemaFault(ValueError):
    """Reports an invalid schema or pattern. The message is for its author."""


class TooMuchWork(Exception):
    """A text takes too long to compare; the message names the limit."""


def check_pattern(pattern: str, *, whole: bool, ignore_case: bool) -> None:
    _checked({"pattern": pattern, "whole": whole, "ignore_case": ignore_case})


def check_schema(schema: dict[str, Any]) -> None:
    _checked({"schema": schema})


def matches(pattern: str, text: str, *, whole: bool, ignore_case: bool) -> bool:
    question = {"pattern": pattern, "whole": whole, "ignore_case": ignore_case, "value": text}
    return _compared(question) is None


def schema_fault(schema: dict[str, Any], value: Any) -> tuple[tuple[str | int, ...], str] | None:
    fault = _compared({"schema": schema, "value": value})
    return None if fault is None else (tuple(fault[1:]), fault[0])


def _compared(question: Question) -> list[Any] | None:
    answer = _answer(question, within_s=LIMIT_S)
    if answer["refused"] is not None:
        raise JsonSchemaFault(answer["refused"])
    fault: list[Any] | None = answer["fault"]
    return fault


def _checked(question: Question) -> None:
    try:
        refused = _answer({**question, "value": None}, within_s=CHECK_LIMIT_S)["refused"]
    except (TooMuchWork, RecursionError):
        refused = f"it takes more than {CHECK_LIMIT_S:g} s, or too much memory; make it simpler"
    if refused is not None:
        raise JsonSchemaFault(refused)


class _Matcher:
    """A process that answers one question at a time, and ends with this one."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - our own module
            running_module("app.graders.json_schemas"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._replies = selectors.DefaultSelector()
        self._replies.register(_pipe(self._process.stdout), selectors.EVENT_READ)

    def answer(self, question: bytes, within_s: float) -> dict[str, Any]:
        questions, replies = _pipe(self._process.stdin), _pipe(self._process.stdout)
        questions.write(question)
        questions.flush()
        if not self._replies.select(within_s):
            raise TimeoutError
        if not (line := replies.readline()):
            raise EOFError
        answer: dict[str, Any] = json.loads(line)
        return answer

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._replies.close()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                _pipe(pipe).close()


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise OSError
    return pipe


_idle: Final = deque[_Matcher]()
os.register_at_fork(after_in_child=_idle.clear)


def _answer(question: Question, *, within_s: float) -> dict[str, Any]:
    line = json.dumps(question).encode() + b"\n"
    try:
        matcher = _idle.pop()
    except IndexError:
        matcher = _Matcher()
    try:
        answer = matcher.answer(line, within_s)
    except TimeoutError:
        matcher.end()
        raise TooMuchWork(f"comparing the text takes longer than {within_s:g} s") from None
    except _GONE:
        matcher.end()
        raise TooMuchWork("comparing the text takes too much memory") from None
    if len(_idle) < _MOST_IDLE:
        _idle.append(matcher)
    else:
        matcher.end()
    return answer


def _serve() -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (_MAX_BYTES, _MAX_BYTES))
    for line in sys.stdin.buffer:
        question = json.loads(line)
        value = question.pop("value", None)
        validator, refused = _compiled(json.dumps(question))
        if validator is None:
            answer: dict[str, Any] = {"refused": refused, "fault": None}
        else:
            answer = {"refused": None, "fault": _fault(validator, value)}
        sys.stdout.write(f"{json.dumps(answer)}\n")
        sys.stdout.flush()


def _fault(validator: jsonschema_rs.Draft202012Validator, value: Any) -> list[Any] | None:
    try:
        if validator.is_valid(value):
            return None
        error = next(iter(validator.iter_errors(value)), None)
    except ValueError as unusable:  # nested too deeply, or a number that the engine cannot hold
        return [f"it cannot be compared with the schema: {unusable}"]
    if error is None:
        return None
    return [error.message, *error.instance_path]


@lru_cache(maxsize=64)
def _compiled(question: str) -> Compiled:
    match json.loads(question):
        case {"schema": schema}:
            return _compiled_schema(schema)
        case {"pattern": pattern, "whole": whole, "ignore_case": ignore_case}:
            return _compiled_pattern(pattern, whole=whole, ignore_case=ignore_case)
        case unknown:
            raise AssertionError(unknown)


def _compiled_schema(schema: dict[str, Any]) -> Compiled:
    try:
        return _validator(schema), ""
    except (ValueError, RecursionError) as error:
        text = getattr(error, "message", None) or str(error) or type(error).__name__
    if "Retrieval is disabled" in text:
        return None, "a '$ref' points outside the schema; external schemas are not fetched"
    return None, f"it is not a JSON schema ({text[:_SHOWN]})"


def _compiled_pattern(pattern: str, *, whole: bool, ignore_case: bool) -> Compiled:
    flags = "(?i)" if ignore_case else ""
    forms = [f"{flags}{pattern}"]
    if whole:  # the second one for such as `(?x)a # c`, whose comment would swallow the bracket
        forms = [rf"{flags}\A(?:{pattern})\z", f"{flags}\\A(?:{pattern}\n)\\z"]
    # The pattern alone comes first, before it stands in a group that another bracket could close.
    with suppress(ValueError):
        _validator({"pattern": pattern})
        for form in forms:
            with suppress(ValueError):
                return _validator({"pattern": form}), ""
    return None, _pattern_fault(pattern)


def _validator(schema: dict[str, Any]) -> jsonschema_rs.Draft202012Validator:
    options = jsonschema_rs.RegexOptions(size_limit=MAX_COMPILED_BYTES, dfa_size_limit=_CACHE_BYTES)
    return jsonschema_rs.Draft202012Validator(
        schema, offline=True, pattern_options=options, mask="the value"
    )


def _pattern_fault(pattern: str) -> str:
    other = _OF_OTHERS.search(pattern)
    if other is not None:
        return (
            f"'{other[0]}' at character {other.start() + 1} is not available: look-around, atomic "
            "groups and back-references take no bounded time"
        )
    try:
        re.compile(pattern)
    except re.error as error:
        if error.pos is not None and error.msg != _NO_FAULT:
            return f"it cannot be read {_SYNTAX}: {error.msg} at character {error.pos + 1}"
    except (OverflowError, RecursionError):
        pass
    return (
        f"it cannot be read {_SYNTAX}, or is too large: compiled, it may have "
        f"{MAX_COMPILED_BYTES} bytes"
    )


if __name__ == "__main__":
    _serve()
