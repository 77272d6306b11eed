"""The effects of `reasoning_effort`, and the faults of `response_format`. Pure.

The hosted API documents only the names of the levels. The chat template gets them as
`template_variables`, in rollouts and later calls of the tuned model. `low` halves the tokens of a
turn and the `auto` token budget, so that a token costs twice as much; `high` doubles the budget.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from app.kit.errors import InvalidRequest, refused_value
from app.kit.fields import Path, parameter
from app.kit.json_schemas import schema_fault
from app.models.models import BaseModelSpec

ReasoningEffort = Literal["default", "low", "medium", "high"]
CalledEffort = Literal["default", "none", "minimal", "low", "medium", "high", "xhigh", "max"]
CALLED_EFFORTS: Final = get_args(CalledEffort)
"""Levels that a call of a model may name: the hosted ones, and `default` for the model's own."""
_UNTHINKING: Final = frozenset({"none", "minimal", "low"})
_THINKING: Final = frozenset({"high", "xhigh", "max"})


@dataclass(frozen=True, slots=True)
class _EffortShares:
    turn: float
    budget: float


_SHARES: Final[dict[ReasoningEffort, _EffortShares]] = {
    "default": _EffortShares(1.0, 1.0),
    "low": _EffortShares(0.5, 0.5),
    "medium": _EffortShares(1.0, 1.0),
    "high": _EffortShares(1.0, 2.0),
}


def turn_tokens(base_model: BaseModelSpec, effort: ReasoningEffort) -> int:
    return max(1, round(base_model.max_turn_tokens * _SHARES[effort].turn))


def token_budget(base_model: BaseModelSpec, effort: ReasoningEffort) -> int:
    return max(1, round(base_model.max_turn_tokens * _SHARES[effort].budget))


def named_effort(effort: str | None) -> str | None:
    return None if effort == "default" else effort


def with_trained_effort(body: dict[str, Any], effort: str | None) -> dict[str, Any]:
    if effort is None or body.get("reasoning_effort") is not None:
        return body
    return {**body, "reasoning_effort": effort}


def template_variables(effort: str | None) -> dict[str, Any]:
    """Returns the level, and the switch of templates that only turn thinking on or off."""
    if effort is None or effort == "default":
        return {}
    if effort in _UNTHINKING | _THINKING:
        return {"reasoning_effort": effort, "enable_thinking": effort in _THINKING}
    return {"reasoning_effort": effort}


_TYPES: Final = ("text", "json_object", "json_schema")
_KEYS: Final = ("name", "description", "schema", "strict")
_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_SCHEMA_WORDS: Final = frozenset({"properties", "$schema", "$ref", "anyOf", "oneOf", "allOf"})
_SCHEMA_TYPES: Final = frozenset(
    {"object", "array", "string", "number", "integer", "boolean", "null"}
)
_WRAPPED: Final = '{"type": "json_schema", "json_schema": {"name": "…", "schema": {…}}}'
Fault = tuple[Path, str]
NOT_ENFORCED: Final = (
    "'response_format' is not enforced: no engine holds the model to it, so an answer may have any "
    "form. 'sample.output_json' is there for an answer that is a JSON object or list"
)


def gives_json(sent: Any) -> bool:
    """Returns whether the format requests JSON, so that a grader may read `sample.output_json`."""
    return isinstance(sent, dict) and sent.get("type") in ("json_object", "json_schema")


def answer_schema(sent: Any) -> dict[str, Any] | None:
    """Returns an empty schema if any JSON is requested, `None` for text or an invalid format."""
    if not gives_json(sent):
        return None
    inner = sent.get("json_schema")
    schema = inner.get("schema") if isinstance(inner, dict) else None
    return schema if isinstance(schema, dict) else {}


def response_format_fault(sent: Any, root: str) -> InvalidRequest | None:
    """Returns `None` also for one that is no object: the method's parser refuses it."""
    found = _fault(sent) if isinstance(sent, dict) else None
    if found is None:
        return None
    path, message = found
    return refused_value(parameter(root, path), message)


def _fault(sent: dict[str, Any]) -> Fault | None:
    kind = sent.get("type")
    if kind in ("text", "json_object"):
        return _unknown_fault(sent, ("type",), ())
    if kind == "json_schema":
        return _json_schema_fault(sent)
    if (isinstance(kind, str) and kind in _SCHEMA_TYPES) or (
        kind is None and _SCHEMA_WORDS & sent.keys()
    ):
        return (), f"this is a bare JSON schema; send it as {_WRAPPED}"
    if kind is None and isinstance(sent.get("format"), dict):
        return (), f"this is the form of the Responses API; send {_WRAPPED}"
    return ("type",), f"it must be one of {', '.join(_TYPES)}"


def _json_schema_fault(sent: dict[str, Any]) -> Fault | None:
    inner = sent.get("json_schema")
    if inner is None and "schema" in sent:
        return (), f"this is the form of the Responses API; send {_WRAPPED}"
    if not isinstance(inner, dict):
        return ("json_schema",), "an object with 'name' and 'schema' is required"
    name, strict = inner.get("name"), inner.get("strict")
    if not isinstance(name, str) or _NAME.fullmatch(name) is None:
        rule = "a text of 1 to 64 letters, digits, '_' and '-' is required"
        return ("json_schema", "name"), rule
    if strict is not None and not isinstance(strict, bool):
        return ("json_schema", "strict"), "it must be true, false or null"
    description = inner.get("description")
    if description is not None and not isinstance(description, str):
        return ("json_schema", "description"), "it must be a text"
    return (
        _unknown_fault(sent, ("type", "json_schema"), ())
        or _unknown_fault(inner, _KEYS, ("json_schema",))
        or _schema_fault(inner.get("schema"))
    )


def _unknown_fault(sent: dict[str, Any], known: Sequence[str], path: Path) -> Fault | None:
    unknown = next((key for key in sent if key not in known), None)
    return (
        None
        if unknown is None
        else ((*path, unknown), f"nothing reads it here, only {', '.join(known)}")
    )


def _schema_fault(schema: Any) -> Fault | None:
    root = ("json_schema", "schema")
    if not isinstance(schema, dict):
        return root, "a JSON schema is required"
    found = schema_fault(schema)
    if found is None:
        return None
    path, reason = found
    return (*root, *path), f"it is not a JSON schema ({reason})"
