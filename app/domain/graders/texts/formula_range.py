"""The range of a formula's value, from the ranges of its names.

Promises: the value of the formula is never outside of the range, which may be wider than need be.
Reads the formula as Python's syntax, whose precedence is the same; one that is not Python, such as
a name `is`, may have any value.
"""

import ast
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from app.domain.texts.python_syntax import expression_of

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
