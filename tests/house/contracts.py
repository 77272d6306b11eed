"""Reads import contracts, and the tree that their lists of modules must cover.

An import contract lists modules by name, so a new module is outside of it until somebody adds it.
The tests of the house compare the lists with the tree.
"""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.house.tree import ROOT, module_tree, nodes


def read(name: str) -> dict[str, Any]:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts: list[dict[str, Any]] = config["tool"]["importlinter"]["contracts"]
    [found] = [each for each in contracts if each["name"] == name]
    return found


def children(package: str) -> set[str]:
    """Returns the modules and packages directly below `package`, a folder of the repository."""
    top = ROOT / package
    names = {path.stem for path in top.glob("*.py")} - {"__init__"}
    names |= {path.parent.name for path in top.glob("*/__init__.py")}
    dotted = ".".join(Path(package).parts)
    return {f"{dotted}.{name}" for name in names}


def imported(source: str) -> Iterator[str]:
    """Yields the full name of everything that a module imports."""
    for node in nodes(module_tree(source)):
        match node:
            case ast.Import():
                yield from (alias.name for alias in node.names)
            case ast.ImportFrom():
                yield from (f"{node.module}.{alias.name}" for alias in node.names)
            case _:
                pass
