"""Finds choices between the members of an enum or a `Literal` that are not `match`.

A closed set of values grows like a closed union, and its new member must be a type error where its
behaviour is chosen. Four shapes are a choice, and become a `match` that ends in `assert_never` (or
lists all members):

- an `if` chain, or a conditional inside another, that compares one value with two members or more;
  `if` statements that follow each other and each leave the function are a chain too;
- one comparison that chooses between two results: a conditional expression, an `if` with an `else`,
  an `if` that returns before a last `return`;
- a `match` over strings of a `Literal` whose last case takes the rest silently;
- a table that is keyed by some members of an enum or, by its annotation or by what it is asked for,
  of a `Literal`. One with all of them is complete, and is found here when the set grows.

A question about one member is none: a guard (an `if` that raises, or without another result), an
operand of `and` and `or`, a value passed on as true or false, the filter of a comprehension.
Nor is a conditional with an empty other branch (`None`, an empty list), or one whose other branch
is the compared value: it replaces one member and hands the others on.
"""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tests.house.closed_unions import Function, Tree, ends_in_assert_never, is_wildcard, nodes
from tests.house.closed_values import ClosedValue, Values
from tests.house.tree import Violation

_ADVICE = "use `match` and end it in `assert_never`"


@dataclass(frozen=True, slots=True)
class _ComparedValue:
    """One comparison of a value with members of one closed set."""

    subject: str
    closed: ClosedValue
    members: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Scope:
    values: Values
    module: str
    function: Function | None

    def violation(self, node: ast.AST, closed: ClosedValue, text: str) -> Violation:
        line = getattr(node, "lineno", 0)
        return Violation(
            self.values.tree.paths[self.module], line, f"{text} of {closed.name}: {_ADVICE}"
        )

    def compared(self, test: ast.expr) -> _ComparedValue | None:
        """Returns the comparison that is the whole test, if its value is of a closed set."""
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self.compared(operand)
            case ast.Compare(left=subject, ops=[ast.In() | ast.NotIn()], comparators=[right]):
                values = right.elts if isinstance(right, ast.Tuple | ast.Set | ast.List) else []
            case ast.Compare(left=subject, ops=[_], comparators=[right]):
                values = [right]
            case _:
                return None
        found = [self.values.member(self.module, self.function, subject, each) for each in values]
        known = [each for each in found if each is not None]
        if not known:
            return None
        return _ComparedValue(ast.dump(subject), known[0][0], frozenset(name for _, name in known))


def find(tree: Tree) -> Iterator[Violation]:
    """Yields each choice that is not a `match`, module by module."""
    values = Values(tree)
    for module, parsed in tree.modules.items():
        seen: set[int] = set()
        for node, function in nodes(parsed):
            scope = _Scope(values, module, function)
            yield from _tables(scope, node)
            match node:
                case ast.IfExp() if id(node) not in seen:
                    yield from _conditional(scope, node, seen)
                case ast.Match():
                    yield from _silent(scope, node)
                case _:
                    pass
            for block in _blocks(node):
                yield from _block(scope, block, seen)


def _conditional(scope: _Scope, node: ast.IfExp, seen: set[int]) -> Iterator[Violation]:
    compared = scope.compared(node.test)
    inner = node.orelse
    while isinstance(inner, ast.IfExp):
        seen.add(id(inner))
        inner = inner.orelse
    results = (node.body, node.orelse)
    if compared is None or any(_is_empty(each) for each in results):
        return
    if all(ast.dump(each) != compared.subject for each in results):
        yield scope.violation(node, compared.closed, "a conditional on a member")


def _is_empty(result: ast.expr) -> bool:
    match result:
        case ast.Constant(value=None) | ast.Tuple(elts=[]) | ast.List(elts=[]) | ast.Dict(keys=[]):
            return True
        case _:
            return False


def _tables(scope: _Scope, node: ast.AST) -> Iterator[Violation]:
    values, module = scope.values, scope.module
    match node:
        case ast.Dict():
            yield from _table(scope, node)
        case ast.AnnAssign(annotation=annotation, value=ast.Dict() as table):
            closed = values.keys(module, annotation)
            yield from _keyed(scope, table, [] if closed is None else [closed])
        case ast.Subscript(value=ast.Dict() as table, slice=asked):
            yield from _keyed(scope, table, values.types(module, scope.function, asked))
        case ast.Subscript(value=ast.Name(id=name), slice=asked):
            found = values.tree.aliases.get(values.tree.defined(module, name))
            if isinstance(found, ast.Dict):
                keyed = _keyed(scope, found, values.types(module, scope.function, asked))
                yield from (replace(each, line=node.lineno) for each in keyed)
        case _:
            pass


def _table(scope: _Scope, node: ast.Dict) -> Iterator[Violation]:
    keys = [
        scope.values.member(scope.module, None, key, key) for key in node.keys if key is not None
    ]
    known = [each for each in keys if each is not None]
    if len(known) < 2 or len(known) < len(keys):
        return
    closed = known[0][0]
    missing = closed.members - {name for _, name in known}
    if missing:
        yield scope.violation(node, closed, f"a table without {', '.join(sorted(missing))}")


def _keyed(scope: _Scope, node: ast.Dict, types: Sequence[ClosedValue]) -> Iterator[Violation]:
    texts = [key.value for key in node.keys if isinstance(key, ast.Constant)]
    if not texts or len(texts) < len(node.keys):
        return
    without = [(closed, closed.members.difference(texts)) for closed in types]
    if without and all(missing for _, missing in without):
        closed, missing = without[0]
        yield scope.violation(node, closed, f"a table without {', '.join(sorted(missing))}")


def _silent(scope: _Scope, node: ast.Match) -> Iterator[Violation]:
    """Yields a `match` that names strings of a `Literal` and takes the rest together."""
    last = node.cases[-1]
    named = {text for case in node.cases for text in _strings(case.pattern)}
    if not named or not is_wildcard(last) or ends_in_assert_never(last):
        return
    for closed in scope.values.types(scope.module, scope.function, node.subject):
        if named <= closed.members:
            yield scope.violation(last.pattern, closed, "`case _` behind members")
            return


def _strings(pattern: ast.pattern) -> Iterator[str]:
    match pattern:
        case ast.MatchValue(value=ast.Constant(value=str(text))):
            yield text
        case ast.MatchOr(patterns=patterns):
            for each in patterns:
                yield from _strings(each)
        case _:
            pass


def _block(scope: _Scope, block: Sequence[ast.stmt], seen: set[int]) -> Iterator[Violation]:
    for at, statement in enumerate(block):
        if not isinstance(statement, ast.If) or id(statement) in seen:
            continue
        tests, ends = _chain(block, at, seen)
        compared = [each for test in tests if (each := scope.compared(test)) is not None]
        subjects = {each.subject for each in compared}
        for subject in sorted(subjects):
            of_one = [each for each in compared if each.subject == subject]
            members = frozenset().union(*(each.members for each in of_one))
            if len(of_one) > 1 and len(members) > 1:
                yield scope.violation(statement, of_one[0].closed, "a chain over members")
                break
        else:
            if len(tests) == 1 and compared and ends:
                yield scope.violation(statement, compared[0].closed, "a choice by one member")


def _chain(block: Sequence[ast.stmt], at: int, seen: set[int]) -> tuple[list[ast.expr], bool]:
    """Returns the tests of a chain, and whether each way through it has a result."""
    tests: list[ast.expr] = []
    ends = False
    for scope in range(at, len(block)):
        statement = block[scope]
        if not isinstance(statement, ast.If):
            ends = ends or _results(block[at], statement, last=scope == len(block) - 1)
            break
        seen.add(id(statement))
        tests.append(statement.test)
        rest = statement.orelse
        while len(rest) == 1 and isinstance(rest[0], ast.If):
            seen.add(id(rest[0]))
            tests.append(rest[0].test)
            rest = rest[0].orelse
        ends = ends or bool(rest)
        if not isinstance(statement.body[-1], ast.Return | ast.Raise | ast.Continue):
            break
    return tests, ends


def _results(first: ast.stmt, following: ast.stmt, *, last: bool) -> bool:
    """Returns whether a lone `if` returns a result and the last statement behind it another."""
    match first, following:
        case ast.If(body=[*_, ast.Return(value=ast.expr())]), ast.Return(value=ast.expr()):
            return last
        case _:
            return False


def _blocks(node: ast.AST) -> Iterator[Sequence[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list):
            yield block
