"""Every regular expression of the service costs time proportional to its text, whatever the text.

Counts steps on repeats of what each pattern matches, followed by what it does not, at two lengths.
"""

import ast
import math
import re
from collections.abc import Iterator
from importlib import import_module
from itertools import islice, product
from pathlib import Path
from typing import Any, Final

import pytest

from app.kit.texts import module_of
from tests.support.cases import cases
from tests.support.costs.regex_steps import (
    RegexSearch,
    TooManySteps,
    literals,
    parts,
    sample,
    syntax,
)

ROOT: Final = Path(__file__).resolve().parents[2]
SHORT, LONG = 8, 24
MOST: Final = 4.5
"""Growth of the steps from `SHORT` to `LONG`: 3 if they are proportional, up to 9 if quadratic."""
CANDIDATES: Final = 32
FEW_LITERALS: Final = 2
"""Different characters of a pattern, up to which their pairs are repeated too."""
UNREAD: Final = ("workers/learning/", "workers/engines/")
"""Rooms whose patterns read names of a base model's modules; importing them loads torch."""
IN_FUNCTIONS: Final = {
    "app/http/bodies.py": "one class without a repeat",
    "app/http/specification.py": "paths of our own routes",
    "app/graders/json_schemas.py": "a pattern of the user, compiled only",
    "app/graders/answer_words.py": "one repeated class",
    "app/rollouts/metrics.py": "names of curves, as long as a tool's name",
    "app/local/preparation.py": "the name of the operator's model",
    "app/local/servers.py": "output of the Postgres that the operator installed",
    "app/graders/texts.py": "repeated classes, each apart from what follows it",
    "workers/engines/cpu/models/decoder.py": "names of modules",
    "workers/learning/adapters.py": "names of modules",
    "workers/learning/memory/__main__.py": "an argument of the command",
    "workers/sandbox/execution.py": "a file of the kernel",
}
"""Modules that use a pattern within a function, with the reason why it is in no table."""
_SEARCHES: Final = frozenset({"search", "finditer", "findall", "sub", "subn", "split"})


def _patterns() -> dict[str, tuple[re.Pattern[Any], bool]]:
    """Returns each pattern of a module by its place, and whether it is tried at one place only."""
    found = {}
    for path in sorted([*ROOT.glob("app/**/*.py"), *ROOT.glob("workers/**/*.py")]):
        pattern_name = path.relative_to(ROOT).as_posix()
        source = path.read_text()
        if "re.compile(" not in source or pattern_name.startswith(UNREAD):
            continue
        module = import_module(pattern_name.removesuffix(".py").replace("/", "."))
        for name, value in vars(module).items():
            for key, pattern in _compiled(name, value):
                if re.search(rf"\b{name}\b[^=\n]*=", source):
                    found[f"{pattern_name}:{key}"] = pattern, _is_anchored(name, source)
    return found


def _compiled(name: str, value: object) -> Iterator[tuple[str, re.Pattern[Any]]]:
    """Yields the patterns that a name of a module holds, alone or in a tuple."""
    if isinstance(value, re.Pattern):
        yield name, value
    elif isinstance(value, tuple):
        for number, entry in enumerate(value):
            yield from _compiled(f"{name}[{number}]", entry)


def _is_anchored(name: str, source: str) -> bool:
    used = set(re.findall(rf"\b{name}\.(\w+)\(", source))
    return bool(used) and not used & _SEARCHES


PATTERNS: Final = _patterns()


def _hostile(pattern: re.Pattern[Any]) -> Iterator[tuple[str, str]]:
    """Yields beginnings and what is repeated behind them."""
    nodes, flags = syntax(pattern), pattern.flags
    beginnings = dict.fromkeys(sample(nodes[:end], flags) for end in range(len(nodes) + 1))
    own = literals(pattern)
    pairs = map("".join, product(own, repeat=2)) if len(own) <= FEW_LITERALS else ()
    units = dict.fromkeys(filter(None, (*beginnings, *parts(nodes, flags), *pairs, *' 0"\n')))
    yield from (("", unit) for unit in units)
    yield from product(filter(None, beginnings), units)


def _growth(pattern: re.Pattern[Any], beginning: str, unit: str, *, anchored: bool) -> float:
    texts = (f"{beginning}{unit * count}\x01" for count in (SHORT, LONG))
    try:
        small, large = (
            max(RegexSearch(pattern, text).run(anchored=anchored).steps, len(text))
            for text in texts
        )
    except TooManySteps:
        return math.inf
    return large / small


@cases("pattern_name", sorted(PATTERNS))
@cases("most", [12, pytest.param(CANDIDATES, marks=pytest.mark.long)])
def test_the_steps_of_a_pattern_grow_with_its_text(most: int, pattern_name: str) -> None:
    pattern, anchored = PATTERNS[pattern_name]
    faulty = {
        f"{beginning!r} + n * {unit!r}": growth
        for beginning, unit in islice(_hostile(pattern), most)
        if (growth := _growth(pattern, beginning, unit, anchored=anchored)) > MOST
    }
    assert faulty == {}


@cases(
    ("pattern", "text"),
    [
        (r"a+b", "aaab aab"),
        (r"(?:ab|a)*?c", "ababac"),
        (r"(?<![x])\w+?(?=;)", "xab; cd;"),
        (r"\s*+[^\s<{]++x?", "  ab  cd<"),
        (r"(?i)\bscore\b[:=]\s{0,3}(\d{1,2})", "Score: 12 score=3"),
        (rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?+|[,\[{]', 'a"b\\"c",[{"'),
        (r"^(?:(a)|b)*$", "abab"),
        (r"(?>a+)ab|x", "aab x"),
        (r"(?:([`\"'])|(?<!`))<a>(?(1)(?!\1))", "`<a>` \"<a>' <a> `<a>x"),
        (r"(a|b)c\1", "acb bcb aca"),
    ],
)
def test_steps_are_counted_on_the_way_that_the_engine_goes(pattern: str | bytes, text: str) -> None:
    compiled: re.Pattern[Any] = re.compile(pattern)
    own = text.encode() if isinstance(pattern, bytes) else text
    expected = [match.span() for match in compiled.finditer(own)]
    assert RegexSearch(compiled, text).run(anchored=False).spans == expected


def test_costs_beyond_the_text_are_seen() -> None:
    for quadratic in (
        r"<key>(.*?)</key>\s*<value>(.*?)</value>",
        r"<p=(?P<key>[^>\n]+)>\n?(?P<value>.*?)\n?</p>(?=\s*(?:<p=|$))",
        r"\s+$",
        r"(?:\w+\.)*x",
        r'"(?:\\.|[^"\\])*"',
        r'"(?:\\.|[^"])*"',  # exponential: a backslash matches in two ways
    ):
        pattern = re.compile(quadratic, re.DOTALL)
        growths = (
            _growth(pattern, beginning, unit, anchored=False)
            for beginning, unit in islice(_hostile(pattern), CANDIDATES)
        )
        assert any(growth > MOST for growth in growths), quadratic


def test_every_pattern_is_a_name_of_its_module_or_reads_no_input() -> None:
    """A pattern that is compiled elsewhere is not in the table."""
    elsewhere = {
        path.relative_to(ROOT).as_posix()
        for path in [*ROOT.glob("app/**/*.py"), *ROOT.glob("workers/**/*.py")]
        if re.search(r"^import re$", path.read_text(), re.MULTILINE)
        for function in ast.walk(module_of(path.read_text()))
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr != "escape"
    }
    assert elsewhere == IN_FUNCTIONS.keys()
