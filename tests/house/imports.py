"""Finds modules that import from a test module or a conftest.

A helper that two modules share belongs in `tests/support`: an import from a test module runs its
fixtures and its module-level code a second time, and ties two test files together.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.house.tree import Violation, module_tree, nodes

_CALLS = "agent_rft_client.api."
"""Modules of the generated client; some calls test something, and are named so."""


def find(path: Path, source: str) -> Iterator[Violation]:
    """Yields each import of `source` that names a test module or a conftest."""
    for node in nodes(module_tree(source)):
        for name in _imported(node):
            if name.startswith(_CALLS):
                continue
            if any(part == "conftest" or part.startswith("test_") for part in name.split(".")):
                yield Violation(path, getattr(node, "lineno", 1), f"imports {name}")


def _imported(node: ast.AST) -> list[str]:
    match node:
        case ast.Import():
            return [alias.name for alias in node.names]
        case ast.ImportFrom():
            return [".".join(filter(None, (node.module, alias.name))) for alias in node.names]
        case _:
            return []
