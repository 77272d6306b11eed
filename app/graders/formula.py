"""The arithmetic of a multi grader's `calculate_output`: read once, computed per sample.

Source: the hosted graders guide; `^` binds to the right and tighter than unary minus, as in
mathematics and as Python's `**`, whose parser reads the formula.
"""

import ast
import math
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from app.kit.texts import FORMULA_NAME, expression_of

MAX_LENGTH: Final = 2_000
_NUMBER: Final = r"(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?"
_TOKENS: Final = re.compile(
    rf"(?:\s|(?:{_NUMBER}(?!\.)|{FORMULA_NAME})(?![A-Za-z0-9_])|[-+^(),]|([*/])(?!\1))*+", re.ASCII
)
_NAMES: Final = re.compile(r"(?<![A-Za-z0-9_.])(?=[A-Za-z_])", re.ASCII)
"""The beginning of each name. Python reads them behind a `_`, as a grader may be called `pass`."""
_UNARY: Final[dict[str, Callable[[float], float]]] = {
    "abs": abs,
    "floor": lambda value: float(math.floor(value)),
    "ceil": lambda value: float(math.ceil(value)),
    "exp": math.exp,
    "sqrt": math.sqrt,
    "log": math.log,
}
_VARIADIC: Final[dict[str, Callable[..., float]]] = {"min": min, "max": max}
_BINARY: Final[dict[type[ast.operator], Callable[[float, float], float]]] = {
    ast.Add: lambda left, right: left + right,
    ast.Sub: lambda left, right: left - right,
    ast.Mult: lambda left, right: left * right,
    ast.Div: lambda left, right: left / right,
    ast.Pow: math.pow,
}
_TRIES: Final = 32
_SCALES: Final = (1.0, 1.0, 10.0, 1e3)

Values = Mapping[str, float]


class FormulaError(ValueError):
    """Reports an invalid formula, or one without a finite result. The message is for its author."""


@dataclass(frozen=True, slots=True)
class Formula:
    names: frozenset[str]
    _nodes: tuple[ast.expr, ...]
    """Each after its operands: a long sum needs no deep recursion."""

    def evaluate(self, values: Values) -> float:
        """Returns a finite number. Raises `FormulaError`, also for a name without a value."""
        stack: list[float] = []
        try:
            for node in self._nodes:
                _compute(node, stack, values)
        except KeyError as missing:
            raise FormulaError(f"{missing.args[0]!r} has no value") from None
        except ZeroDivisionError:
            raise FormulaError("division by zero") from None
        except (ValueError, OverflowError) as error:
            raise FormulaError(f"the formula has no finite value ({error})") from None
        if not math.isfinite(stack[0]):
            raise FormulaError("the formula has no finite value")
        return stack[0]

    def fault(self) -> str | None:
        """Tries scores of several sizes; returns why none of them gives a value."""
        chance, why = random.Random(0), ""
        for number in range(_TRIES):
            scale = _SCALES[number % len(_SCALES)] * (-1.0 if number >= _TRIES // 2 else 1.0)
            try:
                self.evaluate({name: scale * chance.random() for name in self.names})
            except FormulaError as error:
                why = str(error)
            else:
                return None
        return why


@lru_cache(maxsize=256)
def parse_formula(text: str) -> Formula:
    """Parses a formula. Raises `FormulaError`."""
    if len(text) > MAX_LENGTH:
        raise FormulaError(f"the formula is longer than {MAX_LENGTH} characters")
    read = _TOKENS.match(text)
    end = 0 if read is None else read.end()
    if end < len(text):
        raise FormulaError(f"{text[end : end + 10]!r} at character {end + 1} is not understood")
    try:
        python = _NAMES.sub("_", " ".join(text.split())).replace("^", "**")
        root = expression_of(python).body
    except SyntaxError as error:
        raise FormulaError(f"the formula cannot be read: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError):
        raise FormulaError("the formula is nested too deeply") from None
    nodes, waiting = list[ast.expr](), [root]
    while waiting:
        nodes.append(waiting.pop())
        waiting += _operands(nodes[-1])
    names = frozenset(node.id[1:] for node in nodes if isinstance(node, ast.Name))
    return Formula(names, tuple(reversed(nodes)))


def _operands(node: ast.expr) -> list[ast.expr]:
    """Raises `FormulaError` for anything but arithmetic."""
    match node:
        case ast.Constant(value=int() | float() as value):
            if value > 1e308:  # noqa: PLR2004 - an integer of any size, and infinity
                raise FormulaError("a number in the formula is too large")
            return []
        case ast.Name():
            return []
        case ast.UnaryOp(op=ast.UAdd() | ast.USub(), operand=operand):
            return [operand]
        case ast.BinOp(left=left, right=right):  # the tokens have no other operator
            return [left, right]
        case ast.Call(func=ast.Name(id=prefixed), args=arguments):
            name = prefixed[1:]
            if name not in _UNARY and name not in _VARIADIC:
                known = ", ".join((*_VARIADIC, *_UNARY))
                raise FormulaError(f"there is no function {name!r}; there are {known}")
            if not arguments or (name in _UNARY and len(arguments) > 1):
                raise FormulaError(f"{name} takes {'one argument' if name in _UNARY else 'some'}")
            return arguments
        case _:
            raise FormulaError("a formula has numbers, names, + - * / ^ and functions alone")


def _compute(node: ast.expr, stack: list[float], values: Values) -> None:
    """Replaces the operands at the end of the stack by the value of the node."""
    match node:
        case ast.Name(id=name):
            stack.append(float(values[name[1:]]))
        case ast.UnaryOp(op=sign):
            stack.append(-stack.pop() if isinstance(sign, ast.USub) else stack.pop())
        case ast.BinOp(op=operation):
            right = stack.pop()
            stack.append(_BINARY[type(operation)](stack.pop(), right))
        case ast.Call(func=ast.Name(id=prefixed), args=arguments):
            name = prefixed[1:]
            given = [stack.pop() for _ in arguments]
            # The smallest or the largest of them may be finite where another has no value.
            if not all(map(math.isfinite, given)):
                raise ValueError("of an argument")
            stack.append(_UNARY[name](given[0]) if name in _UNARY else _VARIADIC[name](given))
        case ast.Constant(value=int() | float() as value):
            stack.append(float(value))
        case _:
            raise AssertionError(node)
