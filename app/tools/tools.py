"""Definitions of tools, their rates, and the outcome of a call."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Final

from pydantic import BaseModel, ConfigDict, Field, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError

from app.kit.errors import InvalidRequest, refused_value
from app.kit.fields import CustomerUrl, DescribedModel, OpenKeys, SecretHeaders
from app.kit.ids import new_id
from app.kit.texts import TOOL_NAME


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    output: str
    error: str | None
    """`None`, or the model's mistake: `bad_arguments`, `unknown_tool`, `http_404`, …"""
    latency_s: float
    attempts: int
    """Requests that were sent; 0 when the call was answered without one."""


KEY: Final = "rate_limit"
_HIGHEST: Final = 1_000_000
"""Largest accepted rate: a JSON integer may have more digits than a float can represent."""
_MUST_BE: Final = "it must be a number above 0, the calls per second"


def _is_rate(sent: Any) -> bool:
    return isinstance(sent, int | float) and not isinstance(sent, bool) and sent > 0


def _rate(sent: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    if not _is_rate(sent):
        raise PydanticCustomError("rate_limit", _MUST_BE)
    return handler(float(min(sent, _HIGHEST)))


RateLimit = Annotated[float, Field(gt=0), WrapValidator(_rate)]


def sent_rate(owner: BaseModel) -> Any:
    return (owner.model_extra or {}).get(KEY)


def declared_rate(owner: BaseModel) -> float | None:
    rate = sent_rate(owner)
    return float(min(rate, _HIGHEST)) if _is_rate(rate) else None


def lowest_rate(sent: Sequence[Any]) -> Any:
    wrong = [rate for rate in sent if not _is_rate(rate)]
    return wrong[0] if wrong else min(sent)


def rate_fault(sent: Any, param: str) -> InvalidRequest | None:
    return None if sent is None or _is_rate(sent) else refused_value(param, _MUST_BE)


LABEL: Final = "server_label"


class ToolSpec(OpenKeys, DescribedModel):
    """One tool: the name that a model calls, and the endpoint that answers."""

    documented_keys: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "id": "a text",
            "version": "a number",
            "description": "a text",
            "rate_limit": "a number",
            LABEL: "a text",
        }
    )
    free_form_keys: ClassVar[frozenset[str]] = frozenset({"parameters"})
    model_config = ConfigDict(frozen=True, extra="allow", allow_inf_nan=False)

    name: str = Field(pattern=TOOL_NAME)
    """Name that the model calls; rows offer it with its schema."""
    server_url: CustomerUrl
    """Address that the calls are sent to."""
    headers: SecretHeaders | None = None
    """Headers sent with every call; stored encrypted, shown as `[redacted]`."""


def new_trace_id() -> str:
    return f"trace_{uuid.uuid4()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolTrial:
    tool: ToolSpec = field(repr=False)
    arguments: str
    item: dict[str, Any] = field(default_factory=dict)
    trace_id: str = field(default_factory=new_trace_id)
    call_id: str = field(default_factory=lambda: new_id("call_"))
    function_call_id: str = field(default_factory=lambda: new_id("fc_"))


_BY_TYPE: dict[str, Any] = {
    "string": "test",
    "integer": 1,
    "number": 1.0,
    "boolean": True,
    "array": [],
    "null": None,
}
_MAX_DEPTH = 8


def sample_arguments(schema: Any) -> dict[str, Any]:
    made = _value(schema, depth=0) if isinstance(schema, dict) else {}
    return made if isinstance(made, dict) else {}


def _value(schema: Any, *, depth: int) -> Any:
    if not isinstance(schema, dict) or depth > _MAX_DEPTH:
        return "test"
    stated = _stated(schema)
    if stated:
        return stated[0]
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((name for name in kind if name != "null"), "null")
    if kind == "object" or isinstance(schema.get("properties"), dict):
        return _object(schema, depth)
    if kind == "array" and isinstance(schema.get("minItems"), int) and schema["minItems"] > 0:
        return [_value(schema.get("items"), depth=depth + 1)]
    return _BY_TYPE.get(kind, "test") if isinstance(kind, str) else "test"


def _stated(schema: dict[str, Any]) -> list[Any]:
    named = [schema[key] for key in ("const", "default") if key in schema]
    for key in ("examples", "enum"):
        values = schema.get(key)
        named += values if isinstance(values, list) else []
    minimum = schema.get("minimum")
    return [*named, minimum] if isinstance(minimum, int | float) else named


def _object(schema: dict[str, Any], depth: int) -> dict[str, Any]:
    properties = schema.get("properties")
    properties = properties if isinstance(properties, dict) else {}
    required = schema.get("required")
    named = required if isinstance(required, list) else ()
    # Each name once: repeated ones would multiply at each of eight levels.
    once = dict.fromkeys(name for name in named if isinstance(name, str))
    return {name: _value(properties.get(name), depth=depth + 1) for name in once}
