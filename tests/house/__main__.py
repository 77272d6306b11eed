"""Prints what the checks of the house find, for `make check`."""

import sys
from itertools import chain

from tests.house import paths, reasons, roles
from tests.house.tree import report

if __name__ == "__main__":
    sys.exit(report(chain.from_iterable(each.violations() for each in (paths, reasons, roles))))
