"""Counts the steps of a backtracking search, for tests of a pattern's cost that no clock decides.

Walks the syntax tree of a pattern as the engine of `re` does, without its short cuts, and counts
each character that is compared and each repeat that is given up. A repeat of up to many times
counts as one of a few: it costs a constant, however large.

The tree is that of a private module of `re`, which the engine's own compiler reads. Python has no
public one (`sre_parse` is deprecated since 3.11), and a parser of another library would be a second
reading of the pattern. A Python that moves the module fails at the import.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from re import _constants as ops  # type: ignore[attr-defined]  # has no stub
from re import _parser  # type: ignore[attr-defined]  # has no stub
from typing import Any, Final

Next = Callable[[int], bool]
Matcher = Callable[[int, Next], bool]
MOST_STEPS: Final = 20_000
_FEW: Final = 4
_CATEGORIES: Final[dict[Any, Callable[[str], bool]]] = {
    ops.CATEGORY_SPACE: str.isspace,
    ops.CATEGORY_NOT_SPACE: lambda char: not char.isspace(),
    ops.CATEGORY_DIGIT: str.isdecimal,
    ops.CATEGORY_NOT_DIGIT: lambda char: not char.isdecimal(),
    ops.CATEGORY_WORD: lambda char: char.isalnum() or char == "_",
    ops.CATEGORY_NOT_WORD: lambda char: not (char.isalnum() or char == "_"),
}
_SINGLE: Final = (ops.LITERAL, ops.NOT_LITERAL, ops.ANY, ops.IN)
_REPEATS: Final = (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT)


class TooManySteps(Exception):
    """A search is given up: its steps are out of all proportion to the text."""


def _kept(ends: list[int]) -> Next:
    """Returns what stores the end of a match and goes no further."""

    def keep(end: int) -> bool:
        ends.append(end)
        return True

    return keep


@dataclass(slots=True)
class RegexSearch:
    """One pattern on one text."""

    pattern: re.Pattern[Any]
    text: str
    steps: int = 0
    spans: list[tuple[int, int]] = field(default_factory=list)
    groups: dict[int, tuple[int, int]] = field(default_factory=dict)

    def run(self, *, anchored: bool) -> "RegexSearch":
        """Finds all matches, as `finditer` does, or the one at the beginning."""
        matcher = self._sequence(syntax(self.pattern))
        at = 0
        while at <= len(self.text):
            ends: list[int] = []
            self.groups.clear()
            if matcher(at, _kept(ends)):
                self.spans.append((at, ends[0]))
            if anchored:
                break
            at = max(ends[0], at + 1) if ends else at + 1
        return self

    def _sequence(self, nodes: Any) -> Matcher:
        matchers = [self._matcher(op, value) for op, value in nodes]

        def run(at: int, then: Next, number: int = 0) -> bool:
            if number == len(matchers):
                return then(at)
            return matchers[number](at, lambda end: run(end, then, number + 1))

        return run

    def _matcher(self, op: Any, value: Any) -> Matcher:
        makers: dict[Any, Callable[[], Matcher]] = {
            **dict.fromkeys(_SINGLE, lambda: self._one(op, value)),
            **dict.fromkeys(_REPEATS, lambda: self._repeat(op, *value)),
            ops.SUBPATTERN: lambda: self._group(value[0], self._sequence(value[3])),
            ops.GROUPREF: lambda: self._repeated_group(value),
            ops.GROUPREF_EXISTS: lambda: self._with_group(*value),
            ops.ATOMIC_GROUP: lambda: self._atomic(self._sequence(value)),
            ops.BRANCH: lambda: self._branch(value[1]),
            ops.ASSERT: lambda: self._assertion(op, *value),
            ops.ASSERT_NOT: lambda: self._assertion(op, *value),
            ops.AT: lambda: lambda at, then: self._is_at(value, at) and then(at),
        }
        return makers[op]()

    def _one(self, op: Any, value: Any) -> Matcher:
        fits = self._fits(op, value)
        return lambda at, then: fits(at) and then(at + 1)

    def _group(self, number: int | None, inner: Matcher) -> Matcher:
        if number is None:
            return inner

        def run(at: int, then: Next) -> bool:
            before = dict(self.groups)

            def end_at(end: int) -> bool:
                self.groups[number] = (at, end)
                return then(end)

            found = inner(at, end_at)
            self.groups = self.groups if found else before
            return found

        return run

    def _repeated_group(self, number: int) -> Matcher:
        def run(at: int, then: Next) -> bool:
            start, end = self.groups.get(number, (len(self.text), -1))
            self.steps += 1 + len(again := self.text[start:end])
            return end >= 0 and self.text.startswith(again, at) and then(at + len(again))

        return run

    def _with_group(self, number: int, found: Any, missing: Any) -> Matcher:
        one, other = self._sequence(found), self._sequence(missing or ())

        def run(at: int, then: Next) -> bool:
            return (one if number in self.groups else other)(at, then)

        return run

    def _branch(self, branches: Any) -> Matcher:
        inner = [self._sequence(branch) for branch in branches]
        return lambda at, then: any(branch(at, then) for branch in inner)

    def _fits(self, op: Any, value: Any) -> Callable[[int], bool]:
        allowed = is_allowed(op, value, self.pattern.flags)

        def fits(at: int) -> bool:
            self.steps += 1
            if self.steps > MOST_STEPS:
                raise TooManySteps(self.pattern.pattern)
            return at < len(self.text) and allowed(self.text[at])

        return fits

    def _repeat(self, op: Any, low: int, high: Any, body: Any) -> Matcher:
        most = float("inf") if high is ops.MAXREPEAT else min(high, low + _FEW)
        if len(body) == 1 and body[0][0] in _SINGLE:
            return self._run_of(op, low, most, self._fits(*body[0]))
        inner = self._sequence(body)

        def more(at: int, then: Next, count: int) -> bool:
            again = lambda end: (end > at or count < low) and more(end, then, count + 1)  # noqa: E731 - reads like the rest
            self.steps += 1
            if op is ops.MIN_REPEAT and count >= low and then(at):
                return True
            if count < most and inner(at, again):
                return True
            return op is not ops.MIN_REPEAT and count >= low and then(at)

        whole: Matcher = lambda at, then: more(at, then, 0)  # noqa: E731 - reads like the rest
        return self._atomic(whole) if op is ops.POSSESSIVE_REPEAT else whole

    def _run_of(self, op: Any, low: int, most: float, fits: Callable[[int], bool]) -> Matcher:
        """Repeats one character, without a frame for each."""

        def run(at: int, then: Next) -> bool:
            end = at
            while end - at < (low if op is ops.MIN_REPEAT else most) and fits(end):
                end += 1
            if end - at < low:
                return False
            if op is ops.POSSESSIVE_REPEAT:
                return then(end)
            while not then(end):
                self.steps += 1
                if op is ops.MAX_REPEAT:
                    end -= 1
                    if end - at < low:
                        return False
                elif end - at < most and fits(end):
                    end += 1
                else:
                    return False
            return True

        return run

    def _atomic(self, inner: Matcher) -> Matcher:
        def run(at: int, then: Next) -> bool:
            ends: list[int] = []
            return inner(at, _kept(ends)) and then(ends[0])

        return run

    def _assertion(self, op: Any, direction: int, body: Any) -> Matcher:
        inner, width = self._sequence(body), body.getwidth()[0] if direction < 0 else 0

        def holds(at: int) -> bool:
            return at >= width and inner(at - width, lambda end: width == 0 or end == at)

        return lambda at, then: holds(at) is (op is ops.ASSERT) and then(at)

    def _is_at(self, anchor: Any, at: int) -> bool:
        self.steps += 1
        around = [
            0 <= index < len(self.text) and _CATEGORIES[ops.CATEGORY_WORD](self.text[index])
            for index in (at - 1, at)
        ]
        lines = self.pattern.flags & re.MULTILINE
        match anchor:
            case ops.AT_BEGINNING:
                return at == 0 or bool(lines and self.text[at - 1] == "\n")
            case ops.AT_BEGINNING_STRING:
                return at == 0
            case ops.AT_END:
                return self.text[at:] in ("", "\n") or bool(lines and self.text[at] == "\n")
            case ops.AT_END_STRING:
                return at == len(self.text)
            case ops.AT_BOUNDARY:
                return around[0] is not around[1]
            case _:
                raise NotImplementedError(str(anchor))


def syntax(pattern: re.Pattern[Any]) -> Any:
    """Returns the syntax tree; one of bytes is that of the same text."""
    written = pattern.pattern
    text = written.decode("latin-1") if isinstance(written, bytes) else written
    return _parser.parse(text, pattern.flags & ~re.UNICODE)


def is_allowed(op: Any, value: Any, flags: int) -> Callable[[str], bool]:
    """Returns the condition of a node that matches one character."""

    def allowed(char: str) -> bool:
        if op is ops.ANY:
            return char != "\n" or bool(flags & re.DOTALL)
        cases = {char, char.lower(), char.upper()} if flags & re.IGNORECASE else {char}
        if op is ops.IN:
            members = [item for item in value if item[0] is not ops.NEGATE]
            found = any(_is_member(kind, what, case) for kind, what in members for case in cases)
            return found is (len(members) == len(value))
        return bool((value in map(_code, cases)) is (op is ops.LITERAL))

    return allowed


def _code(char: str) -> int:
    return ord(char) if len(char) == 1 else -1


def _is_member(op: Any, value: Any, char: str) -> bool:
    if op is ops.LITERAL:
        return bool(_code(char) == value)
    if op is ops.RANGE:
        return bool(value[0] <= _code(char) <= value[1])
    return len(char) == 1 and _CATEGORIES[value](char)


_CHARACTERS: Final = "a0 \n\t-_./:,;<>{}[]()\"'=|&?#@~\\A\x00é"


def sample(nodes: Any, flags: int) -> str:
    """Returns a short text that the nodes match, with each repeat at least once."""
    return "".join(_sample(op, value, flags) for op, value in nodes)


def _sample(op: Any, value: Any, flags: int) -> str:
    if op in _SINGLE:
        allowed = is_allowed(op, value, flags)
        own = [chr(value)] if op is ops.LITERAL else []
        if op is ops.IN:
            own = [chr(item[1]) for item in value if item[0] is ops.LITERAL]
            own += [chr(item[1][0]) for item in value if item[0] is ops.RANGE]
        candidates: tuple[str, ...] = (*_CHARACTERS, *own)
        return next(char for char in candidates if allowed(char))
    inner: list[str] = [sample(nodes, flags) for nodes in _within(op, value)]
    if op in _REPEATS:
        return inner[0] * max(int(value[0]), 1)
    return inner[0] if inner else ""


def _within(op: Any, value: Any) -> list[Any]:
    """Returns the sequences of nodes that a node holds, but those of assertions."""
    if op in _REPEATS:
        return [value[2]]
    if op is ops.BRANCH:
        return list(value[1])
    if op is ops.SUBPATTERN:
        return [value[3]]
    return [value] if op is ops.ATOMIC_GROUP else []


def parts(nodes: Any, flags: int) -> Iterator[str]:
    """Yields a sample of each repeated or alternative part, at any depth."""
    for op, value in nodes:
        for inner in _within(op, value):
            if op in (*_REPEATS, ops.BRANCH):
                yield sample(inner, flags)
            yield from parts(inner, flags)


def literals(pattern: re.Pattern[Any]) -> list[str]:
    """Returns the different characters that a pattern names outside of ranges."""
    named = re.findall(r"LITERAL (\d+)", _dumped(syntax(pattern)))
    return list(dict.fromkeys(chr(int(code)) for code in named))


def _dumped(nodes: Any) -> str:
    """Returns the tree as `re` shows it with its flag for debugging."""
    with redirect_stdout(StringIO()) as shown:
        nodes.dump()
    return shown.getvalue()
