"""Faults of a syntactically valid template: single braces, and paths that never exist.

Templates with invalid syntax are refused when a grader is parsed.
"""

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Final

from pydantic import BaseModel

from app.graders.program_definitions import DefinitionWork, TooMuchToRead
from app.graders.samples import (
    CALL_KEYS,
    CHAT_CALL_KEYS,
    CHAT_FUNCTION_KEYS,
    CHOICE_KEYS,
    MESSAGE_KEYS,
    TURN_KEYS,
)
from app.graders.templates import Placeholder, TemplateError, parse_template
from app.kit.errors import InvalidRequest, refused_value
from app.kit.fields import parameter
from app.kit.walk import FieldKind, WalkedField, walk_fields
from app.rollouts.trajectory import REWARD_KEYS

_ONE_BRACE: Final = re.compile(r"(?<!\{)\{\s*((?:sample|item)\s*[.\[][^{}\n]{0,200})\}(?!\})")
_TEXTS: Final = frozenset({"output_text", "output_reasoning_summary", "stop_reason"})
_LISTS: Final = frozenset({"choices", "output_tools", "tool_calls", "turns"})
ENTRY_KEYS: Final = {"tool_calls": CALL_KEYS, "turns": TURN_KEYS}
"""Keys of the entries of each list of the whole rollout."""
_HAS_PARTS: Final = frozenset({"message", "tool_calls", "function", "arguments_json"})
"""Keys of entries whose value has parts; those of all others are texts and numbers."""
_JSON: Final = "output_json"
ENVIRONMENT: Final = "environment"
"""Key of `sample` with the rewards of an HTTP environment."""
SAMPLE_KEYS: Final = (*sorted(_TEXTS | _LISTS), _JSON, ENVIRONMENT)


def template_fault(field: WalkedField, root: str) -> InvalidRequest | None:
    """Returns the error for a placeholder in single braces, which would be graded as text."""
    found = _ONE_BRACE.search(field.value) if field.kind is FieldKind.TEMPLATE else None
    if found is None:
        return None
    right = f"{{{{{found[1].strip()}}}}}"
    return _invalid(
        field, root, f"'{found[0]}' has single braces and is plain text: write '{right}'"
    )


def sample_fault(
    field: WalkedField, root: str, *, json_output: bool, environment: bool, work: DefinitionWork
) -> InvalidRequest | None:
    """Returns the error for a path into `sample` that no sample of a job has; `None` beyond the
    `work` of a definition, which is refused for that.
    """
    for placeholder in _counted(field.value, work) if field.kind is FieldKind.TEMPLATE else ():
        fault = _placeholder_fault(placeholder, json_output=json_output, environment=environment)
        if fault is not None:
            return _invalid(field, root, f"'{{{{{placeholder.text[:80]}}}}}' {fault}")
    return None


def unplayable_path(grader: BaseModel, root: str) -> InvalidRequest | None:
    """Returns the error for a path into `sample` that no sample of any job has, for a grader that
    belongs to no job yet.
    """
    work = DefinitionWork()
    for field in walk_fields(type(grader), grader):
        fault = sample_fault(field, root, json_output=True, environment=True, work=work)
        if fault is not None:
            return fault
    return None


def _invalid(field: WalkedField, root: str, message: str) -> InvalidRequest:
    return refused_value(parameter(root, field.path), message)


def placeholders(text: str) -> list[Placeholder]:
    """Returns the placeholders of a text; none if it is not a template."""
    try:
        template = parse_template(text)
    except TemplateError:
        return []
    return [part for part in template.parts if isinstance(part, Placeholder)]


def _counted(text: str, work: DefinitionWork) -> list[Placeholder]:
    try:
        work.count_template(text)
    except TooMuchToRead:
        return []
    return placeholders(text)


def _placeholder_fault(
    placeholder: Placeholder, *, json_output: bool, environment: bool
) -> str | None:
    if placeholder.namespace != "sample" or not placeholder.steps:
        return None
    key, *rest = placeholder.steps
    if key == _JSON and not json_output:
        return (
            'is there only with \'response_format\': send {"type": "json_object"} or a '
            "'json_schema', or use 'sample.output_text'"
        )
    if key == ENVIRONMENT and not environment:
        return "is there only in a job whose 'environment' has the type 'http'"
    if key not in SAMPLE_KEYS:
        return f"names no part of a sample: {_cure(key, SAMPLE_KEYS, 'sample.')}"
    return _fault_below(str(key), rest)


def _fault_below(key: str, rest: list[str | int]) -> str | None:
    if key == ENVIRONMENT and rest and rest[0] not in REWARD_KEYS:
        return f"names no part of 'sample.{key}': {_cure(rest[0], REWARD_KEYS)}"
    shape = shape_fault(key, rest)
    if shape is not None or key not in _LISTS or not rest:
        return shape
    return _choice_fault(rest) if key == "choices" else _entry_fault(key, rest[1:])


def shape_fault(key: str, rest: Sequence[str | int]) -> str | None:
    """Returns the fault of steps below a text, and of steps into a list without an index."""
    if key in _TEXTS and rest:
        return f"leads nowhere: 'sample.{key}' is a text and has no parts"
    if key in _LISTS and rest and not isinstance(rest[0], int):
        return f"leads nowhere: 'sample.{key}' is a list: write 'sample.{key}[0]'"
    return None


def _choice_fault(rest: list[str | int]) -> str | None:
    """Returns the fault of a path into the choices of a rollout, which has one."""
    if rest[0] != 0:
        return "leads nowhere: a sample has one choice: write 'sample.choices[0]'"
    return _unknown_step(rest[1:], CHOICE_KEYS, "an entry of 'sample.choices'") or (
        _message_fault(rest[2:]) if rest[1:2] == ["message"] else None
    )


def _message_fault(steps: list[str | int]) -> str | None:
    fault = _unknown_step(steps, MESSAGE_KEYS, "the message of 'sample.choices'", "message.")
    if fault is not None or steps[:1] != ["tool_calls"] or len(steps) == 1:
        return fault
    if not isinstance(steps[1], int):
        return "leads nowhere: the 'tool_calls' of a message are a list: write 'tool_calls[0]'"
    return _chat_call_fault(steps[2:], "the 'tool_calls' of a message")


def _entry_fault(key: str, steps: list[str | int]) -> str | None:
    if key == "output_tools":
        return _chat_call_fault(steps, "'sample.output_tools'")
    if key == "turns" and steps[:1] == ["tool_calls"] and len(steps) > 1:
        return "leads nowhere: 'tool_calls' of a turn is a number: use 'sample.tool_calls'"
    return _unknown_step(steps, ENTRY_KEYS[key], f"an entry of 'sample.{key}'")


def _unknown_step(
    steps: list[str | int], known: tuple[str, ...], owner: str, prefix: str = ""
) -> str | None:
    """Returns the fault of a first step that is not known, or of a second one into a single
    value.
    """
    if not steps:
        return None
    if steps[0] not in known:
        return f"names no part of {owner}: {_cure(steps[0], known, prefix)}"
    if len(steps) == 1 or steps[0] in _HAS_PARTS:
        return None
    instead = ": use 'arguments_json'" if steps[0] == "arguments" and "turn" in known else ""
    return f"leads nowhere: '{steps[0]}' is one value and has no parts{instead}"


def _chat_call_fault(steps: list[str | int], owner: str) -> str | None:
    """Returns the fault of a path that addresses a call in chat form."""
    what = f"an entry of {owner}, a call as in a chat message"
    if steps and steps[0] in CHAT_FUNCTION_KEYS:
        return f"names no part of {what}: write 'function.{steps[0]}' in place of '{steps[0]}'"
    fault = _unknown_step(steps, CHAT_CALL_KEYS, what)
    if fault is not None or steps[:1] != ["function"]:
        return fault
    return _unknown_step(steps[1:], CHAT_FUNCTION_KEYS, what, "function.")


def _cure(step: str | int, known: tuple[str, ...], prefix: str = "") -> str:
    near = get_close_matches(str(step)[:80], known, n=1)
    return f"did you mean '{prefix}{near[0]}'?" if near else f"it has {', '.join(known)}"
