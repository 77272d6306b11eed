"""Finds files that are longer than an engineer reads in one sitting.

A file that is too long holds two nouns, or scenery that others need too. Split it by noun; a table
or a scene of tests goes to `tests/support`. There is no list of exceptions. Run
`python -m tests.house.lengths` to list every violation.

Migrations are left out: nobody edits one, and it is as long as its change.
"""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from tests.house.tree import Violation, python_files, report

LIMITS: Final[Mapping[str, int]] = {
    "app": 300,
    "workers": 300,
    "examples": 300,
    "bootstrap.py": 300,
    "benchmarks": 320,
    "openapi": 320,
    "tests": 320,
}
"""Lines of a file, by its room."""


def find(path: Path, source: str) -> Iterator[Violation]:
    """Yields the file if it is longer than its room allows."""
    lines, limit = len(source.splitlines()), LIMITS[path.parts[0]]
    if lines > limit:
        yield Violation(path, lines, f"{lines} lines; a file here has at most {limit}")


def violations() -> Iterator[Violation]:
    """Yields every file that is too long."""
    for path, source in python_files(*LIMITS):
        yield from find(path, source)


if __name__ == "__main__":
    sys.exit(report(violations()))
