"""Parses Python text, one text at a time.

CPython 3.11 counts the depth of a syntax tree once for each interpreter, not for each thread. Two
threads that parse at the same time corrupt each other's count, and `ast.parse` then raises
`SystemError` ("AST constructor recursion depth mismatch") for valid text.
"""

import ast
from threading import Lock

_one_at_a_time = Lock()


def module_of(source: str) -> ast.Module:
    """Parses a text. Raises what `ast.parse` raises: SyntaxError, ValueError, RecursionError or
    MemoryError.
    """
    with _one_at_a_time:
        return ast.parse(source)  # noqa: TID251 - the lock is held


def expression_of(text: str) -> ast.Expression:
    """Parses a text. Raises what `ast.parse` raises: SyntaxError, ValueError, RecursionError or
    MemoryError.
    """
    with _one_at_a_time:
        return ast.parse(text, mode="eval")  # noqa: TID251 - the lock is held
