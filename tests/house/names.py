"""Finds names of modules, classes and functions that do not say what they name.

A class is named by the noun of what it holds (`RowPage`, not `Found`); a public function of the
product by its result or by its verb; a module or folder by the noun of its content (`local_copies`,
not `fetched`). The wire's own classes are named as the hosted API names them. `tests.house.prose`
reports every violation.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.house.tree import Violation, nodes
from tests.house.words import NAMES, PARTICIPLE

WIRE: Final = Path("app/api/schemas")
_PRODUCT: Final = ("app", "workers")
_FIELD_WORDS: Final = frozenset({"embedded", "supervised"})
"""Names of a training method and of a kind of server, which the field writes so."""
_CLASS: Final = re.compile(r"_?([A-Z][a-z]+)")
_FUNCTION: Final = re.compile(r"([a-z]+)")


def find(path: Path, tree: ast.Module) -> Iterator[Violation]:
    """Yields each name of a module that was renamed, or that is a participle alone."""
    for line, name in definitions(tree):
        if (bare := name.lstrip("_")) in NAMES:
            yield Violation(path, line, f"{name} was renamed: {NAMES[bare]}")
    for line, name in [*_module(path), *_classes(path, tree), *_functions(path, tree)]:
        yield Violation(path, line, f"{name} is a participle without its noun")


def definitions(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yields the names of classes, functions, variables and parameters, where they are made."""
    for node in nodes(tree):
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                yield node.lineno, name
            case ast.AsyncFunctionDef(name=name) | ast.Name(id=name, ctx=ast.Store()):
                yield node.lineno, name
            case ast.arg(arg=name):
                yield node.lineno, name
            case _:
                pass


def _module(path: Path) -> Iterator[tuple[int, str]]:
    if path.parts[0] not in _PRODUCT and path.parts[:2] != ("tests", "support"):
        return
    name = path.parent.name if path.name == "__init__.py" else path.stem
    if PARTICIPLE.fullmatch(name) and name not in _FIELD_WORDS:
        yield 1, name


def _classes(path: Path, tree: ast.Module) -> Iterator[tuple[int, str]]:
    if path.is_relative_to(WIRE):
        return
    for node in nodes(tree):
        if isinstance(node, ast.ClassDef) and _is_bare(node.name, _CLASS):
            yield node.lineno, node.name


def _functions(path: Path, tree: ast.Module) -> Iterator[tuple[int, str]]:
    if path.parts[0] not in _PRODUCT:
        return
    for node in tree.body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                if _is_bare(name, _FUNCTION):
                    yield node.lineno, name
            case _:
                pass


def _is_bare(name: str, shape: re.Pattern[str]) -> bool:
    found = shape.fullmatch(name)
    return found is not None and PARTICIPLE.fullmatch(found[1].lower()) is not None
