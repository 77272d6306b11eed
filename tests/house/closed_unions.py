"""Reads the closed unions of the product from its source.

A closed union is a type with two or more classes of the product as members, directly or by an
alias: the value of a type alias, or a part of an annotation. Its other members (`None`, `str`) are
left out; an enum is closed as well.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

Function = ast.FunctionDef | ast.AsyncFunctionDef
_ENUMS: Final = frozenset({"Enum", "StrEnum", "IntEnum"})


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name at the top level of a module."""

    module: str
    name: str


@dataclass(frozen=True)
class Tree:
    """The modules of the product, by their dotted names."""

    modules: Mapping[str, ast.Module]
    paths: Mapping[str, Path]

    @classmethod
    def of(cls, files: Iterable[tuple[Path, str]]) -> "Tree":
        """Parses the files of some rooms."""
        read = [(path, _module_name(path), ast.parse(source)) for path, source in files]
        return cls(
            modules={name: tree for _, name, tree in read},
            paths={name: path for path, name, _ in read},
        )

    @cached_property
    def imports(self) -> dict[Symbol, Symbol]:
        """Each name that a module imports, at its top level or inside a function."""
        return {
            Symbol(module, alias.asname or alias.name): Symbol(node.module, alias.name)
            for module, tree in self.modules.items()
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module is not None
            for alias in node.names
        }

    @cached_property
    def classes(self) -> dict[Symbol, ast.ClassDef]:
        return {
            Symbol(module, node.name): node
            for module, tree in self.modules.items()
            for node in tree.body
            if isinstance(node, ast.ClassDef)
        }

    @cached_property
    def functions(self) -> dict[Symbol, Function]:
        return {
            Symbol(module, node.name): node
            for module, tree in self.modules.items()
            for node in tree.body
            if isinstance(node, Function)
        }

    @cached_property
    def aliases(self) -> dict[Symbol, ast.expr]:
        """Every assignment of one name at the top level; most are not types."""
        found = {}
        for module, tree in self.modules.items():
            for node in tree.body:
                match node:
                    case ast.Assign(targets=[ast.Name(id=name)], value=value):
                        found[Symbol(module, name)] = value
                    case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                        found[Symbol(module, name)] = value
                    case _:
                        pass
        return found

    @cached_property
    def unions(self) -> dict[Symbol, frozenset[Symbol]]:
        """The members of each closed union, by the alias that names it; one without a name, by the
        text of its annotation.
        """
        members = {
            alias: self._own(alias.module, value)
            for alias, value in self.aliases.items()
            if not isinstance(value, ast.Tuple)
        }
        known = set(members.values())
        for module, tree in self.modules.items():
            for written in _written_unions(tree):
                found = self._own(module, written)
                if found not in known:
                    members[Symbol(module, ast.unparse(written))] = found
        return {alias: found for alias, found in members.items() if len(found) > 1}

    @cached_property
    def enums(self) -> frozenset[Symbol]:
        return frozenset(
            symbol
            for symbol, node in self.classes.items()
            if any(isinstance(base, ast.Name) and base.id in _ENUMS for base in node.bases)
        )

    def defined(self, module: str, name: str) -> Symbol:
        """Returns the symbol that a name of a module stands for, in the module that defines it."""
        symbol = Symbol(module, name)
        while symbol in self.imports:
            symbol = self.imports[symbol]
        return symbol

    def named(self, module: str, expression: ast.expr) -> frozenset[Symbol] | None:
        """Returns the classes that a type expression names, or `None` where one is foreign."""
        match expression:
            case ast.Name(id=name):
                symbol = self.defined(module, name)
                return frozenset({symbol}) if symbol in self.classes else self._members(symbol)
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return self._all(module, [left, right])
            case ast.Tuple(elts=elements):
                return self._all(module, elements)
            case ast.Subscript(value=ast.Name(id="Annotated"), slice=ast.Tuple(elts=[first, *_])):
                return self.named(module, first)
            case _:
                return None

    def first_parameter(self, module: str, function: str) -> frozenset[Symbol]:
        """Returns the classes that a function of the product takes first, where all are known."""
        symbol = self.defined(module, function)
        node = self.functions.get(symbol)
        annotation = node.args.args[0].annotation if node is not None and node.args.args else None
        named = None if annotation is None else self.named(symbol.module, annotation)
        return named or frozenset()

    def _own(self, module: str, expression: ast.expr) -> frozenset[Symbol]:
        """Returns the classes of the product that a type expression names, and no foreign ones."""
        match expression:
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return self._own(module, left) | self._own(module, right)
            case ast.Subscript(value=ast.Name(id="Annotated"), slice=ast.Tuple(elts=[first, *_])):
                return self._own(module, first)
            case ast.Name(id=name) if (symbol := self.defined(module, name)) in self.aliases:
                value = self.aliases[symbol]
                return frozenset() if value is expression else self._own(symbol.module, value)
            case _:
                return self.named(module, expression) or frozenset()

    def _members(self, alias: Symbol) -> frozenset[Symbol] | None:
        value = self.aliases.get(alias)
        return None if value is None else self.named(alias.module, value)

    def _all(self, module: str, parts: Iterable[ast.expr]) -> frozenset[Symbol] | None:
        found = [self.named(module, part) for part in parts]
        known = [symbols for symbols in found if symbols is not None]
        return frozenset().union(*known) if len(known) == len(found) else None


def _written_unions(tree: ast.AST) -> Iterator[ast.BinOp]:
    """Yields each union that an annotation of a module contains, the outermost operator only."""
    for node in ast.walk(tree):
        match node:
            case ast.arg(annotation=ast.expr() as annotation):
                pass
            case ast.AnnAssign(annotation=annotation):
                pass
            case ast.FunctionDef(returns=ast.expr() as annotation):
                pass
            case ast.AsyncFunctionDef(returns=ast.expr() as annotation):
                pass
            case _:
                continue
        yield from _outermost(annotation)


def _outermost(annotation: ast.expr) -> Iterator[ast.BinOp]:
    pending: list[ast.AST] = [annotation]
    while pending:
        match pending.pop():
            case ast.BinOp(op=ast.BitOr()) as union:
                yield union
            case ast.Constant(value=str(text)) if "|" in text and text.isprintable():
                pending.append(_parsed(text))
            case node:
                pending.extend(ast.iter_child_nodes(node))


def _parsed(text: str) -> ast.AST:
    """Returns a type that is written as a string; any other text as an empty one."""
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        return ast.Constant(value=None)


def _module_name(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def nodes(tree: ast.AST) -> Iterator[tuple[ast.AST, Function | None]]:
    """Yields each node with the innermost function around it, outer nodes first."""
    pending: list[tuple[ast.AST, Function | None]] = [(tree, None)]
    while pending:
        node, function = pending.pop()
        yield node, function
        inner = node if isinstance(node, Function) else function
        pending.extend((child, inner) for child in ast.iter_child_nodes(node))


def is_wildcard(case: ast.match_case) -> bool:
    """Returns whether a case takes whatever is left."""
    match case.pattern:
        case ast.MatchAs(pattern=None):
            return case.guard is None
        case _:
            return False


def ends_in_assert_never(case: ast.match_case) -> bool:
    """Returns whether the type checker proves that a case is never reached."""
    match case.body[-1]:
        case ast.Expr(value=ast.Call(func=ast.Name(id="assert_never"))):
            return True
        case _:
            return False
