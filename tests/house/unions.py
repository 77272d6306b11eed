"""Finds dispatches over a closed union whose other branch is silent.

A closed union grows, and its new member must be a type error at every place that decides by it. A
`match` whose last case is `assert_never`, or that lists all members, makes it one; an `isinstance`
of some members does not. Nor does `case _` behind some of them, unless it gives the rest to a
function whose parameter takes none of those: there the type checker compares. Two kinds of
`isinstance` are not a dispatch: one that names all members of a union, and one that reads a
parameter annotated as `Any` or `object`, as a validator does. `tests/house/closed_unions.py` reads
the unions. `tests/house/choices.py` has the rule for the members of an enum or a `Literal`. Run
`python -m tests.house.unions` to list every violation.
"""

import ast
import sys
from collections.abc import Iterator
from functools import cache
from typing import Final

from tests.house import choices
from tests.house.closed_unions import (
    Function,
    Symbol,
    Tree,
    ends_in_assert_never,
    is_wildcard,
    nodes,
)
from tests.house.tree import Violation, python_files, report

ROOMS: Final = ("app", "workers")
_OPEN: Final = frozenset({"Any", "object", "BaseModel", "BaseException", "Exception"})
"""Annotations that leave the type of a parameter open."""


def find(tree: Tree) -> Iterator[Violation]:
    """Yields each dispatch over a part of a union, module by module."""
    for module in tree.modules:
        for node, function in nodes(tree.modules[module]):
            match node:
                case ast.Call(func=ast.Name(id="isinstance"), args=[subject, kinds]):
                    named = tree.named(module, kinds)
                    if named and not _is_open(subject, function):
                        yield from _partial(tree, module, node, named)
                case ast.Match() if not _is_open(node.subject, function):
                    yield from _silent(tree, module, node)
                case _:
                    pass


def _partial(
    tree: Tree, module: str, node: ast.expr, named: frozenset[Symbol]
) -> Iterator[Violation]:
    for union, members in _unions_of(tree, named):
        if named == members:
            return
        if named < members:
            names = " | ".join(sorted(symbol.name for symbol in named))
            yield Violation(
                tree.paths[module],
                node.lineno,
                f"isinstance of {names}, a part of {union.name}: use `match` and end it in "
                "`assert_never`, or give every member the property that is asked for",
            )
            return


def _silent(tree: Tree, module: str, node: ast.Match) -> Iterator[Violation]:
    """Yields a `match` that names a part of a union, or of an enum, and takes the rest together."""
    named = frozenset(
        symbol for case in node.cases for symbol in _named_by(tree, module, case.pattern)
    )
    last = node.cases[-1]
    if not is_wildcard(last) or ends_in_assert_never(last):
        return
    if any(taken and not taken & named for taken in _handed_on(tree, module, node)):
        return
    enums = named & tree.enums
    unions = [union for union, members in _unions_of(tree, named - enums) if named & members]
    for union in [*sorted(enums, key=str), *unions][:1]:
        yield Violation(
            tree.paths[module],
            last.pattern.lineno,
            f"`case _` behind members of {union.name}: name the others, or end in `assert_never`",
        )


def _unions_of(tree: Tree, named: frozenset[Symbol]) -> Iterator[tuple[Symbol, frozenset[Symbol]]]:
    """Yields the unions that have every named class, the smallest first."""
    for union, members in sorted(tree.unions.items(), key=lambda item: (len(item[1]), str(item))):
        if named and named <= members:
            yield union, members


def _named_by(tree: Tree, module: str, pattern: ast.pattern) -> Iterator[Symbol]:
    match pattern:
        case ast.MatchClass(cls=ast.Name(id=name)):
            yield tree.defined(module, name)
        case ast.MatchValue(value=ast.Attribute(value=ast.Name(id=name))):
            yield tree.defined(module, name)
        case ast.MatchOr(patterns=patterns):
            for each in patterns:
                yield from _named_by(tree, module, each)
        case ast.MatchAs(pattern=ast.pattern() as inner):
            yield from _named_by(tree, module, inner)
        case _:
            pass


def _handed_on(tree: Tree, module: str, node: ast.Match) -> Iterator[frozenset[Symbol]]:
    """Yields the classes that a function takes to which the last case gives the subject."""
    subject = ast.dump(node.subject)
    for statement in node.cases[-1].body:
        for call in ast.walk(statement):
            match call:
                case ast.Call(func=ast.Name(id=name), args=[first, *_]):
                    if ast.dump(first) == subject:
                        yield tree.first_parameter(module, name)
                case _:
                    pass


def _is_open(subject: ast.expr, function: Function | None) -> bool:
    if not isinstance(subject, ast.Name) or function is None:
        return False
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return any(
        each.arg == subject.id
        and isinstance(each.annotation, ast.Name)
        and each.annotation.id in _OPEN
        for each in arguments
    )


@cache
def product() -> Tree:
    """Returns the modules of the product."""
    return Tree.of(python_files(*ROOMS))


def violations() -> list[Violation]:
    """Returns every violation in the product."""
    found = [*find(product()), *choices.find(product())]
    return sorted(found, key=lambda found: (found.path, found.line))


if __name__ == "__main__":
    sys.exit(report(violations()))
