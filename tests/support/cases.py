"""A table of cases as one test: each case is reported by its name, and fixtures are made once."""

import inspect
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from functools import update_wrapper
from typing import Any, TypeVar

import pytest

Test = TypeVar("Test", bound=Callable[..., Any])
Row = tuple[str, dict[str, Any]]
_OWN_COPY = (dict, list)
"""Fixtures of these types may be changed by a case, so each case gets a copy."""


def cases(
    names: str | Sequence[str],
    table: Iterable[Any],
    *,
    ids: Iterable[Any] | Callable[[Any], object] | None = None,
) -> Callable[[Test], Test]:
    """As `pytest.mark.parametrize`, for cases that leave nothing to each other."""
    arguments = [each.strip() for each in names.split(",")] if isinstance(names, str) else [*names]
    mark = pytest.mark.parametrize(arguments, list(table), ids=ids).mark

    def decorate(test: Test) -> Test:
        plain, below = getattr(test, "table", (test, [("", {})]))
        rows = [
            (f"{inner}-{name}".strip("-"), {**values, **own})
            for name, own in _rows(mark)
            for inner, values in below
        ]
        return _as_one(plain, rows, set(arguments) | set(below[0][1]))

    return decorate


def _rows(mark: pytest.Mark) -> list[Row]:
    arguments, table = mark.args
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


def _as_one(plain: Test, rows: list[Row], arguments: set[str]) -> Test:
    parameters = inspect.signature(plain).parameters
    fixtures = [each for name, each in parameters.items() if name not in arguments]

    def given(fixtures: dict[str, Any], values: dict[str, Any]) -> dict[str, Any]:
        own = {k: deepcopy(v) if isinstance(v, _OWN_COPY) else v for k, v in fixtures.items()}
        return {**own, **values}

    def each(subtests: pytest.Subtests, **fixtures: Any) -> None:
        for name, values in rows:
            with subtests.test(name):
                plain(**given(fixtures, values))

    async def each_awaited(subtests: pytest.Subtests, **fixtures: Any) -> None:
        for name, values in rows:
            with subtests.test(name):
                await plain(**given(fixtures, values))

    one: Any = each_awaited if inspect.iscoroutinefunction(plain) else each
    one = update_wrapper(one, plain)
    kind = inspect.Parameter.KEYWORD_ONLY
    asked = [each.replace(kind=kind) for each in fixtures]
    one.__signature__ = inspect.Signature([*asked, inspect.Parameter("subtests", kind)])
    one.table = plain, rows
    return one  # type: ignore[no-any-return]  # a decorated function
