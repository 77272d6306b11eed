"""Makes the rows of a job's file from the records of a table, by the columns of its parts. Pure."""

import json
import re
from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any, Final, assert_never

from app.domain.curricula.columns import ColumnMap, Role, UnusableColumns, joined_columns
from app.domain.documents.json_object import Json
from app.domain.methods.supervised import MethodType

_TOOLS: Final = "tools"
_TAG_SEPARATORS: Final = re.compile(r"[;,|]")


def labelled_row(row: Mapping[str, Any], columns: ColumnMap) -> Json:
    """Returns a row of a job's file with its labels. All of its fields stay, for graders."""
    found = dict(row)
    if "answer" in columns:
        found["answer"] = row.get(columns["answer"])
    _add_labels(found, row, columns)
    return found


def row_of(record: Mapping[str, Any], columns: ColumnMap, method: MethodType) -> Json:
    """Returns the row of a record, whose other columns keep their names. Raises `UnusableColumns`
    for a value that cannot be read.
    """
    used = {*columns.values(), _TOOLS}
    row: Json = {
        name: value for name, value in record.items() if name not in used and value is not None
    }
    messages, tools = _messages(record, columns), _tools(record, columns)
    match method:
        case "reinforcement":
            row |= {"messages": messages, **tools}
            if "answer" in columns:
                row["answer"] = record.get(columns["answer"])
        case "supervised":
            row |= {"messages": [*messages, *_answers(record, columns, "answer")], **tools}
        case "dpo":
            row["input"] = {"messages": messages, **tools}
            row["preferred_output"] = _answers(record, columns, "chosen")
            row["non_preferred_output"] = _answers(record, columns, "rejected")
        case _:
            assert_never(method)
    _add_labels(row, record, columns)
    return row


def _messages(record: Mapping[str, Any], columns: ColumnMap) -> list[Json]:
    if "messages" in columns:
        return _parsed(record.get(columns["messages"]), columns["messages"])
    system = record.get(columns["system"]) if "system" in columns else None
    lead = [{"role": "system", "content": _text(system)}] if system not in (None, "") else []
    prompt = record.get(columns["prompt"])
    if prompt is None or _text(prompt).strip() == "":
        raise UnusableColumns(f"the column '{columns['prompt'][:64]}' is empty")
    context = [record.get(name) for name in joined_columns(list(record), columns)]
    parts = [_text(prompt), *(_text(one) for one in context if one is not None)]
    asked = "\n\n".join(part for part in parts if part.strip())
    return [*lead, {"role": "user", "content": asked}]


def _tools(record: Mapping[str, Any], columns: ColumnMap) -> Json:
    """Returns the tools that a row offers. Raises `UnusableColumns` for a text that is no JSON."""
    value = record.get(_TOOLS)
    if _TOOLS in columns.values() or value is None or value in ("", []):
        return {}
    try:
        tools = json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        tools = None
    if not isinstance(tools, list):
        raise UnusableColumns(
            "the column 'tools' has no list of function tools as JSON: rename it if it has "
            "something else"
        )
    return {_TOOLS: tools} if tools else {}


def _parsed(value: Any, name: str) -> list[Json]:
    try:
        messages = json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        messages = None
    if not isinstance(messages, list):
        raise UnusableColumns(f"the column '{name[:64]}' has no list of messages as JSON")
    return messages


def _answers(record: Mapping[str, Any], columns: ColumnMap, role: Role) -> list[Json]:
    if role not in columns:
        return []
    value = record.get(columns[role])
    if value is None or (isinstance(value, str) and not value.strip()):
        raise UnusableColumns(f"the column '{columns[role][:64]}' is empty")
    if isinstance(value, list):  # a data set with messages in its columns
        return value[-1:]
    return [{"role": "assistant", "content": _text(value)}]


def _add_labels(row: Json, record: Mapping[str, Any], columns: ColumnMap) -> None:
    if "tags" in columns:
        value = record.get(columns["tags"])
        texts = [
            _text(each)
            for each in (value if isinstance(value, list) else [value])
            if each is not None
        ]
        row["tags"] = _stripped(texts) if isinstance(value, list) else tags_in("".join(texts))
    if "difficulty" in columns:
        value = record.get(columns["difficulty"])
        row["difficulty"] = _number(value) if value != "" else None


def tags_in(text: str) -> list[str]:
    """Returns the tags of one cell of a table."""
    return _stripped(_TAG_SEPARATORS.split(text))


def _stripped(texts: Iterable[str]) -> list[str]:
    return [part for each in texts if (part := each.strip())]


def _number(value: Any) -> Any:
    """Returns a text as the number that it is. Words of levels are the user's own, and stay."""
    if not isinstance(value, str):
        return value
    try:
        number = float(value)
    except ValueError:
        return value
    return number if isfinite(number) else value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
