"""Rows of a training or validation file: what one JSONL line must be, said with line and pointer.

Owns the row format of the hosted reinforcement data set (`messages`, `tools`, any other key is the
grader's). Pure, so that API, command line and worker give the same answer. Must not know files.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from app.domain.tools import TOOL_NAME

MAX_ROW_BYTES: Final = 1_048_576
"""A row travels whole in every grader request, which the contract caps at 1 MB."""
ROLES: Final = ("developer", "system", "user", "assistant", "tool")
_NAME: Final = re.compile(TOOL_NAME)


@dataclass(frozen=True, slots=True)
class DatasetRow:
    """One example."""

    index: int
    """Position among the file's rows, from 0: the `prompt_index` of its rollouts."""
    messages: list[dict[str, Any]]
    """The conversation up to the user's last message, in Chat Completions form."""
    tools: list[dict[str, Any]]
    """Function schemas offered on this row, in Chat Completions form."""
    item: dict[str, Any]
    """The whole row, as graders see it."""


class DatasetError(ValueError):
    """A row that cannot be used. The text names line (from 1) and JSON pointer (RFC 6901)."""

    def __init__(self, line: int, pointer: str, message: str) -> None:
        where = f"Line {line}" if not pointer else f"Line {line}, {pointer}"
        super().__init__(f"{where}: {message}")
        self.line = line
        self.pointer = pointer
        self.message = message


class _Fault(ValueError):
    def __init__(self, pointer: str, message: str) -> None:
        super().__init__(message)
        self.pointer = pointer
        self.message = message


def parse_rows(lines: Iterable[bytes], job_tools: set[str], max_rows: int) -> list[DatasetRow]:
    """Every row of a file; blank lines are skipped. Raises `DatasetError` at the first fault.

    `job_tools` are the names registered with the job: a row that offers another tool offers
    something nobody can call.
    """
    return list(each_row(lines, job_tools, max_rows))


def each_row(lines: Iterable[bytes], job_tools: set[str], max_rows: int) -> Iterator[DatasetRow]:
    """The rows of `parse_rows` one at a time, for files that should not be held in memory."""
    index = 0
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        if index == max_rows:
            raise DatasetError(number, "", f"the file has more than {max_rows} examples")
        yield parse_row(line, number, index=index, job_tools=job_tools)
        index += 1


def parse_row(line: bytes, number: int, *, index: int, job_tools: set[str]) -> DatasetRow:
    """One line of a file. Raises `DatasetError`."""
    try:
        item = _load(line, first=number == 1)
        messages = _messages(item.get("messages"))
        tools = _tools(item.get("tools"), job_tools)
    except _Fault as fault:
        raise DatasetError(number, fault.pointer, fault.message) from None
    return DatasetRow(index=index, messages=messages, tools=tools, item=item)


def _load(line: bytes, *, first: bool) -> dict[str, Any]:
    if len(line) > MAX_ROW_BYTES:
        raise _Fault("", f"the row is larger than {MAX_ROW_BYTES} bytes")
    try:
        text = line.decode("utf-8-sig" if first else "utf-8")
        item = json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)
    except UnicodeDecodeError as error:
        raise _Fault("", f"not UTF-8 (byte {error.start})") from None
    except RecursionError:
        raise _Fault("", "nested too deeply") from None
    except ValueError as error:
        raise _Fault("", f"not valid JSON ({error})") from None
    if not isinstance(item, dict):
        raise _Fault("", "not a JSON object")
    _check_text(item)
    return item


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:20]} is out of range")
    return number


def _check_text(item: dict[str, Any]) -> None:
    """Refuse what UTF-8 or Postgres' jsonb cannot hold, before it spoils a rollout's trace."""
    text = json.dumps(item, ensure_ascii=False)
    if "\\u0000" in text and "\x00" in "".join(_strings(item)):
        raise _Fault("", "holds the character U+0000")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _Fault("", "holds half of a surrogate pair") from None


def _strings(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)


def _messages(messages: Any) -> list[dict[str, Any]]:
    if not isinstance(messages, list) or not messages:
        raise _Fault("/messages", "must be a list with at least one message")
    for position, message in enumerate(messages):
        _check_message(message, f"/messages/{position}")
    if messages[-1]["role"] != "user":
        raise _Fault(
            f"/messages/{len(messages) - 1}/role",
            "the last message must have role 'user': the answer is the model's to give",
        )
    return messages


def _check_message(message: Any, pointer: str) -> None:
    if not isinstance(message, dict):
        raise _Fault(pointer, "must be an object")
    role = message.get("role")
    if role not in ROLES:
        raise _Fault(f"{pointer}/role", f"must be one of {', '.join(ROLES)}")
    calls = message.get("tool_calls")
    if calls is not None:
        if role != "assistant":
            raise _Fault(f"{pointer}/tool_calls", "only an assistant message may call tools")
        _check_calls(calls, f"{pointer}/tool_calls")
    if role == "tool" and not isinstance(message.get("tool_call_id"), str):
        raise _Fault(f"{pointer}/tool_call_id", "must name the call that is answered")
    if message.get("content") is None and calls:
        return
    _check_content(message.get("content"), f"{pointer}/content")


def _check_content(content: Any, pointer: str) -> None:
    if isinstance(content, str):
        return
    if not isinstance(content, list):
        raise _Fault(pointer, "must be a string or a list of text parts")
    for position, part in enumerate(content):
        if (
            not isinstance(part, dict)
            or part.get("type") != "text"
            or not isinstance(part.get("text"), str)
        ):
            raise _Fault(f"{pointer}/{position}", "must be a part of type 'text' with a text")


def _check_calls(calls: Any, pointer: str) -> None:
    if not isinstance(calls, list):
        raise _Fault(pointer, "must be a list")
    for position, call in enumerate(calls):
        function = call.get("function") if isinstance(call, dict) else None
        if (
            not isinstance(function, dict)
            or not isinstance(function.get("name"), str)
            or not isinstance(function.get("arguments"), str)
        ):
            raise _Fault(
                f"{pointer}/{position}", "must be a function call with name and arguments (text)"
            )


def _tools(tools: Any, job_tools: set[str]) -> list[dict[str, Any]]:
    if tools is None:
        return []
    if not isinstance(tools, list):
        raise _Fault("/tools", "must be a list of function tools")
    seen: set[str] = set()
    for position, tool in enumerate(tools):
        name = _tool_name(tool, f"/tools/{position}")
        pointer = f"/tools/{position}/function/name"
        if name in seen:
            raise _Fault(pointer, f"tool '{name}' is listed twice")
        if name not in job_tools:
            raise _Fault(
                pointer,
                f"tool '{name}' has no server_url: the job's method.reinforcement.tools lacks it",
            )
        seen.add(name)
    return tools


def _tool_name(tool: Any, pointer: str) -> str:
    if not isinstance(tool, dict) or tool.get("type") != "function":
        raise _Fault(pointer, "must be an object of type 'function'")
    function = tool.get("function")
    if not isinstance(function, dict):
        raise _Fault(f"{pointer}/function", "must be an object")
    name = function.get("name")
    if not isinstance(name, str) or _NAME.fullmatch(name) is None:
        raise _Fault(f"{pointer}/function/name", f"must match {TOOL_NAME}")
    parameters = function.get("parameters")
    if parameters is not None and not isinstance(parameters, dict):
        raise _Fault(f"{pointer}/function/parameters", "must be a JSON schema object")
    return name
