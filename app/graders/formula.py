"""The arithmetic of a multi grader's `calculate_output`: read once, computed per sample.

Source: the hosted graders guide; `^` binds to the right and tighter than unary minus, as in
mathematics and Python.
"""

import ast
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from app.kit.texts import FORMULA_NAME, expression_of

MAX_LENGTH: Final = 2_000
MAX_DEPTH: Final = 50
_TOKEN: Final = re.compile(
    rf"\s*(?:(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    rf"|(?P<name>{FORMULA_NAME}(?![A-Za-z0-9_]))|(?P<sign>[-+*/^(),]))",
    re.ASCII,
)
_UNARY: Final[dict[str, Callable[[float], float]]] = {
    "abs": abs,
    "floor": lambda value: float(math.floor(value)),
    "ceil": lambda value: float(math.ceil(value)),
    "exp": math.exp,
    "sqrt": math.sqrt,
    "log": math.log,
}
_VARIADIC: Final[dict[str, Callable[[list[float]], float]]] = {"min": min, "max": max}
FUNCTIONS: Final = (*_VARIADIC, *_UNARY)
Operation = Callable[[float, float], float]
_BINARY: Final[dict[str, Operation]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": lambda left, right: left / right,
    "^": math.pow,
}

Values = Mapping[str, float]
Node = Callable[[Values], float]


class FormulaError(ValueError):
    """Reports an invalid formula, or one without a finite result. The message is for its author."""


@dataclass(frozen=True, slots=True)
class Formula:
    text: str
    names: frozenset[str]
    _root: Node
    never: str | None = None
    """The reason for which the formula has no value, whatever its names stand for."""

    def evaluate(self, values: Values) -> float:
        """Returns a finite number. Raises `FormulaError`, also for a name without a value."""
        try:
            result = self._root(values)
        except KeyError as missing:
            raise FormulaError(f"{missing.args[0]!r} has no value") from None
        except ZeroDivisionError:
            raise FormulaError("division by zero") from None
        except (ValueError, OverflowError) as error:
            raise FormulaError(f"the formula has no finite value ({error})") from None
        if not math.isfinite(result):
            raise FormulaError("the formula has no finite value")
        return result


@lru_cache(maxsize=256)
def parse_formula(text: str) -> Formula:
    """Parses a formula. Raises `FormulaError` with the position of the fault."""
    if len(text) > MAX_LENGTH:
        raise FormulaError(f"the formula is longer than {MAX_LENGTH} characters")
    parser = _Parser(text)
    root = parser.whole()
    return Formula(text, frozenset(parser.names), root, parser.never)


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    at: int


def _tokens(text: str) -> Iterator[_Token]:
    position, end = 0, len(text.rstrip())
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None:
            at = position + len(text[position:]) - len(text[position:].lstrip())
            raise FormulaError(f"{text[at : at + 10]!r} at character {at + 1} is not understood")
        kind = str(match.lastgroup)
        yield _Token(kind, match[kind], match.start(kind))
        position = match.end()
    yield _Token("end", "", end)


class _Parser:
    """Recursive descent; every nesting is counted."""

    def __init__(self, text: str) -> None:
        self._tokens = list(_tokens(text))
        self._position = 0
        self._depth = 0
        self._named = 0
        """Names that were read so far, repeated ones too: a part that adds none is constant."""
        self.names: set[str] = set()
        self.never: str | None = None

    def whole(self) -> Node:
        node = self._sum()
        if self._next.kind != "end":
            raise self._unexpected()
        if not self.names and self.never is None and not math.isfinite(node({})):
            self.never = "the formula has no finite value"
        return node

    def _note(self, node: Node, named: int, *, divides: bool = False) -> Node:
        """Notes the fault of a part that is constant since `named`, and computed in any case."""
        if self._named == named and self.never is None:
            try:
                if node({}) == 0 and divides:
                    self.never = "division by zero"
            except ZeroDivisionError:
                self.never = "division by zero"
            except (ValueError, OverflowError) as error:
                self.never = str(error)
        return node

    @property
    def _next(self) -> _Token:
        return self._tokens[self._position]

    def _take(self, *signs: str) -> str | None:
        """Returns the next token's text if it is one of these signs."""
        if self._next.kind == "sign" and self._next.text in signs:
            self._position += 1
            return self._tokens[self._position - 1].text
        return None

    def _expect(self, sign: str) -> None:
        if self._take(sign) is None:
            raise self._unexpected()

    def _unexpected(self) -> FormulaError:
        token = self._next
        if token.kind == "end":
            return FormulaError("the formula ends too early")
        return FormulaError(f"{token.text!r} at character {token.at + 1} is not expected there")

    def _sum(self) -> Node:
        first, rest = self._product(), []
        while sign := self._take("+", "-"):
            rest.append((_BINARY[sign], self._product()))
        return _chain(first, rest)

    def _product(self) -> Node:
        first, rest = self._signed(), []
        while sign := self._take("*", "/"):
            named = self._named
            divisor = self._note(self._signed(), named, divides=sign == "/")
            rest.append((_BINARY[sign], divisor))
        return _chain(first, rest)

    def _signed(self) -> Node:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise FormulaError(f"the formula is nested deeper than {MAX_DEPTH} levels")
        sign = self._take("-", "+")
        node = self._power() if sign is None else self._signed()
        self._depth -= 1
        return _negative(node) if sign == "-" else node

    def _power(self) -> Node:
        named = self._named
        base = self._atom()
        if self._take("^") is None:
            return base
        return self._note(_chain(base, [(_BINARY["^"], self._signed())]), named)

    def _atom(self) -> Node:
        token = self._next
        if token.kind in {"number", "name"}:
            self._position += 1
            if token.kind == "number":
                return _number(_finite_literal(token))
            return self._call(token) if self._take("(") else self._name(token)
        self._expect("(")
        node = self._sum()
        self._expect(")")
        return node

    def _name(self, token: _Token) -> Node:
        self.names.add(token.text)
        self._named += 1
        return lambda values: float(values[token.text])

    def _call(self, token: _Token) -> Node:
        named = self._named
        arguments = [self._sum()]
        while self._take(","):
            arguments.append(self._sum())
        self._expect(")")
        if token.text in _VARIADIC:
            return self._note(_variadic(_VARIADIC[token.text], arguments), named)
        if token.text not in _UNARY:
            known = ", ".join(FUNCTIONS)
            raise FormulaError(f"there is no function {token.text!r}; there are {known}")
        if len(arguments) != 1:
            raise FormulaError(f"{token.text} takes one argument")
        return self._note(_unary(_UNARY[token.text], arguments[0]), named)


def _finite_literal(token: _Token) -> float:
    value = float(token.text)
    if math.isinf(value):
        raise FormulaError(f"{token.text!r} at character {token.at + 1} is too large")
    return value


def _number(value: float) -> Node:
    return lambda _: value


def _negative(node: Node) -> Node:
    return lambda values: -node(values)


def _unary(function: Callable[[float], float], node: Node) -> Node:
    return lambda values: function(node(values))


def _variadic(function: Callable[[list[float]], float], nodes: list[Node]) -> Node:
    def compute(values: Values) -> float:
        numbers = [node(values) for node in nodes]
        # The smallest or the largest of them may be finite where another has no value.
        if not all(map(math.isfinite, numbers)):
            raise FormulaError("the formula has no finite value")
        return function(numbers)

    return compute


def _chain(first: Node, rest: list[tuple[Operation, Node]]) -> Node:
    """Parses from left to right in a loop, so that a long sum needs no deep recursion."""
    if not rest:
        return first

    def compute(values: Values) -> float:
        result = first(values)
        for operation, node in rest:
            result = operation(result, node(values))
        return result

    return compute


Range = tuple[float, float]
ANY: Final[Range] = (-math.inf, math.inf)


@dataclass(frozen=True, slots=True)
class _Rising:
    """A function that never falls, from the lowest number that it takes."""

    function: Callable[[float], float]
    lowest: float = -math.inf
    at_lowest: float = -math.inf


_RISING: Final = {
    "floor": _Rising(math.floor),
    "ceil": _Rising(math.ceil),
    "exp": _Rising(math.exp, at_lowest=0.0),
    "sqrt": _Rising(math.sqrt, 0.0, 0.0),
    "log": _Rising(math.log, 0.0),
}


def formula_range(text: str, ranges: Mapping[str, Range]) -> Range:
    """Returns the lowest and the highest value that the formula can have."""
    try:
        return _of(expression_of(text.strip().replace("^", "**")).body, ranges)
    except (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError):
        return ANY


def _of(node: ast.expr, ranges: Mapping[str, Range]) -> Range:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return float(value), float(value)
        case ast.Name(id=name):
            return ranges.get(name, ANY)
        case ast.UnaryOp(op=sign, operand=below):
            low, high = _of(below, ranges)
            return (-high, -low) if isinstance(sign, ast.USub) else (low, high)
        case ast.BinOp(left=left, op=operation, right=right):
            return _combined(operation, _of(left, ranges), _of(right, ranges))
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return _called(name, [_of(each, ranges) for each in arguments])
        case _:
            return ANY


def _combined(operation: ast.operator, left: Range, right: Range) -> Range:
    match operation:
        case ast.Add():
            return _spanned(left[0] + right[0], left[1] + right[1])
        case ast.Sub():
            return _spanned(left[0] - right[1], left[1] - right[0])
        case ast.Mult():
            return _spanned(*(one * other for one in left for other in right))
        case ast.Div() if right[0] > 0 or right[1] < 0:
            return _spanned(*(one / other for one in left for other in right))
        case ast.Pow():
            return _power(left, right)
        case _:
            return ANY


def _power(base: Range, exponent: Range) -> Range:
    """Returns the range of a power whose extremes are at the ends of both ranges."""
    if base[0] > 0 or (base[0] == 0 and exponent[0] >= 0):
        return _spanned(*(math.pow(one, other) for one in base for other in exponent))
    whole = exponent[0] == exponent[1] and exponent[0] >= 0 and exponent[0].is_integer()
    if not whole:
        return ANY
    ends = [math.pow(one, exponent[0]) for one in base]
    turns = exponent[0] % 2 == 0 and base[0] < 0 < base[1]
    return _spanned(*ends, *([0.0] if turns else []))


def _called(name: str, given: list[Range]) -> Range:
    if name in ("min", "max"):
        chosen = min if name == "min" else max
        return chosen(low for low, _ in given), chosen(high for _, high in given)
    low, high = given[0]
    if name == "abs":
        ends = sorted((abs(low), abs(high)))
        return (0.0 if low <= 0 <= high else ends[0]), ends[1]
    known = _RISING.get(name)
    if known is None or high < known.lowest or not math.isfinite(high):
        return ANY
    beginning = known.function(low) if low > known.lowest else known.at_lowest
    return float(beginning), float(known.function(high))


def _spanned(*values: float) -> Range:
    """Returns the range of some values; `ANY` if one of them is undefined, such as 0 · ∞."""
    return ANY if any(map(math.isnan, values)) else (min(values), max(values))
