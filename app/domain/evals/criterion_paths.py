"""Faults of the paths of an eval's criteria: misspelt parts of a sample, and fields that the schema
of the items excludes. Pure. An item may come with a sample that has keys of its own, so a key is
refused where it is similar to a known one.
"""

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any, Final

from app.domain.documents.pointers import parameter
from app.domain.documents.walk import FieldKind, WalkedField
from app.domain.errors import InvalidRequest, refused_value
from app.domain.evals.given_samples import GIVEN_KEYS, near_key
from app.domain.graders.samples import (
    CHAT_CALL_KEYS,
    CHAT_FUNCTION_KEYS,
    CHOICE_KEYS,
    MESSAGE_KEYS,
)
from app.domain.graders.templates.template_faults import ENTRY_KEYS, placeholders, shape_fault
from app.domain.graders.templates.templates import Placeholder

_SIMILARITY: Final = 0.8
_CHOICE: Final = (*CHOICE_KEYS, "logprobs", "stop_reason", "token_ids")
_MESSAGE: Final = (
    *MESSAGE_KEYS,
    *("refusal", "reasoning", "reasoning_content", "annotations", "audio", "function_call"),
)
"""Keys that servers of chat completions write, beside those of rollouts."""
_CALL: Final = ((*CHAT_CALL_KEYS, *CHAT_FUNCTION_KEYS), CHAT_FUNCTION_KEYS)


def path_fault(
    field: WalkedField, root: str, *, item_schema: dict[str, Any]
) -> InvalidRequest | None:
    """Returns the error for the first path of a template that leads nowhere in every item."""
    for placeholder in placeholders(field.value) if field.kind is FieldKind.TEMPLATE else ():
        fault = _fault(placeholder, item_schema)
        if fault is not None:
            message = f"'{{{{{placeholder.text[:80]}}}}}' {fault}"
            return refused_value(parameter(root, field.path), message)
    return None


def _fault(placeholder: Placeholder, item_schema: dict[str, Any]) -> str | None:
    key = str(placeholder.steps[0]) if placeholder.steps else None
    if key is None:
        return None
    if placeholder.namespace == "sample":
        near = None if key in GIVEN_KEYS else near_key(key[:80])
        if near is not None:
            return f"names no part of a sample: did you mean 'sample.{near}'?"
        rest = placeholder.steps[1:]
        return shape_fault(key, rest) or _misspelt_below(key, rest)
    properties = item_schema.get("properties") or {}
    if item_schema.get("additionalProperties") is not False or key in properties:
        return None
    if item_schema.get("patternProperties"):
        return None
    shown = ", ".join(f"'{name[:64]}'" for name in list(properties)[:20])
    return f"is in no item: 'item_schema' has {shown or 'no properties'} and nothing else"


def _misspelt_below(key: str, rest: Sequence[str | int]) -> str | None:
    """Returns the fault of the first key in an entry of a list that is similar to a known one."""
    for step, known in _named(key, rest):
        if isinstance(step, int) or step in known:
            continue
        near = get_close_matches(step[:80], known, n=1, cutoff=_SIMILARITY)
        if near:
            return f"names no part of an entry of 'sample.{key}': did you mean '{near[0]}'?"
    return None


def _named(key: str, rest: Sequence[str | int]) -> Iterator[tuple[str | int, tuple[str, ...]]]:
    """Yields the steps below an entry of a list, each with the known keys at its place."""
    if key == "choices":
        yield from zip(rest[1:3], (_CHOICE, _MESSAGE), strict=False)
        if rest[1:3] == ("message", "tool_calls"):
            yield from zip(rest[4:], _CALL, strict=False)
    elif key == "output_tools":
        yield from zip(rest[1:], _CALL, strict=False)
    elif key in ENTRY_KEYS:
        yield from zip(rest[1:2], (ENTRY_KEYS[key],), strict=False)
