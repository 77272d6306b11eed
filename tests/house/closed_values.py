"""Reads the closed sets of values of the product from its source: enums, and `Literal` types.

A `Literal` of two or more values is closed, bare, as an alias, or as a part of a union with `None`.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from tests.house.closed_unions import Function, Symbol, Tree

_WRAPPERS: Final = frozenset({"Annotated", "ClassVar", "Final", "SkipValidation"})


@dataclass(frozen=True, slots=True)
class ClosedValue:
    """A closed set of values, by its name in a violation."""

    name: str
    members: frozenset[str]


@dataclass(frozen=True)
class Values:
    """The closed sets of values of a tree of modules."""

    tree: Tree

    @cached_property
    def enums(self) -> dict[Symbol, ClosedValue]:
        return {
            symbol: ClosedValue(
                symbol.name,
                frozenset(
                    target.id
                    for statement in self.tree.classes[symbol].body
                    if isinstance(statement, ast.Assign)
                    for target in statement.targets
                    if isinstance(target, ast.Name)
                ),
            )
            for symbol in self.tree.enums
        }

    @cached_property
    def fields(self) -> dict[str, frozenset[ClosedValue]]:
        """The closed types of the fields and properties of each name, in any class."""
        found: dict[str, set[ClosedValue]] = defaultdict(set)
        for symbol, node in self.tree.classes.items():
            for name, annotation in [*_declared(node), *_kept(node)]:
                closed = self.literal(symbol.module, annotation)
                if closed is not None:
                    found[name].add(closed)
        return {name: frozenset(types) for name, types in found.items()}

    def keys(self, module: str, annotation: ast.expr) -> ClosedValue | None:
        """Returns the `Literal` that a table's annotation names as its keys."""
        match annotation:
            case ast.Subscript(value=ast.Name(id="Final" | "ClassVar"), slice=inner):
                return self.keys(module, inner)
            case ast.Subscript(
                value=ast.Name(id="dict" | "Mapping"), slice=ast.Tuple(elts=[key, _])
            ):
                return self.literal(module, key)
            case _:
                return None

    def literal(self, module: str, expression: ast.expr) -> ClosedValue | None:
        """Returns the `Literal` of two or more strings that a type expression stands for."""
        values = self._strings(module, expression)
        if values is None or len(values) < 2:
            return None
        return ClosedValue(ast.unparse(expression), values)

    def member(
        self, module: str, function: Function | None, subject: ast.expr, value: ast.expr
    ) -> tuple[ClosedValue, str] | None:
        """Returns the closed set that a compared value belongs to, and the name of the value."""
        match value:
            case ast.Attribute(value=ast.Name(id=owner), attr=name):
                enum = self.enums.get(self.tree.defined(module, owner))
                return (enum, name) if enum is not None and name in enum.members else None
            case ast.Constant(value=str(text)):
                for closed in self.types(module, function, subject):
                    if text in closed.members:
                        return closed, text
                return None
            case _:
                return None

    def types(
        self, module: str, function: Function | None, subject: ast.expr
    ) -> Sequence[ClosedValue]:
        """Returns the closed types of strings that an expression may have."""
        match subject:
            case ast.Name(id=name) if function is not None:
                annotation = parameters(function).get(name)
                if annotation is not None:
                    closed = self.literal(module, annotation)
                    return [] if closed is None else [closed]
                return [
                    closed
                    for value in _assigned(function, name)
                    for closed in self.types(module, function, value)
                ]
            case ast.Attribute(value=ast.Name(id=owner)) if _is_foreign(function, owner):
                return []
            case ast.Attribute(attr=name):
                return sorted(self.fields.get(name, ()), key=lambda each: each.name)
            case _:
                return []

    def _strings(self, module: str, expression: ast.expr) -> frozenset[str] | None:
        match expression:
            case ast.Subscript(value=ast.Name(id="Literal"), slice=values):
                listed = values.elts if isinstance(values, ast.Tuple) else [values]
                texts = [each.value for each in listed if isinstance(each, ast.Constant)]
                strings = [each for each in texts if isinstance(each, str)]
                return frozenset(strings) if len(strings) == len(listed) else None
            case ast.Subscript(value=ast.Name(id=wrapper), slice=inner) if wrapper in _WRAPPERS:
                first = inner.elts[0] if isinstance(inner, ast.Tuple) else inner
                return self._strings(module, first)
            case ast.BinOp(left=left, op=ast.BitOr(), right=ast.Constant(value=None)):
                return self._strings(module, left)
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                parts = [self._strings(module, each) for each in (left, right)]
                known = [each for each in parts if each is not None]
                return frozenset().union(*known) if len(known) == len(parts) else None
            case ast.Name(id=name):
                symbol = self.tree.defined(module, name)
                alias = self.tree.aliases.get(symbol)
                return None if alias is None else self._strings(symbol.module, alias)
            case _:
                return None


def parameters(function: Function) -> dict[str, ast.expr | None]:
    """Returns the annotations of a function's parameters."""
    given = function.args
    return {
        each.arg: each.annotation for each in [*given.posonlyargs, *given.args, *given.kwonlyargs]
    }


def _is_foreign(function: Function | None, name: str) -> bool:
    """Returns whether a parameter is of another package's class, named with its module."""
    annotation = None if function is None else parameters(function).get(name)
    return isinstance(annotation, ast.Attribute)


def _assigned(function: Function, name: str) -> Iterator[ast.expr]:
    """Yields what a function assigns to a local name, other than another local name."""
    given = parameters(function)
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=[ast.Name(id=target)], value=value):
                pass
            case ast.NamedExpr(target=ast.Name(id=target), value=value):
                pass
            case _:
                continue
        if target == name and (not isinstance(value, ast.Name) or value.id in given):
            yield value


def _kept(node: ast.ClassDef) -> Iterator[tuple[str, ast.expr]]:
    """Yields the attributes under which a constructor keeps its parameters, with their types."""
    for method in node.body:
        if not isinstance(method, ast.FunctionDef) or method.name != "__init__":
            continue
        given = parameters(method)
        for statement in ast.walk(method):
            match statement:
                case ast.Assign(
                    targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)],
                    value=ast.Name(id=parameter),
                ) if (annotation := given.get(parameter)) is not None:
                    yield name, annotation
                case _:
                    pass


def _declared(node: ast.ClassDef) -> Iterator[tuple[str, ast.expr]]:
    for statement in node.body:
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation):
                yield name, annotation
            case ast.FunctionDef(name=name, returns=ast.expr() as returns, decorator_list=[_, *_]):
                yield name, returns
            case _:
                pass
