"""Formats of Python calls, which are parsed and never evaluated: `pythonic` (Llama 3.2, a turn that
is one list) and `olmo3` (a call a line between tags).

    [name(key="value"), other(number=2)]

    <function_calls>
    name(key="value")
    </function_calls>
"""

import ast
import re
from typing import Any, Final

from typing_extensions import override

from app.domain.models.tool_parsers import ToolParser
from app.domain.texts.python_syntax import expression_of
from app.rendering.formats.tool_format import (
    BrokenCall,
    MarkedCalls,
    ParsedCalls,
    ParsedToolCall,
    Tools,
    arguments_json,
    broken_turn,
    content_only,
)

_CALL: Final = re.compile(r"\[\s*[A-Za-z_][\w.]*\(")
_START: Final = "<function_calls>"
_END: Final = "</function_calls>"
_JSON_NAMES: Final = {"true": True, "false": False, "null": None}


class Pythonic:
    name: ToolParser = "pythonic"
    marks: tuple[str, ...] = ("<|python_start|>", "<|python_end|>")

    def parse(self, text: str, tools: Tools) -> ParsedCalls:
        del tools  # literals have their own types
        body = text.strip().removeprefix(self.marks[0]).removesuffix(self.marks[1]).strip()
        if not _CALL.match(body):
            return content_only(text)
        try:
            return ParsedCalls("", _calls_of(body), None)
        except BrokenCall as broken:
            return broken_turn(text, broken)

    def final_length(self, text: str) -> int:
        body, mark = text.lstrip(), self.marks[0]
        undecided = not body or body.startswith(("[", mark)) or mark.startswith(body)
        return 0 if undecided else len(text)


class Olmo3(MarkedCalls):
    def __init__(self) -> None:
        super().__init__("olmo3", starts=(_START,), others=(_END,))

    @override
    def read(self, text: str, tools: Tools) -> list[ParsedToolCall]:
        body, end, _ = text.removeprefix(_START).partition(_END)
        if not end:
            raise BrokenCall(f"it does not end with {_END}")
        return _calls_of("[" + ",".join(line for line in body.splitlines() if line.strip()) + "]")


def _calls_of(text: str) -> list[ParsedToolCall]:
    try:
        body = expression_of(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise BrokenCall("it is not a list of Python calls") from None
    if not isinstance(body, ast.List) or not body.elts:
        raise BrokenCall("it is not a list of Python calls")
    try:
        return [_call_of(element) for element in body.elts]
    except RecursionError:  # a name of a thousand parts
        raise BrokenCall("it is nested too deeply") from None


def _call_of(node: ast.expr) -> ParsedToolCall:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name | ast.Attribute):
        raise BrokenCall("it is not a list of Python calls")
    if node.args or any(keyword.arg is None for keyword in node.keywords):
        raise BrokenCall("its arguments must have names")
    arguments = {str(keyword.arg): _value(keyword.value) for keyword in node.keywords}
    return ParsedToolCall(ast.unparse(node.func), arguments_json(arguments))


def _value(node: ast.expr) -> Any:
    match node:
        case ast.Name(id=name) if name in _JSON_NAMES:
            return _JSON_NAMES[name]
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [_value(item) for item in items]
        case ast.Dict(keys=keys, values=values) if None not in keys:
            named = [_value(key) for key in keys if key is not None]
            if all(isinstance(name, str) for name in named):
                return dict(zip(named, map(_value, values), strict=True))
        case ast.Constant(value=None | bool() | int() | float() | str()):
            return node.value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case _:
            pass
    raise BrokenCall("an argument is not a literal")
