"""Reads sealed secrets in the first stored format: headers by their owner's label, not by JSON
pointer.

Old rows contain `{"tool:<name>": {header: value}, "grader:<name>": …, "grader:<name>/<child>": …}`;
evals contain one such map per criterion. No code writes this format any more. Imports only the
standard library and JSON pointers, so that a migration may import it.
"""

from collections.abc import Iterator
from typing import Any

from app.domain.documents.pointers import Path, pointer


def by_pointer(sealed: dict[str, Any], owners: Iterator[tuple[str, Path]]) -> dict[str, Any]:
    """Returns opened secrets of either format by JSON pointer; `owners` are the labels' paths.

    Secrets of a label without an owner are left out.
    """
    if all(key.startswith("/") for key in sealed):
        return sealed
    at = dict(owners)
    return {
        pointer((*at[label], "headers", name)): value
        for label, headers in sealed.items()
        if label in at
        for name, value in headers.items()
    }


def owners_of_method(method: dict[str, Any]) -> Iterator[tuple[str, Path]]:
    """Yields the labels of `{"type": …, "reinforcement": {…}}`, each with its owner's path."""
    inner = method.get("reinforcement") or {}
    for index, tool in enumerate(inner.get("tools") or ()):
        yield f"tool:{tool['name']}", ("reinforcement", "tools", index)
    if inner.get("grader"):
        yield from owners_of_grader(inner["grader"], ("reinforcement", "grader"))


def owners_of_tool(tool: dict[str, Any]) -> Iterator[tuple[str, Path]]:
    yield f"tool:{tool['name']}", ()


def owners_of_grader(grader: dict[str, Any], path: Path = ()) -> Iterator[tuple[str, Path]]:
    label = f"grader:{grader.get('name', grader.get('type'))}"
    yield label, path
    children = grader.get("graders")
    for name in children if isinstance(children, dict) else ():
        yield f"{label}/{name}", (*path, "graders", name)


def criteria_by_pointer(sealed: dict[str, Any], criteria: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns opened secrets of an eval, in either format, by JSON pointer into its criteria."""
    if all(key.startswith("/") for key in sealed):
        return sealed
    return {
        key: value
        for number, headers in sealed.items()
        for key, value in by_pointer(
            headers, owners_of_grader(criteria[int(number)], (int(number),))
        ).items()
    }
