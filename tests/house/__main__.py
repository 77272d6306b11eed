"""Runs every check of the house over the repository, in one process: they read the same files.

`make check` runs it, and not the suite, which tests the checks. One alone is run as
`python -m tests.house.prose`.
"""

import sys
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Final, Protocol

from tests.house import deadlines, lengths, paths, prose, reasons, unions
from tests.house.tree import Violation, report


class Check(Protocol):
    def violations(self) -> Iterable[Violation]:
        """Yields every violation in the repository."""
        ...


CHECKS: Final[tuple[Check, ...]] = (prose, reasons, paths, deadlines, lengths, unions)


def main(checks: Sequence[Check] = CHECKS) -> int:
    """Prints all violations, and returns 1 when there are any."""
    return report(chain.from_iterable(check.violations() for check in checks))


if __name__ == "__main__":
    sys.exit(main())
