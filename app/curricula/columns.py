"""Guesses which column of a table becomes which part of a row. Pure."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Any, Final, Literal, assert_never

from app.curricula.curricula import Columns
from app.jobs.supervised import MethodType
from app.kit.fields import Json

Role = Literal["prompt", "system", "answer", "chosen", "rejected", "messages", "tags", "difficulty"]
ROLES: Final[tuple[Role, ...]] = (
    "prompt", "system", "answer", "chosen", "rejected", "messages", "tags", "difficulty",
)  # fmt: skip
MOST_COLUMNS: Final = 1_000
_NAMES: Final[Mapping[Role, tuple[str, ...]]] = {
    "messages": ("messages", "conversation", "conversations", "chat"),
    "prompt": (
        *("prompt", "question", "instruction", "query", "problem", "user", "input"),
        *("user_message", "request", "task", "ticket", "text"),
    ),
    "system": ("system", "system_prompt", "system_message"),
    "answer": (
        *("answer", "response", "output", "completion", "expected", "expected_answer"),
        *("correct_answer", "solution", "target", "reference", "assistant", "label", "gold"),
    ),
    "chosen": ("chosen", "preferred", "better", "preferred_output", "accepted"),
    "rejected": ("rejected", "non_preferred", "worse", "non_preferred_output", "refused"),
    "tags": ("tags", "tag", "category", "categories", "topic", "subject"),
    "difficulty": ("difficulty", "hardness"),
}
"""Names that a column of each role usually has, the most usual first."""
_NEEDED: Final[Mapping[MethodType, tuple[Role, ...]]] = {
    "reinforcement": ("prompt",),
    "supervised": ("prompt", "answer"),
    "dpo": ("prompt", "chosen", "rejected"),
}
_ALWAYS_READ: Final[frozenset[Role]] = frozenset(
    {"prompt", "system", "messages", "tags", "difficulty"}
)
_READ: Final[Mapping[MethodType, frozenset[Role]]] = {
    "reinforcement": _ALWAYS_READ | {"answer"},
    "supervised": _ALWAYS_READ | {"answer"},
    "dpo": _ALWAYS_READ | {"chosen", "rejected"},
}
_LABELS: Final[Mapping[MethodType, frozenset[Role]]] = {
    "reinforcement": frozenset({"answer", "tags", "difficulty"}),
    "supervised": frozenset({"tags", "difficulty"}),
    "dpo": frozenset({"tags", "difficulty"}),
}
"""The parts that a row of a job's file can take from its other fields."""
_CONTEXT: Final = ("input", "context")
"""Columns that belong to the text of a column `instruction`, as in the data of Alpaca and Dolly."""
_OF_PAIRS: Final = ("input", "preferred_output", "non_preferred_output")
_NO_WORD: Final = re.compile(r"[\W_]+")
ColumnMap = dict[Role, str]


class UnusableColumns(ValueError):
    """Columns that make no rows. The text is for the author of the request."""


def guess(header: Sequence[str], sent: Columns, method: MethodType) -> ColumnMap:
    _check_header(header)
    chosen = _named(header, sent)
    _check_read(chosen, method)
    free = [name for name in header if name not in chosen.values()]
    plain = {_plain(name): name for name in reversed(free)}
    for role, names in _NAMES.items():
        if role in chosen or role not in _READ[method] or _is_excluded(role, chosen, method):
            continue
        found = next((plain[name] for name in names if name in plain), None)
        if found is not None:
            chosen[role] = found
            plain = {key: name for key, name in plain.items() if name != found}
    return chosen


def _check_read(sent: ColumnMap, method: MethodType) -> None:
    unread = next((role for role in sent if role not in _READ[method]), None)
    if unread is not None:
        raise UnusableColumns(
            f"rows of a '{method}' job have no '{unread}': leave it out of 'columns', or send "
            f"another 'method'; the parts are {_shown(sorted(_READ[method]))}"
        )
    double = next((role for role in ("prompt", "system") if role in sent), None)
    if "messages" in sent and double is not None:
        raise UnusableColumns(
            f"'messages' is the whole conversation: leave it or '{double}' out of 'columns'"
        )


def _is_excluded(role: Role, chosen: ColumnMap, method: MethodType) -> bool:
    if role == "messages":
        return "prompt" in chosen or "system" in chosen
    if role in ("prompt", "system"):
        return "messages" in chosen
    # A conversation has its answer: another one is added only if it was named.
    return role == "answer" and method == "supervised" and "messages" in chosen


def label_columns(header: Sequence[str], sent: Columns, method: MethodType) -> ColumnMap:
    columns = _named(header, sent)
    unread = next((role for role in columns if role not in _LABELS[method]), None)
    if unread is not None:
        raise UnusableColumns(
            f"its rows are rows of a '{method}' job already, which take no column for '{unread}'"
        )
    return columns


def missing(columns: Mapping[Role, str], method: MethodType) -> list[Role]:
    needed = list(_NEEDED[method])
    if "messages" in columns:
        needed = [role for role in needed if role not in {"prompt", "answer"}]
    return [role for role in needed if role not in columns]


def missing_message(
    header: Sequence[str], roles: Sequence[Role], columns: Mapping[Role, str]
) -> str:
    named = " and ".join(f"'{role}'" for role in roles)
    free = [name for name in header if name not in columns.values()]
    taken = ", ".join(f"'{name[:64]}' is '{role}'" for role, name in columns.items())
    left = f"there are {_shown(free)}" if free else "no column is left"
    also = f" ({taken})" if taken else ""
    return f"no column is named like {named}: name it in 'columns'; {left}{also}"


def joined_columns(header: Sequence[str], columns: Mapping[Role, str]) -> list[str]:
    if _plain(columns.get("prompt", "")) != "instruction":
        return []
    return _context_columns(header, columns)


def unread_context(header: Sequence[str], columns: Mapping[Role, str]) -> list[str]:
    """Returns the columns that prompts often need and these prompts do not have."""
    if "prompt" not in columns or joined_columns(header, columns):
        return []
    return _context_columns(header, columns)


def replaced_columns(
    header: Sequence[str], columns: Mapping[Role, str], method: MethodType
) -> list[str]:
    made: set[str] = {role for role in ("tags", "difficulty") if role in columns}
    made |= {"messages"} if method != "dpo" else set(_OF_PAIRS)
    made |= {"answer"} & {*columns} if method == "reinforcement" else set()
    used = {*columns.values(), *joined_columns(header, columns)}
    return [name for name in header if name in made and name not in used]


def _context_columns(header: Sequence[str], columns: Mapping[Role, str]) -> list[str]:
    used = columns.values()
    return [name for name in header if _plain(name) in _CONTEXT and name not in used]


def _named(header: Sequence[str], sent: Columns) -> ColumnMap:
    columns: ColumnMap = {}
    for role in ROLES:
        name = getattr(sent, role)
        if name is None:
            continue
        if name not in header:
            raise UnusableColumns(
                f"there is no column '{name[:64]}' for '{role}'; the columns are {_shown(header)}"
            )
        columns[role] = name
    return columns


def _plain(name: str) -> str:
    return _NO_WORD.sub("_", name.casefold()).strip("_")


def _check_header(header: Sequence[str]) -> None:
    if len(header) > MOST_COLUMNS:
        raise UnusableColumns(f"there are more than {MOST_COLUMNS} columns")
    seen = set[str]()
    for number, name in enumerate(header, start=1):
        if name == "":
            raise UnusableColumns(f"column {number} has no name")
        if name in seen:
            raise UnusableColumns(f"two columns are named '{name[:64]}'")
        seen.add(name)


def _shown(header: Sequence[str]) -> str:
    names = ", ".join(f"'{name[:64]}'" for name in header[:20])
    return f"{names}, …" if len(header) > 20 else names  # noqa: PLR2004 - as many as are shown


_TOOLS: Final = "tools"
_TAG_SEPARATORS: Final = re.compile(r"[;,|]")


def labelled_row(row: Mapping[str, Any], columns: ColumnMap) -> Json:
    found = dict(row)
    if "answer" in columns:
        found["answer"] = row.get(columns["answer"])
    _add_labels(found, row, columns)
    return found


def row_of(record: Mapping[str, Any], columns: ColumnMap, method: MethodType) -> Json:
    """Returns the row of a record, whose other columns stay. Raises `UnusableColumns`."""
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
        name = columns["messages"]
        messages = _json(record.get(name))
        if not isinstance(messages, list):
            raise UnusableColumns(f"the column '{name[:64]}' has no list of messages as JSON")
        return messages
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
    value = record.get(_TOOLS)
    if _TOOLS in columns.values() or value is None or value in ("", []):
        return {}
    tools = _json(value)
    if not isinstance(tools, list):
        raise UnusableColumns(
            "the column 'tools' has no list of function tools as JSON: rename it if it has "
            "something else"
        )
    return {_TOOLS: tools} if tools else {}


def _json(value: Any) -> Any:
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return None


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
