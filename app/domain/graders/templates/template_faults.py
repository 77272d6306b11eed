"""Faults of a syntactically valid template: single braces, and paths that never exist.

Owns the list of keys of a job's `sample`. Must not know rows, whose fields `app.preflight` checks.
Templates with invalid syntax are refused when a grader is parsed.
"""

import re
from difflib import get_close_matches
from typing import Final

from app.domain.documents.pointers import parameter
from app.domain.documents.walk import FieldKind, WalkedField
from app.domain.errors import InvalidRequest, refused_value
from app.domain.graders.definition_work import DefinitionWork, TooMuchToRead
from app.domain.graders.samples import (
    CALL_KEYS,
    CHAT_CALL_KEYS,
    CHAT_FUNCTION_KEYS,
    TURN_KEYS,
)
from app.domain.graders.templates.templates import Placeholder, TemplateError, parse_template
from app.domain.rollouts.environment_steps import REWARD_KEYS

_ONE_BRACE: Final = re.compile(r"(?<!\{)\{\s*((?:sample|item)\s*[.\[][^{}\n]{0,200})\}(?!\})")
_TEXTS: Final = frozenset({"output_text", "output_reasoning_summary", "stop_reason"})
_LISTS: Final = frozenset({"choices", "output_tools", "tool_calls", "turns"})
ENTRY_KEYS: Final = {"tool_calls": CALL_KEYS, "turns": TURN_KEYS}
"""Keys of the entries of each list of the whole rollout."""
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
    if key in _TEXTS and rest:
        return f"leads nowhere: 'sample.{key}' is a text and has no parts"
    if key == ENVIRONMENT and rest and rest[0] not in REWARD_KEYS:
        return f"names no part of 'sample.{key}': {_cure(rest[0], REWARD_KEYS)}"
    return _list_fault(key, rest) if key in _LISTS else None


def _list_fault(key: str, rest: list[str | int]) -> str | None:
    if rest and not isinstance(rest[0], int):
        return f"leads nowhere: 'sample.{key}' is a list: write 'sample.{key}[0]'"
    if key == "output_tools":
        return _chat_call_fault(rest[1:])
    known = ENTRY_KEYS.get(key)
    if known is not None and len(rest) > 1 and rest[1] not in known:
        return f"names no part of an entry of 'sample.{key}': {_cure(rest[1], known)}"
    return None


def _chat_call_fault(steps: list[str | int]) -> str | None:
    """Returns the fault of a path that addresses a call in chat form."""
    if not steps:
        return None
    first, *rest = steps
    what = "names no part of an entry of 'sample.output_tools', a call as in a chat message"
    if first in CHAT_FUNCTION_KEYS:
        return f"{what}: write 'function.{first}' in place of '{first}'"
    if first not in CHAT_CALL_KEYS:
        return f"{what}: {_cure(first, CHAT_CALL_KEYS)}"
    if first == "function" and rest and rest[0] not in CHAT_FUNCTION_KEYS:
        return f"{what}: {_cure(rest[0], CHAT_FUNCTION_KEYS, 'function.')}"
    return None


def _cure(step: str | int, known: tuple[str, ...], prefix: str = "") -> str:
    near = get_close_matches(str(step)[:80], known, n=1)
    return f"did you mean '{prefix}{near[0]}'?" if near else f"it has {', '.join(known)}"
