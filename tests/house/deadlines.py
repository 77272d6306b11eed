"""Finds tests that depend on the speed of the machine.

A test waits for a state with the one deadline of `tests/support/patience.py`, or it counts. A
shorter deadline fails while other programs run, and so does an upper limit for a measured time.
A lower limit is right on every machine. Run `python -m tests.house.deadlines` to list every
finding.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.house.tree import Finding, python_files

SHORTEST_S: Final = 60
"""Seconds. A deadline below it has to be `PATIENCE_S`."""
CLOCKS: Final = frozenset(
    ["monotonic", "perf_counter", "process_time", "thread_time", "monotonic_ns", "perf_counter_ns"]
)
WAITS: Final = {"wait_for": 1, "timeout": 0, "wait": 0, "wait_until_final": 2, "result": 0}
"""Names of calls that raise, or say that they waited in vain; the place of their deadline."""
MEASURING: Final = ("tests/chaos", "tests/gpu")
"""Rooms whose tests `make test` does not run."""


def find(path: Path, source: str) -> Iterator[Finding]:
    """Yields each short deadline and each upper limit of a measured time."""
    tree = ast.parse(source)
    timed = _names_of_times(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (seconds := _deadline(node)) is not None:
            if 0 < seconds < SHORTEST_S:
                yield Finding(path, node.lineno, f"a deadline of {seconds:g} s; use PATIENCE_S")
        elif isinstance(node, ast.Assert) and _is_upper_limit(node.test, timed):
            yield Finding(path, node.lineno, "an upper limit for a measured time")


def _deadline(call: ast.Call) -> float | None:
    """Returns the literal deadline of a call that waits."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name not in WAITS or _is_select(call):
        return None
    named = [one.value for one in call.keywords if one.arg in ("timeout", "timeout_s")]
    placed = [] if isinstance(call.func, ast.Name) else call.args[WAITS[name] :][:1]
    for value in (*named, *placed):
        if isinstance(value, ast.Constant) and isinstance(value.value, int | float):
            return float(value.value)
    return None


def _is_select(call: ast.Call) -> bool:
    """Returns true for `asyncio.wait`, whose time-out is a result and no failure."""
    function = call.func
    return (
        isinstance(function, ast.Attribute)
        and function.attr == "wait"
        and isinstance(function.value, ast.Name)
        and function.value.id == "asyncio"
    )


def _names_of_times(tree: ast.AST) -> set[str]:
    """Returns the variables that hold a difference of two readings of a clock."""
    return {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and _measures(node.value, set())
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _measures(node: ast.expr, timed: set[str]) -> bool:
    if isinstance(node, ast.Name):
        return node.id in timed
    return any(
        isinstance(part, ast.BinOp)
        and isinstance(part.op, ast.Sub)
        and any(_reads_clock(inner) for inner in ast.walk(part))
        for part in ast.walk(node)
    )


def _reads_clock(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in CLOCKS
    )


def _is_upper_limit(compare: ast.expr, timed: set[str]) -> bool:
    if not isinstance(compare, ast.Compare):
        return False
    operands = [compare.left, *compare.comparators]
    for left, operator, right in zip(operands, compare.ops, operands[1:], strict=False):
        if isinstance(operator, ast.Lt | ast.LtE) and _measures(left, timed):
            return True
        if isinstance(operator, ast.Gt | ast.GtE) and _measures(right, timed):
            return True
    return False


def findings() -> Iterator[Finding]:
    """Yields every finding in the tests."""
    for path, source in python_files("tests"):
        if not str(path).startswith(MEASURING):
            yield from find(path, source)


def main() -> int:
    """Prints the findings; 1 when there are any."""
    found = list(findings())
    for each in found:
        print(each)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
