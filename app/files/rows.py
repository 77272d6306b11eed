"""Rows of a job's file by method: limits and faults. Source: the hosted API."""

import json
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, Final, assert_never

from app.files.conversations import conversation_faults, message_faults
from app.files.function_tools import tools_faults
from app.files.shape_faults import ShapeFault
from app.jobs.supervised import TrainOn
from app.kit.fields import Json
from app.kit.fields import Path as FieldPath
from app.kit.fields import pointer as pointer_of
from app.kit.json_schemas import without_nulls
from app.kit.strict_json import is_too_deep, strict_loads
from app.kit.texts import has_nul

MIN_EXAMPLES: Final = 10
MAX_TRAIN_EXAMPLES: Final = 100_000
MAX_VALID_EXAMPLES: Final = 1_000


MAX_ROW_BYTES: Final = 1_048_576
"""Limit of a row: every grader request contains it, and requests are limited to 1 MB."""
_OTHER_FORMATS: Final = {
    "preferred_output": "the form of preference pairs: send 'method.type' as 'dpo'",
    "prompt": "the form of legacy completions: send 'messages' of Chat Completions",
    "input": "the form of the Responses API: send 'messages' of Chat Completions",
    "item": "the form of an eval's items: put its content into the row itself",
}
"""Keys of rows of other parts of the hosted API, each with the correction."""
_SHOWN_KEYS: Final = 5
_SHOWN_CHARACTERS: Final = 64
_SHOWN_POINTER: Final = 400

Fault = tuple[str, str]
"""JSON pointer (RFC 6901) into the row, and the message about the fault there."""


class DatasetError(ValueError):
    """A row that cannot be used. The text names line (from 1) and JSON pointer (RFC 6901)."""

    def __init__(self, line: int, pointer: str, message: str) -> None:
        where = f"Line {line}" if not pointer else f"Line {line}, {pointer}"
        super().__init__(f"{where}: {message}")
        self.line = line
        self.pointer = pointer
        self.message = message


def is_blank(line: bytes) -> bool:
    return not line or line.isspace()


def json_rows(path: Path) -> Iterator[Json]:
    """Yields the rows of a file that was checked."""
    with path.open("rb") as file:
        for number, line in enumerate(file):
            if not is_blank(line):
                yield json.loads(line.decode("utf-8" if number else "utf-8-sig"))


def load_line(line: bytes, number: int) -> dict[str, Any]:
    if len(line) > MAX_ROW_BYTES:
        raise DatasetError(number, "", f"the row is larger than {MAX_ROW_BYTES} bytes")
    try:
        text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        item = strict_loads(text, most=None, unambiguous=True)
    except UnicodeDecodeError as error:
        raise DatasetError(number, "", f"not UTF-8 (byte {error.start})") from None
    except RecursionError:
        raise DatasetError(number, "", "nested too deeply") from None
    except ValueError as error:
        raise DatasetError(number, "", f"not valid JSON ({error})") from None
    if not isinstance(item, dict):
        raise DatasetError(number, "", "not a JSON object")
    if is_too_deep(item, line):
        raise DatasetError(number, "", "nested too deeply")
    unstorable = _unstorable(item)
    if unstorable is not None:
        raise DatasetError(number, "", unstorable)
    for owner in (item, item.get("input")):
        if isinstance(owner, dict) and isinstance(owner.get("tools"), list):
            owner["tools"] = without_nulls(owner["tools"])
    return item


def _unstorable(item: dict[str, Any]) -> str | None:
    """Finds text that UTF-8 or Postgres' jsonb cannot store, before it spoils a rollout's trace."""
    text = json.dumps(item, ensure_ascii=False)
    if "\\u0000" in text and has_nul(item):
        return "holds the character U+0000"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "holds half of a surrogate pair"
    return None


def _conversation_faults(
    messages: Any,
    path: FieldPath,
    *,
    row: Mapping[str, Any] | None = None,
    ends_with_calls: bool = False,
) -> Iterator[Fault]:
    """Yields faults of any conversation but its last role. The keys of `row` may show a reason."""
    if not isinstance(messages, list) or not messages:
        instead = "" if messages is not None else _instead(row or {})
        yield pointer_of(path), f"must be a list with at least one message{instead}"
        return
    faults = conversation_faults(messages, path, ends_with_calls=ends_with_calls)
    yield from map(_pointed, faults)


def _pointed(fault: ShapeFault) -> Fault:
    path = fault.path
    while len(at := pointer_of(path)) > _SHOWN_POINTER:  # the keys of a schema have any length
        path = path[:-1]
    return at, fault.reason


def _instead(row: Mapping[str, Any]) -> str:
    for key, hint in _OTHER_FORMATS.items():
        if key in row:
            return f"; the row has '{key}', {hint}"
    keys = [f"'{key[:_SHOWN_CHARACTERS]}'" for key in list(row)[:_SHOWN_KEYS]]
    return f"; the row has {', '.join(keys)}" if keys else ""


def _tools_faults(
    tools: Any, path: FieldPath, *, callable_names: AbstractSet[str] | None = None
) -> Iterator[Fault]:
    """Yields faults of tools. `callable_names` have an endpoint; `None` if no call is made."""
    if tools is None:
        return
    faults = list(tools_faults(tools, path))
    yield from map(_pointed, faults)
    if callable_names is None or any(fault.path == path for fault in faults):
        return
    faulty = {fault.path[len(path)] for fault in faults}
    for position, tool in enumerate(tools):
        name = None if position in faulty else tool["function"]["name"]
        if name is not None and name not in callable_names:
            cure = "add it to the job's method.reinforcement.tools, or remove it from the row"
            why = f"tool '{name}' has no server_url: {cure} if one of the job's mcp_servers has it"
            yield f"{pointer_of((*path, position))}/function/name", why


def _parallel_calls_faults(value: Any, path: FieldPath) -> Iterator[Fault]:
    if value is not None and not isinstance(value, bool):
        yield pointer_of((*path, "parallel_tool_calls")), "must be true or false"


def reinforcement_row_faults(
    item: dict[str, Any], job_tools: AbstractSet[str] | None
) -> Iterator[Fault]:
    messages: Any = item.get("messages")
    faults = list(_conversation_faults(messages, ("messages",), row=item))
    yield from faults
    if not faults and messages[-1]["role"] != "user":
        yield (
            f"/messages/{len(messages) - 1}/role",
            (
                "the last message must have role 'user': the answer is the model's to give. Rows "
                "that end with an answer to learn are for a job whose method.type is 'supervised'"
            ),
        )
    yield from _tools_faults(item.get("tools"), ("tools",), callable_names=job_tools)
    yield from _parallel_calls_faults(item.get("parallel_tool_calls"), ())


_WEIGHTS: Final = (0, 1)


def supervised_row_faults(item: dict[str, Any], train_on: TrainOn = "all") -> Iterator[Fault]:
    messages: Any = item.get("messages")
    faults = list(_conversation_faults(messages, ("messages",), row=item, ends_with_calls=True))
    yield from faults
    if isinstance(messages, list):
        for position, message in enumerate(messages):
            yield from _weight_faults(message, f"/messages/{position}/weight")
    if not faults:
        yield from _answer_faults(messages, train_on)
    yield from _tools_faults(item.get("tools"), ("tools",))
    yield from _parallel_calls_faults(item.get("parallel_tool_calls"), ())


def learned_turns(messages: Sequence[Mapping[str, Any]], train_on: TrainOn) -> list[int]:
    """Returns the indices of messages to train; a first message answers nothing."""
    answers = [index for index, message in enumerate(messages) if message["role"] == "assistant"]
    match train_on:
        case "last":
            chosen = answers[-1:]
        case "all":
            chosen = answers
        case _:
            assert_never(train_on)
    return [index for index in chosen if index and messages[index].get("weight") != 0]


def nothing_left(limit: int) -> str:
    return (
        f"its answer begins after the {limit} tokens that the model takes: there is nothing left "
        "to learn"
    )


def _weight_faults(message: Any, pointer: str) -> Iterator[Fault]:
    weight = message.get("weight") if isinstance(message, dict) else None
    if weight is None:
        return
    if message.get("role") != "assistant":
        yield pointer, "only an assistant message has a weight"
    if isinstance(weight, bool) or weight not in _WEIGHTS:
        yield pointer, "must be 0 or 1"


def _answer_faults(messages: list[dict[str, Any]], train_on: TrainOn) -> Iterator[Fault]:
    last = len(messages) - 1
    if messages[last]["role"] != "assistant":
        yield (
            f"/messages/{last}/role",
            (
                "the last message must have role 'assistant': a supervised job learns it. Rows "
                "that end with the user's message are for a job whose method.type is "
                "'reinforcement'"
            ),
        )
        return
    learned = [
        position
        for position, message in enumerate(messages)
        if message["role"] == "assistant" and message.get("weight") != 0
    ]
    if not learned:
        yield "/messages", "every assistant message has weight 0: there is nothing to learn"
    elif train_on == "last" and last not in learned:
        yield f"/messages/{last}/weight", "the last answer has weight 0"
    elif learned == [0]:
        yield "/messages/0", "the only answer to learn has no message before it that it answers"


_OUTPUTS: Final = ("preferred_output", "non_preferred_output")

_OF_OTHER_METHODS: Final = (
    "must be an object with messages; the row has 'messages', the form of other methods: send "
    "'method.type' as 'supervised' or 'reinforcement', or rows with 'input', 'preferred_output' "
    "and 'non_preferred_output'"
)


def preference_row_faults(item: dict[str, Any]) -> Iterator[Fault]:
    given = item.get("input")
    if item.get("messages") is not None and not any(name in item for name in ("input", *_OUTPUTS)):
        yield "/input", _OF_OTHER_METHODS
        return
    if isinstance(given, dict):
        yield from _conversation_faults(given.get("messages"), ("input", "messages"))
        yield from _tools_faults(given.get("tools"), ("input", "tools"))
        yield from _parallel_calls_faults(given.get("parallel_tool_calls"), ("input",))
    else:
        yield "/input", "must be an object with messages"
    answers = []
    for name in _OUTPUTS:
        faults = list(_output_faults(item.get(name), name))
        yield from faults
        if not faults:
            answers.append(item[name])
    if len(answers) == len(_OUTPUTS) and answers[0] == answers[1]:
        yield f"/{_OUTPUTS[1]}", "is the same as preferred_output: there is nothing to prefer"


def _output_faults(output: Any, name: str) -> Iterator[Fault]:
    if not isinstance(output, list) or len(output) != 1:
        yield f"/{name}", "must be a list of exactly one message"
        return
    # A rejected answer may be a call that no parser reads.
    rejected = name == _OUTPUTS[1]
    faults = [
        _pointed(fault) for fault in message_faults(output[0], (name, 0), any_arguments=rejected)
    ]
    yield from faults
    if not faults and output[0]["role"] != "assistant":
        yield f"/{name}/0/role", "must be 'assistant'"
