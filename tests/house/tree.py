"""Lists the files that the house checks read, and prints what they find."""

import ast
import io
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from typing_extensions import override

ROOT = Path(__file__).parents[2]
GENERATED = ("openapi/python/agent_rft_client/", "openapi/python/agent_rft/synchronous/")
ROOMS = (
    "app",
    "workers",
    "migrations",
    "benchmarks",
    "constraints",
    "docs",
    "examples",
    "labs",
    "openapi",
    "tests",
    "bootstrap.py",
)


@dataclass(frozen=True, slots=True)
class Violation:
    """One place in one file that breaks a rule."""

    path: Path
    line: int
    message: str

    @override
    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


def report(violations: Iterable[Violation]) -> int:
    """Prints the violations of a check; 1, the status of its process, when there are any."""
    found = list(violations)
    for each in found:
        print(each)
    return 1 if found else 0


def python_files(*rooms: str) -> Iterator[tuple[Path, str]]:
    """Yields the path, relative to the root, and the source of each hand-written Python file."""
    for room in rooms or ROOMS:
        top = ROOT / room
        for path in sorted(top.rglob("*.py")) if top.is_dir() else [top]:
            relative = path.relative_to(ROOT)
            if not str(relative).startswith(GENERATED):
                yield relative, path.read_text(encoding="utf-8")


@cache
def comment_tokens(source: str) -> tuple[tokenize.TokenInfo, ...]:
    """Returns the comments of a module. Several checks read them, and to find them takes long."""
    if "#" not in source:
        return ()
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return tuple(token for token in tokens if token.type == tokenize.COMMENT)


@lru_cache(maxsize=4)
def module_tree(source: str) -> ast.Module:
    """Returns the syntax tree of a module, which several checks read one after the other."""
    return ast.parse(source)


@lru_cache(maxsize=4)
def nodes(tree: ast.AST) -> tuple[ast.AST, ...]:
    """Returns the nodes of a tree, from the top, as `ast.walk` does in three times the time."""
    found, at = [tree], 0
    while at < len(found):
        for value in vars(found[at]).values():
            if isinstance(value, ast.AST):
                found.append(value)
            elif isinstance(value, list):
                found.extend(each for each in value if isinstance(each, ast.AST))
        at += 1
    return tuple(found)


def docstrings(source: str) -> Iterator[tuple[int, str]]:
    """Yields the strings that stand as statements: a definition's docstring or a field's."""
    for node in nodes(module_tree(source)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield node.lineno, text
            case _:
                pass


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


def module_name(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def markdown_files() -> Iterator[tuple[Path, str]]:
    """Yields the path, relative to the root, and the text of each page."""
    for path in sorted(
        [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("openapi/*.md")]
    ):
        yield path.relative_to(ROOT), path.read_text(encoding="utf-8")
