"""Requests to a judge model and its replies, in Chat Completions form.

Owns the parser of a reply: text, refusal, token counts, and whether the text was cut off. Must not
know the server that sent it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from app.domain.http.reported_tokens import reported_tokens
from app.domain.http.status import is_client_error, is_success
from app.gateways.egress.egress import EgressReply
from app.gateways.endpoints.calls import EndpointFault, FaultKind

_WHOLE: Final = frozenset(
    {
        *("stop", "stop_sequence", "stop_token", "eos", "eos_token", "end_turn"),
        *("complete", "completed", "done", "function_call", "tool_calls"),
    }
)
"""The finish reasons of a text that its model has ended."""
_STRUCTURED_OUTPUT_WORDS: Final = ("response_format", "json_schema", "structured_output")


@dataclass(frozen=True, slots=True)
class JudgeQuestion:
    model: str
    messages: list[dict[str, Any]]
    response_format: dict[str, Any] | None
    """The format that a server enforces; `None` leaves every word to the judge."""
    call_id: str
    trace_id: str
    sampling: dict[str, Any] = field(default_factory=dict)
    """Chat Completions settings, e.g. `temperature`."""
    base_url: str | None = None
    """The customer's own server, called with `headers`; `None` routes by the model's name."""
    headers: dict[str, str] = field(default_factory=dict)
    drops_format_at_any_refusal: bool = False
    """True if the question is sent again without its format after any 4xx, not only after one that
    names the format.
    """

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
    is_cut_off: bool = False
    """True for a text that its server ended, such as at a limit of tokens, perhaps before the
    verdict.
    """


class JudgeFault(Exception):
    """A call without an answer. The message is safe for the customer."""

    def __init__(self, kind: FaultKind, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


class StructuredOutputUnsupported(Exception):
    """The server does not support structured output; a request without it may succeed."""


_TEXT_PARTS: Final = ("text", "output_text")


def refuses_structure(question: JudgeQuestion, error: Mapping[str, Any]) -> bool:
    """Returns whether an error object says that a format is not supported. In its message, where a
    server may repeat the question, words that the question has too are no sign.
    """
    fields = f"{error.get('param')} {error.get('code')}".lower()
    message = error.get("message")
    said = _joined(message) if isinstance(message, str) else ""
    found = [word for word in _STRUCTURED_OUTPUT_WORDS if word in said]
    asked = _joined(json.dumps(question.messages)) if found else ""
    named = any(word in fields for word in _STRUCTURED_OUTPUT_WORDS)
    return named or any(word not in asked for word in found)


def _joined(text: str) -> str:
    return text.lower().replace(" ", "_")


def error_in(body: bytes) -> Mapping[str, Any]:
    """Returns the error object of a refusal. Some servers send it without the key `error`; some
    send a text there or at `detail`, or a list of faults of fields.
    """
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    if isinstance(content, list) and len(content) == 1:
        (content,) = content
    if not isinstance(content, dict):
        return {}
    error = content.get("error") or content.get("detail") or content
    if isinstance(error, list):
        # Not `input`, which may be the whole request.
        shown = ("loc", "msg", "message")
        error = " ".join(
            " ".join(str(fault.get(name)) for name in shown)
            if isinstance(fault, dict)
            else str(fault)
            for fault in error
        )
    if isinstance(error, str):
        return {"message": error}
    return error if isinstance(error, dict) else {}


def read_completion(content: Any, *, latency_s: float) -> JudgeReply:
    """Parses a chat completion. Raises `EndpointFault` if `content` is not one."""
    try:
        choice = content["choices"][0]
        message = choice["message"]
        text, refusal = message.get("content"), message.get("refusal")
    except (LookupError, TypeError, AttributeError):
        raise EndpointFault(
            FaultKind.BAD_REPLY, "the judge's reply is not a chat completion"
        ) from None
    usage = content.get("usage")
    details = usage.get("prompt_tokens_details") if isinstance(usage, dict) else None
    return JudgeReply(
        text=_text_of(text),
        refusal=refusal if isinstance(refusal, str) and refusal else None,
        prompt_tokens=reported_tokens(usage, "prompt_tokens"),
        completion_tokens=reported_tokens(usage, "completion_tokens"),
        cached_tokens=reported_tokens(details, "cached_tokens"),
        latency_s=latency_s,
        is_cut_off=_is_cut_off(choice.get("finish_reason")),
    )


def _is_cut_off(reason: Any) -> bool:
    """Returns whether a server ended a text: at a limit, by a filter, or as it stopped."""
    return isinstance(reason, str) and bool(reason) and reason.lower() not in _WHOLE


def _text_of(content: Any) -> str:
    """Returns the text of a message, whose content may be a list of parts; reasoning is none."""
    if not isinstance(content, list):
        return content if isinstance(content, str) else ""
    parts = (part for part in content if isinstance(part, dict))
    texts = (part.get("text") for part in parts if part.get("type", "text") in _TEXT_PARTS)
    return "".join(text for text in texts if isinstance(text, str))


def read_reply(reply: EgressReply) -> JudgeReply | EgressReply:
    """Returns the answer, or the reply itself for a 4xx, which a retry would not change. Raises
    `EndpointFault`.
    """
    if is_client_error(reply.status):
        return reply
    if not is_success(reply.status):
        raise EndpointFault(FaultKind.BAD_REPLY, f"answered {reply.status}", status=reply.status)
    try:
        content = json.loads(reply.body)
    except (ValueError, RecursionError):
        content = None
    return read_completion(content, latency_s=reply.latency_s)
