"""Finds paths, modules and make targets that pages, docstrings and comments name but do
not exist.

A path counts when it begins with a folder of this repository: `app/jobs/routes.py`, `tests/e2e/`. A
dotted name counts when it stands in backticks: `app.kit.ids`, with or without a name in that
module. On the pages of `DESCRIBING`, which follow work through the code, names of classes,
functions and fields count, too: in backticks, and in a drawing after the path of their file.
"""

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from docs.site.pages import MADE
from tests.house.tree import (
    ROOT,
    Violation,
    comment_tokens,
    docstrings,
    markdown_files,
    module_tree,
    nodes,
    python_files,
    report,
)

_TOPS = r"(?:app|workers|migrations|openapi|tests|benchmarks|constraints|examples|docs|labs)"
_PATH = re.compile(rf"(?<![\w./<-])(?P<path>{_TOPS}/[\w./-]*[\w/])(?P<more>[*<{{…]?)")
_MODULE = re.compile(rf"`(?P<name>{_TOPS}(?:\.\w+){{2,}})(?:\(\))?`")
_PAGE = re.compile(r"`(?P<path>[\w-]+\.(?:md|toml|yml))`")
_LINK = re.compile(
    r"\]\((?!/)(?P<path>[\w./-]+)(?:#[\w-]*)?\)"
)  # `/…` is an address of the service
_NAME = re.compile(r"`(?P<name>[A-Z]\w*[a-z]\w*(?:\.\w+)?|[a-z]\w*_\w+|[a-z]\w*(?=\(\)))(?:\(\))?`")
_DRAWN = re.compile(rf"(?P<path>{_TOPS}/[\w./-]*\.py) +(?P<name>[a-z]\w*_\w+)\b")
_TARGET = re.compile(r"(?:`|^    )make (?P<name>[a-z][\w-]*)", re.MULTILINE)

DESCRIBING: Final = frozenset(
    [Path("docs/architecture.md"), Path("README.md"), Path("CONTRIBUTING.md")]
)


def find(path: Path, line: int, text: str) -> Iterator[Violation]:
    """Yields each name in `text` that stands for nothing in the repository."""
    for match in _PATH.finditer(text):
        if not match["more"] and not (ROOT / match["path"]).exists():
            yield Violation(path, _line(line, text, match), f"no file {match['path']}")
    for match in _MODULE.finditer(text):
        if not module_exists(match["name"]):
            yield Violation(path, _line(line, text, match), f"no module or name {match['name']}")


def find_on_page(path: Path, text: str) -> Iterator[Violation]:
    """Yields what `find` does, and links and make targets that lead nowhere."""
    yield from find(path, 1, text)
    if path in DESCRIBING:
        yield from _find_names(path, text)
    targets = re.findall(r"^([a-z][\w-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for match in _LINK.finditer(text):
        near = (ROOT / path.parent / match["path"]).exists()
        near |= str(path.parent / match["path"]) in MADE
        if not near and not _PATH.fullmatch(match["path"]):
            yield Violation(path, _line(1, text, match), f"a link to nothing: {match['path']}")
    for match in _TARGET.finditer(text):
        if match["name"] not in targets:
            yield Violation(path, _line(1, text, match), f"no make target {match['name']}")
    for match in _PAGE.finditer(text):
        candidates = (ROOT / path.parent / match["path"], ROOT / match["path"])
        if not any(each.exists() for each in candidates):
            yield Violation(path, _line(1, text, match), f"no file {match['path']}")


def _find_names(path: Path, text: str) -> Iterator[Violation]:
    for match in _NAME.finditer(text):
        owner, _, name = match["name"].rpartition(".")
        defined = defined_names()
        if (ROOT / match["name"]).exists():
            continue
        if name not in defined or (owner and name not in defined.get(owner, ())):
            yield Violation(path, _line(1, text, match), f"no code defines {match['name']}")
    for match in _DRAWN.finditer(text):
        if not module_exists(
            f"{match['path'].removesuffix('.py').replace('/', '.')}.{match['name']}"
        ):
            yield Violation(path, _line(1, text, match), f"{match['path']} has no {match['name']}")


@cache
def defined_names() -> dict[str, set[str]]:
    """Returns each name that the product defines or imports; for a class with those in its body."""
    names: dict[str, set[str]] = {}
    for _, source in python_files("app", "workers"):
        for node in nodes(module_tree(source)):
            for name in _defines(node):
                inner = names.setdefault(name, set())
                if isinstance(node, ast.ClassDef):
                    inner.update(each for one in node.body for each in _defines(one))
    return names


def _defines(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield name
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.arg(arg=name) | ast.alias(name=name):
            yield name
        case ast.Assign(targets=targets):
            yield from (one.id for one in targets if isinstance(one, ast.Name))
        case _:
            pass


def module_exists(name: str) -> bool:
    """Returns whether a dotted name is a package, a module, or a word used in a module."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        stem, rest = ROOT.joinpath(*parts[:length]), parts[length:]
        if stem.is_dir() and not rest:
            return True
        module = stem / "__init__.py" if stem.is_dir() else stem.with_suffix(".py")
        if module.exists():
            source = module.read_text(encoding="utf-8")
            return all(re.search(rf"\b{re.escape(word)}\b", source) for word in rest)
    return False


def _line(first: int, text: str, match: re.Match[str]) -> int:
    return first + text.count("\n", 0, match.start())


def violations() -> Iterator[Violation]:
    """Yields every violation in the repository."""
    for path, source in python_files():
        if path.parts[:2] != ("tests", "house"):
            comments = ((each.start[0], each.string) for each in comment_tokens(source))
            for line, text in (*docstrings(source), *comments):
                yield from find(path, line, text)
    for path, text in markdown_files():
        yield from find_on_page(path, text)


if __name__ == "__main__":
    sys.exit(report(violations()))
