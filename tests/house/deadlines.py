"""Finds tests that depend on the speed of the machine.

A test waits for a state with the one deadline of `tests/support/patience.py`, or it counts. A
shorter deadline fails while other programs run, and so does an upper limit for a measured time. A
lower limit is right on every machine. `python -m tests.house.deadlines` lists every violation.

Five forms are found: a short deadline of a call that waits, by name or by position, as a number, as
a constant of the module or as the default of a parameter; a client of httpx that keeps its own five
seconds; a reading of a clock plus a short time; a loop that asks a limited number of times with a
pause between; and an upper limit in an `assert`.

It does not judge: limits of the product that a test sets in order to see them pass (`timeout_s=` of
our own clients, `call_timeout_s=`, settings); a wait inside `pytest.raises` of a time-out, which is
what the test is about; the deadline of one attempt in a call that also takes `max_retries=`;
`asyncio.wait`, whose time-out is a result; constants imported from another module; and a pause
before an assertion, because some assert that nothing has happened.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from typing_extensions import override

from tests.house.tree import Violation, module_tree, nodes, python_files, report
from tests.support.patience import PATIENCE_S

CLOCKS: Final = frozenset(
    ["monotonic", "perf_counter", "process_time", "thread_time", "monotonic_ns", "perf_counter_ns"]
)
POSITIONS: Final = {
    "acquire": 1,
    "create_connection": 1,
    "join": 0,
    "result": 0,
    "settimeout": 0,
    "timeout": 0,
    "wait": 0,
    "wait_for": 1,
}
"""Names of calls whose deadline may be given by its position."""
HTTPX_CALLS: Final = frozenset(
    ["get", "post", "put", "delete", "head", "patch", "request", "stream", "Client", "AsyncClient"]
)
MEASURING: Final = (
    "tests/chaos",
    "tests/gpu",
    "tests/e2e/test_vllm",
    "tests/support/engines/vllm_server",
)
"""Tests that `make test` does not run."""
_SHORT: Final = "use PATIENCE_S"


class Deadlines(ast.NodeVisitor):
    """Collects the violations of a module. `constants` are the numbers that its names stand for."""

    def __init__(self, path: Path, tree: ast.Module) -> None:
        self.found: list[Violation] = []
        self._path = path
        self._constants = _constants(tree)
        self._timed = _names_of_times(tree)
        self.visit(tree)

    @override
    def visit_With(self, node: ast.With | ast.AsyncWith) -> None:
        if not any(_expects_time_out(item.context_expr) for item in node.items):
            self.generic_visit(node)

    visit_AsyncWith = visit_With

    @override
    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        outside, self._constants = self._constants, self._constants | _constants(node)
        self.generic_visit(node)
        self._constants = outside

    visit_AsyncFunctionDef = visit_FunctionDef

    @override
    def visit_Call(self, node: ast.Call) -> None:
        if _keeps_httpx_default(node):
            self._add(node, f"httpx gives up after 5 s unless it is told; {_SHORT}")
        for value in _deadlines(node):
            self._judge(value, "a deadline of {:g} s")
        self.generic_visit(node)

    @override
    def visit_BinOp(self, node: ast.BinOp) -> None:
        if isinstance(node.op, ast.Add):
            for clock, added in ((node.left, node.right), (node.right, node.left)):
                if _reads_clock(clock):
                    self._judge(added, "a deadline of {:g} s from now")
        self.generic_visit(node)

    @override
    def visit_For(self, node: ast.For) -> None:
        if _counts(node.iter) and _is_left_early(node) and self._pauses(node):
            self._add(node, "a limited number of looks with pauses; use `until` or `wait_for`")
        self.generic_visit(node)

    @override
    def visit_Assert(self, node: ast.Assert) -> None:
        if _is_upper_limit(node.test, self._timed):
            self._add(node, "an upper limit for a measured time")
        self.generic_visit(node)

    def _judge(self, value: ast.expr, words: str) -> None:
        seconds = self._number(value)
        if seconds is not None and 0 < seconds < PATIENCE_S:
            self._add(value, f"{words.format(seconds)}; {_SHORT}")

    def _pauses(self, loop: ast.For) -> bool:
        return any(
            isinstance(node, ast.Call)
            and _name(node) == "sleep"
            and node.args
            and self._number(node.args[0]) != 0
            for node in ast.walk(loop)
        )

    def _number(self, node: ast.expr) -> float | None:
        match node:
            case ast.Constant(value=int() | float() as value):
                return float(value)
            case ast.Name(id=name):
                return self._constants.get(name)
            case ast.BinOp(
                left=left, op=ast.Mult() | ast.Div() | ast.Add() as operator, right=right
            ):
                first, second = self._number(left), self._number(right)
                return (
                    None if first is None or second is None else _calculate(first, operator, second)
                )
            case _:
                return None

    def _add(self, node: ast.expr | ast.stmt, words: str) -> None:
        self.found.append(Violation(self._path, node.lineno, words))


def find(path: Path, source: str) -> Iterator[Violation]:
    """Yields each place in the module whose outcome depends on the speed of the machine."""
    yield from sorted(Deadlines(path, module_tree(source)).found, key=lambda each: each.line)


def _calculate(first: float, operator: ast.operator, second: float) -> float:
    if isinstance(operator, ast.Mult):
        return first * second
    if isinstance(operator, ast.Div):
        return first / second if second else 0.0
    return first + second


def _constants(scope: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, float]:
    """Returns the numbers assigned once in this scope, and the numeric defaults of parameters."""
    given: dict[str, list[ast.expr | None]] = {}
    if not isinstance(scope, ast.Module):
        arguments = scope.args
        positional = [*arguments.posonlyargs, *arguments.args]
        defaults = [None] * (len(positional) - len(arguments.defaults)) + list(arguments.defaults)
        for argument, default in (
            *zip(positional, defaults, strict=True),
            *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
        ):
            given[argument.arg] = [default]
    for statement in scope.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                given.setdefault(name, []).append(value)
            case ast.AnnAssign(target=ast.Name(id=name), value=value):
                given.setdefault(name, []).append(value)
            case _:
                pass
    return {
        name: float(values[0].value)
        for name, values in given.items()
        if len(values) == 1
        and isinstance(values[0], ast.Constant)
        and isinstance(values[0].value, int | float)
    }


def _deadlines(call: ast.Call) -> Iterator[ast.expr]:
    """Yields the deadlines of a call that waits."""
    name = _name(call)
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    if (name == "wait" and _owner(call) == "asyncio") or "max_retries" in named:
        return
    if "timeout" in named:
        yield named["timeout"]
    # A helper of the suite, or one that is handed to a thread; elsewhere a limit of the product.
    if "timeout_s" in named and any(_is_wait(one) for one in (call, *call.args[:1])):
        yield named["timeout_s"]
    if name in POSITIONS and (name != "wait_for" or isinstance(call.func, ast.Attribute)):
        yield from call.args[POSITIONS[name] :][:1]


def _is_wait(node: ast.expr) -> bool:
    return _name(node).lstrip("_").startswith("wait")


def _expects_time_out(node: ast.expr) -> bool:
    """Returns whether it is `pytest.raises(…)` of an error whose name refers to a timeout."""
    if not isinstance(node, ast.Call) or _name(node) != "raises":
        return False
    return any(
        "Timeout" in _name(part)
        for one in node.args
        for part in ast.walk(one)
        if isinstance(part, ast.expr)
    )


def _keeps_httpx_default(call: ast.Call) -> bool:
    """A transport of our own inside the process has no time-outs."""
    if _owner(call) != "httpx" or _name(call) not in HTTPX_CALLS:
        return False
    return not {"timeout", "transport", None} & {keyword.arg for keyword in call.keywords}


def _name(node: ast.expr) -> str:
    """Returns the last name of a call, e.g. `wait` of `process.wait()`."""
    if isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _owner(call: ast.Call) -> str:
    """Returns the name before the last one, e.g. `process` of `process.wait()`."""
    return getattr(getattr(call.func, "value", None), "id", "")


def _counts(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and _name(node) == "range"


def _is_left_early(loop: ast.For) -> bool:
    return any(isinstance(node, ast.Break | ast.Return) for node in ast.walk(loop))


def _names_of_times(tree: ast.AST) -> set[str]:
    """Returns the variables that hold a difference of two readings of a clock."""
    return {
        target.id
        for node in nodes(tree)
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
    return isinstance(node, ast.Call) and _name(node) in CLOCKS


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


def violations() -> Iterator[Violation]:
    """Yields every violation in the tests."""
    for path, source in python_files("tests"):
        if not str(path).startswith(MEASURING):
            yield from find(path, source)


if __name__ == "__main__":
    sys.exit(report(violations()))
