"""A table of cases of a pure function as one test, which goes on after a fault and names the case.

A test that asks for fixtures is parametrized instead: its cases would share what they change.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import update_wrapper
from typing import Any, TypeVar

import pytest

Test = TypeVar("Test", bound=Callable[..., Any])


def cases(
    names: str | Sequence[str],
    table: Iterable[Any],
    *,
    ids: Iterable[Any] | Callable[[Any], object] | None = None,
) -> Callable[[Test], Test]:
    """As `pytest.mark.parametrize`, but one test where the table gives all that the test takes."""
    arguments = [each.strip() for each in names.split(",")] if isinstance(names, str) else [*names]
    parametrize = pytest.mark.parametrize(names, list(table), ids=ids)

    def decorate(test: Test) -> Test:
        if inspect.signature(test).parameters.keys() - set(arguments) or hasattr(
            test, "pytestmark"
        ):
            return parametrize(test)  # type: ignore[no-any-return]  # as below
        return _as_one(test, _rows(arguments, parametrize.mark))

    return decorate


def _rows(arguments: list[str], mark: pytest.Mark) -> list[tuple[str, dict[str, Any]]]:
    table = mark.args[1]
    ids = mark.kwargs["ids"]
    names = list(ids) if ids is not None and not callable(ids) else [None] * len(table)
    rows = []
    for number, (given, name) in enumerate(zip(table, names, strict=True)):
        own = given.id if isinstance(given, type(pytest.param())) else None
        values = given.values if isinstance(given, type(pytest.param())) else given
        values = values if len(arguments) > 1 or values is not given else (given,)
        said = [ids(each) if callable(ids) else each for each in values]
        parts = (
            _short(value, f"{argument}{number}")
            for argument, value in zip(arguments, said, strict=True)
        )
        title = own or name or "-".join(parts)
        rows.append((str(title), dict(zip(arguments, values, strict=True))))
    return rows


def _short(value: object, otherwise: str) -> str:
    return (
        str(value)[:60].encode(errors="backslashreplace").decode()
        if isinstance(value, str | int | float | None)
        else otherwise
    )


def _as_one(plain: Test, rows: list[tuple[str, dict[str, Any]]]) -> Test:
    def each() -> None:
        faults: list[Exception] = []
        for name, values in rows:
            with _noted(name, faults):
                plain(**values)
        _tell(faults, len(rows))

    async def each_awaited() -> None:
        faults: list[Exception] = []
        for name, values in rows:
            with _noted(name, faults):
                await plain(**values)
        _tell(faults, len(rows))

    one: Any = each_awaited if inspect.iscoroutinefunction(plain) else each
    one = update_wrapper(one, plain)
    one.__signature__ = inspect.Signature()
    return one  # type: ignore[no-any-return]  # a decorated function


@contextmanager
def _noted(name: str, faults: list[Exception]) -> Iterator[None]:
    # `pytest.Subtests` captures the output anew for each case, which costs more than most cases.
    try:
        yield
    except Exception as fault:  # noqa: BLE001 - any fault of a case
        fault.add_note(f"in the case {name}")
        faults.append(fault)


def _tell(faults: list[Exception], tried: int) -> None:
    if len(faults) == 1:
        raise faults[0]
    if faults:
        raise ExceptionGroup(f"{len(faults)} of {tried} cases", faults)
