"""Finds dispatches over a closed union by `isinstance`, whose other branch is silent.

Owns the list of unions: each of them grows, and its new member must be a type error at every place
that decides by it. A `match` that ends in `assert_never` is one; an `isinstance` is not. Run
`python -m tests.house.unions` to list every finding.
"""

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from tests.house.tree import ROOT, Finding, python_files

ROOMS: Final = ("app", "workers")
UNIONS: Final = (
    ("app/domain/jobs/jobs.py", "TuningMethod"),
    ("app/domain/jobs/requests.py", "RequestedMethod"),
    ("app/domain/methods/stored.py", "StoredMethod"),
    ("app/domain/evals/data_sources.py", "DataSource"),
    ("app/domain/evals/data_sources.py", "Rows"),
)


def find(path: Path, source: str, members: frozenset[str]) -> Iterator[Finding]:
    """Yields each `isinstance` of `source` that asks for a member of a union."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Name(id="isinstance"), args=[_, kinds]):
                for name in sorted(members & _names(kinds)):
                    yield Finding(
                        path,
                        node.lineno,
                        f"isinstance of {name}, a member of a closed union: use `match` and end it "
                        "in `assert_never`",
                    )
            case _:
                pass


@cache
def union_members() -> frozenset[str]:
    """Returns the classes of all unions. Raises `LookupError` for a union that is gone."""
    return frozenset().union(*(_members(Path(path), name) for path, name in UNIONS))


def _members(path: Path, union: str) -> frozenset[str]:
    for node in ast.parse((ROOT / path).read_text(encoding="utf-8")).body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name == union:
                unions = [part for part in ast.walk(value) if isinstance(part, ast.BinOp)]
                return frozenset().union(*(_names(part) for part in unions))
            case _:
                pass
    raise LookupError(f"{path} has no union {union}")


def _names(tree: ast.AST) -> frozenset[str]:
    return frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))


def findings() -> Iterator[Finding]:
    """Yields every finding in the product."""
    for path, source in python_files(*ROOMS):
        yield from find(path, source, union_members())


def main() -> int:
    """Prints the findings; 1 when there are any."""
    found = list(findings())
    for each in found:
        print(each)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
