"""Finds pairs of rooms that import each other.

A room is a folder of a tier. Two rooms that need each other are one room, or something in them
belongs to a third one.
"""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.house.tree import module_tree, nodes


def mutual(tier: str, files: Iterable[tuple[Path, str]]) -> list[tuple[str, str]]:
    """Returns each pair of rooms below `tier` that import each other, in order of the alphabet.

    Counts direct imports only. A file that stands beside the rooms belongs to none of them.
    """
    edges = {edge for path, source in files for edge in _edges(tier, path, source)}
    return sorted((room, other) for room, other in edges if room < other and (other, room) in edges)


def _edges(tier: str, path: Path, source: str) -> Iterator[tuple[str, str]]:
    depth = len(tier.split("/"))
    if len(path.parts) < depth + 2:
        return
    room = path.parts[depth]
    for node in nodes(module_tree(source)):
        for name in _imported(node):
            parts = name.split(".")
            is_below = parts[:depth] == tier.split("/") and len(parts) > depth
            if is_below and parts[depth] != room:
                yield room, parts[depth]


def _imported(node: ast.AST) -> list[str]:
    match node:
        case ast.Import():
            return [alias.name for alias in node.names]
        case ast.ImportFrom(module=str(module)):
            return [f"{module}.{alias.name}" for alias in node.names]
        case _:
            return []
