"""Finds lint and type ignores that do not say why they are there.

An ignore names its code and, behind it, the reason: `# noqa: PLC0415 - keeps start-up fast` or
`# type: ignore[misc]  # celery has no types`. The reason "as above" holds only on a line directly
below one with an ignore of the same kind. Run `python -m tests.house.reasons`
to list every violation.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.house.tree import Violation, comment_tokens, python_files, report

_IGNORE = re.compile(
    r"#\s*(?P<kind>(?:ruff:\s*)?noqa|type:\s*ignore|mypy:\s*ignore-errors|pragma:\s*no \w+|nosec)\b"
    r"(?P<codes>:\s*[A-Z]+[0-9]+(?:,\s*[A-Z]+[0-9]+)*|\[[\w, -]+\])?"
)
_WITH_CODES = re.compile(r"(?:ruff:\s*)?noqa|type:\s*ignore|nosec")
_ABOVE = re.compile(r"^as (?:above|before)\b")


def find(path: Path, source: str) -> Iterator[Violation]:
    """Yields each ignore of `source` without a code or without a reason."""
    previous: dict[str, int] = {}
    for token in comment_tokens(source):
        line, reason = token.start[0], _IGNORE.sub("", token.string).strip(" -#")
        for match in _IGNORE.finditer(token.string):
            kind = match["kind"]
            if match["codes"] is None and _WITH_CODES.fullmatch(kind):
                yield Violation(path, line, f"{kind} without a code")
            elif not reason:
                yield Violation(path, line, f"{kind} without a reason")
            elif _ABOVE.match(reason) and previous.get(kind) != line - 1:
                yield Violation(
                    path, line, f"{kind} with {reason!r}, but no {kind} on the line above"
                )
            previous[kind] = line


def violations() -> Iterator[Violation]:
    """Yields every violation in the repository."""
    for path, source in python_files():
        yield from find(path, source)


if __name__ == "__main__":
    sys.exit(report(violations()))
