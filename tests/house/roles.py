"""Finds imports that a module's role forbids. A module's name tells its role: the last word of
`app/jobs/curve_store.py` is `store`.

A route hands a request to a service, which the wiring made for its tenant; a service opens a unit
of work and calls its stores; a store speaks SQL. Nobody takes a short cut, so a reader finds the
SQL of a thing in its store, and the tenant of a transaction in one place.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.house.tree import Violation, imported, module_name, python_files, report

_SERVICE: Final = r"app\.\w+\.(?:\w+_)?service\."
_ROWS: Final = r"app\..*(?:store|tables)\."
_SQL: Final = r"(?:sqlalchemy|psycopg)\b"
_WEB: Final = r"(?:fastapi|starlette|celery)\b"
FORBIDDEN: Final = {
    r"app\..*routes|app\.pages\..*": (_SERVICE, _ROWS, _SQL, r"app\.database\b"),
    r"app\..*service": (_SQL, _WEB, r"app\..*tables\."),
    r"app\.cli\..*|app\.local\.(?!backup).*|workers\..*": (_SQL,),
}
"""Imports that modules of a role must not have."""
SPEAK_SQL: Final = re.compile(
    r"app\.(?:\w+\.)*(?:\w+_)?(?:store|tables|claims|deliveries)"
    r"|app\.(?:local\.backup|database|across_tenants|maintenance|rewrapping|jobs\.rows)"
    r"|app\.kit\.(?:sql|transactions|leases)"
)
"""The modules of `app` that may speak SQL; every other is refused it."""


def find(path: Path, source: str) -> Iterator[Violation]:
    """Yields each import of `source` that the role of its module forbids."""
    module = module_name(path)
    patterns = [
        each for role, ones in FORBIDDEN.items() if re.fullmatch(role, module) for each in ones
    ]
    if module.startswith("app.") and not SPEAK_SQL.fullmatch(module):
        patterns.append(_SQL)
    for name in imported(source):
        if any(re.match(each, name) for each in patterns):
            yield Violation(path, 1, f"a module of this role does not import {name}")


def violations() -> Iterator[Violation]:
    """Yields every violation in the product."""
    for path, source in python_files("app", "workers"):
        yield from find(path, source)


if __name__ == "__main__":
    sys.exit(report(violations()))
