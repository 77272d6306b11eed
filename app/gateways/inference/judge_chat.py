"""Requests to a judge model and its replies, in Chat Completions form.

Owns reading a reply: its text, a refusal, tokens used. Must not know which server it came from.
"""

import json
from dataclasses import dataclass, field
from typing import Any, Final

from app.domain.http_status import is_client_error, is_success
from app.gateways.egress.egress import EgressReply
from app.gateways.endpoints.pool import EndpointFault, FaultKind

_STRUCTURED_OUTPUT_WORDS: Final = ("response_format", "json_schema", "structured output")


@dataclass(frozen=True, slots=True)
class JudgeQuestion:
    model: str
    messages: list[dict[str, Any]]
    response_format: dict[str, Any]
    call_id: str
    trace_id: str
    sampling: dict[str, Any] = field(default_factory=dict)
    """Chat Completions settings, e.g. `temperature`."""
    base_url: str | None = None
    """The customer's own server, with `headers`; else the model's name decides."""
    headers: dict[str, str] = field(default_factory=dict)

    def body(self, model: str, *, structured: bool) -> dict[str, Any]:
        body = {**self.sampling, "model": model, "messages": self.messages}
        return {**body, "response_format": self.response_format} if structured else body


@dataclass(frozen=True, slots=True)
class JudgeReply:
    text: str
    refusal: str | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    latency_s: float = 0.0


class JudgeFault(Exception):
    """No answer. `kind` as in `FaultKind`; the text is safe for the customer."""

    def __init__(self, kind: FaultKind, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


class Unstructured(Exception):
    """The server knows no structured output; it may be asked in words alone."""


def refuses_structure(message: str) -> bool:
    lower = message.lower()
    return any(word in lower for word in _STRUCTURED_OUTPUT_WORDS)


def read_completion(content: Any, *, latency_s: float) -> JudgeReply:
    """Raises `EndpointFault` for what is no chat completion."""
    try:
        message = content["choices"][0]["message"]
        text, refusal = message.get("content"), message.get("refusal")
    except (LookupError, TypeError, AttributeError):
        raise EndpointFault(
            FaultKind.BAD_REPLY, "the judge's reply is no chat completion"
        ) from None
    usage = content.get("usage")
    details = usage.get("prompt_tokens_details") if isinstance(usage, dict) else None
    return JudgeReply(
        text=text if isinstance(text, str) else "",
        refusal=refusal if isinstance(refusal, str) and refusal else None,
        prompt_tokens=_count(usage, "prompt_tokens"),
        completion_tokens=_count(usage, "completion_tokens"),
        cached_tokens=_count(details, "cached_tokens"),
        latency_s=latency_s,
    )


def _count(holder: Any, key: str) -> int:
    value = holder.get(key) if isinstance(holder, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def read_reply(reply: EgressReply) -> JudgeReply | EgressReply:
    """An answer, or a 4xx that no repetition would change. Raises `EndpointFault`."""
    if is_client_error(reply.status):
        return reply
    if not is_success(reply.status):
        raise EndpointFault(FaultKind.BAD_REPLY, f"answered {reply.status}", status=reply.status)
    try:
        content = json.loads(reply.body)
    except (ValueError, RecursionError):
        content = None
    return read_completion(content, latency_s=reply.latency_s)
