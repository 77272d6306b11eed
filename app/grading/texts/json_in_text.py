"""Finds the JSON objects in a text, and the texts in a JSON value. Reads in time proportional to
the length, and compares nothing. Pure.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

START: Final = re.compile(r'(?:\[[ \t\r\n]*+)?\{[ \t\r\n]*+["}]')
"""The beginning of an object, or of a list of objects, but not of `{x}` in a sentence."""
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[\]{}]', re.DOTALL)
"""A string, complete or not, or a bracket."""
_LONE_BACKSLASH: Final = re.compile(r'\\((?:["\\/bfnrt]|u[0-9a-fA-F]{4})?)')
"""A backslash with the escape of JSON that it begins, or without one, as in LaTeX."""


@dataclass(frozen=True, slots=True)
class EmbeddedJson:
    """A JSON value, and its place in the text."""

    value: Any
    start: int = 0
    end: int = 0


def texts_in(value: Any) -> Iterator[str]:
    """Yields the texts within a JSON value, each once."""
    found, left = set[str](), [value]
    while left:
        match left.pop():
            case str() as text if text not in found:
                found.add(text)
                yield text
            case dict() as inner:
                left += inner.values()
            case list() | tuple() as inner:
                left += inner
            case _:
                pass


def objects_in(value: Any) -> Iterator[dict[str, Any]]:
    """Yields the objects within a JSON value, and the value itself if it is one."""
    left = [value]
    while left:
        match left.pop():
            case dict() as inner:
                yield inner
                left += inner.values()
            case list() | tuple() as inner:
                left += inner
            case _:
                pass


def embedded_json(text: str) -> Iterator[EmbeddedJson]:
    """Yields the complete JSON objects, and lists of objects, that are in no other one."""
    position = 0
    while (start := START.search(text, position)) is not None:
        depth = 0
        for token in _TOKEN.finditer(text, start.start()):
            match token[0]:
                case "{" | "[":
                    depth += 1
                case "}" | "]":
                    depth -= 1
                case _:
                    continue
            if not depth:
                break
        else:
            return
        position = token.end()
        if (found := parsed_json(text[start.start() : position])) is not None:
            yield EmbeddedJson(found.value, start.start(), position)


def parsed_json(text: str) -> EmbeddedJson | None:
    """Returns the value of a text, `None` for one that is no JSON or repeats a key: a judge that
    quotes an answer without escapes could be made to write a verdict twice. A backslash that begins
    no escape is read as itself.
    """
    found = _loaded(text)
    if found is None and "\\" in text:
        found = _loaded(with_escaped_backslashes(text))
    return found


def with_escaped_backslashes(text: str) -> str:
    """Returns a text whose backslashes that begin no escape of JSON are escaped themselves."""
    return _LONE_BACKSLASH.sub(_escaped, text)


def _loaded(text: str) -> EmbeddedJson | None:
    try:
        return EmbeddedJson(json.loads(text, strict=False, object_pairs_hook=_object))
    except (ValueError, RecursionError):
        return None


def json_at(text: str, start: int) -> Any:
    """Returns the JSON value that begins there, whatever follows it; `None` without one, and for
    one that repeats a key.
    """
    try:
        return _DECODER.raw_decode(text, start)[0]
    except (ValueError, RecursionError):
        return None


def _escaped(found: re.Match[str]) -> str:
    return found[0] if found[1] else "\\\\"


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Raises `ValueError` for a repeated key."""
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a key is repeated")
    return made


_DECODER: Final = json.JSONDecoder(strict=False, object_pairs_hook=_object)


def object_of(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
