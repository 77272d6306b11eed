"""Finds files that are longer than an engineer reads in one sitting, and folders with more modules
than one remembers.

A file that is too long holds two nouns, or scenery that others need too. Split it by noun; a table
or a scene of tests goes to `tests/support`. There is no list of exceptions. A folder with too many
modules holds several rooms; `LISTS` names the folders that are indexes. Run
`python -m tests.house.lengths` to list every violation.

Migrations are left out: nobody edits one, and it is as long as its change. So are the generated
clients (`GENERATED` in `tests/house/tree.py`), which are as long as their generator makes them.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from tests.house.tree import Violation, python_files, report

LIMITS: Final[Mapping[str, int]] = {
    "app": 300,
    "workers": 300,
    "constraints": 300,
    "docs": 300,
    "examples": 300,
    "bootstrap.py": 300,
    "benchmarks": 320,
    "openapi": 320,
    "tests": 320,
}
"""Lines of a file, by its room."""
MOST_MODULES: Final = 16
LISTS: Final = frozenset(
    Path(each)
    for each in (
        "app/api",
        "app/api/schemas",
        "app/domain/graders/kinds",
        "app/graders/kinds/",
        "app/store/schema",
    )
)
"""Folders with one file for each noun of the API, table or kind of grader, which grow with them."""


def find(path: Path, source: str) -> Iterator[Violation]:
    """Yields the file if it is longer than its room allows."""
    lines, limit = len(source.splitlines()), LIMITS[path.parts[0]]
    if lines > limit:
        yield Violation(path, lines, f"{lines} lines; a file here has at most {limit}")


def crowded(files: Iterable[Path]) -> Iterator[Violation]:
    """Yields each folder, no list, that holds too many modules."""
    modules = Counter(path.parent for path in files if path.name != "__init__.py")
    for folder, count in modules.items():
        if count > MOST_MODULES and folder not in LISTS:
            message = f"{count} modules; a folder here has at most {MOST_MODULES}"
            yield Violation(folder, 0, message)


def violations() -> Iterator[Violation]:
    """Yields every file that is too long, and every folder that is too full."""
    yield from crowded(path for path, _ in python_files("app", "workers", "tests/support"))
    for path, source in python_files(*LIMITS):
        yield from find(path, source)


if __name__ == "__main__":
    sys.exit(report(violations()))
