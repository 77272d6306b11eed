"""Reads the HTTP reply of an MCP server: the JSON-RPC message in it, or the fault.

Owns the parsing of a JSON body and of a finished event stream. Promises: a reply that a retry may
improve raises `EndpointFault`, and every other one is passed to the protocol library as a JSON
message. Must not know tools or rollouts.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from app.domain.http.status import is_error, is_success
from app.domain.texts.strict_json import MAX_DEPTH, is_too_deep, strict_loads
from app.gateways.egress.egress import EgressReply
from app.gateways.endpoints.calls import EndpointFault, FaultKind

NEGOTIATION: Final = frozenset({"initialize", "server/discover"})
INTERNAL_ERROR: Final = -32603
_EVENT_STREAM: Final = "text/event-stream"
_SESSION_ID: Final = re.compile(r"[!-~]{1,1024}")
_CREDENTIALS_REFUSED: Final = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})
_WRONG_PATH: Final = frozenset(
    {
        HTTPStatus.NOT_FOUND,
        HTTPStatus.METHOD_NOT_ALLOWED,
        HTTPStatus.NOT_ACCEPTABLE,
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    }
)


@dataclass(frozen=True, slots=True)
class ServerReply:
    """A reply in the form that the protocol library reads."""

    status: int
    message: dict[str, Any] | None
    session_id: str | None
    """Session id from the header of a server with sessions."""


def read_reply(reply: EgressReply, *, request_id: Any, method: str) -> ServerReply:
    """Returns the response to a request, or only the status for a notification, whose `request_id`
    is `None`. Raises `EndpointFault`.
    """
    session_id = reply.headers.get("mcp-session-id")
    if not is_success(reply.status) and not is_error(reply.status):
        raise EndpointFault(
            FaultKind.BAD_REPLY, f"answered {reply.status}; redirects are not followed"
        )
    if session_id is not None and _SESSION_ID.fullmatch(session_id) is None:
        raise EndpointFault(
            FaultKind.BAD_REPLY,
            "answered with a session id that is not 1 to 1024 visible characters",
        )
    if request_id is None:
        return ServerReply(reply.status, None, session_id)
    message = next(
        (each for each in _messages(reply) if _answers(each, request_id, reply.status)), None
    )
    if message is None and is_success(reply.status):
        raise EndpointFault(
            FaultKind.BAD_REPLY, f"answered {reply.status} without a JSON-RPC response"
        )
    if is_too_deep(message):
        raise EndpointFault(
            FaultKind.BAD_REPLY, f"answered with JSON of more than {MAX_DEPTH} levels"
        )
    if method == "initialize" and _unknown_version(message):
        known = ", ".join(HANDSHAKE_PROTOCOL_VERSIONS)
        raise EndpointFault(
            FaultKind.BAD_REPLY, f"answered with a protocol version that is none of {known}"
        )
    if method not in NEGOTIATION and _code(message) == INTERNAL_ERROR:
        raise EndpointFault(FaultKind.ERROR, f"answered with the MCP error {INTERNAL_ERROR}")
    return ServerReply(reply.status, message, session_id)


def refusal(status: int, *, in_session: bool) -> EndpointFault:
    """Returns the fault of an error status without a message of the protocol."""
    if in_session and status == HTTPStatus.NOT_FOUND:
        reason = ": its session is over"
    elif status in _CREDENTIALS_REFUSED:
        reason = ": check 'authorization' and 'headers'"
    elif status in _WRONG_PATH:
        reason = ": check the path of 'server_url', where no MCP server answers"
    else:
        reason = ""
    fault = EndpointFault(FaultKind.ERROR, f"answered {status}{reason}", status=status)
    fault.attempts = 1
    return fault


def _unknown_version(message: dict[str, Any] | None) -> bool:
    result = None if message is None else message.get("result")
    version = result.get("protocolVersion") if isinstance(result, dict) else None
    return isinstance(version, str) and version not in HANDSHAKE_PROTOCOL_VERSIONS


def _messages(reply: EgressReply) -> Iterator[dict[str, Any]]:
    """Yields the JSON objects of a body; of an event stream, those of its events."""
    try:
        text = reply.body.decode()
    except UnicodeDecodeError:
        return
    kind = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
    for part in _events(text) if kind == _EVENT_STREAM else (text,):
        try:
            message = strict_loads(part)
        except (ValueError, RecursionError):
            continue
        if isinstance(message, dict):
            yield message


def _events(text: str) -> Iterator[str]:
    """Yields the data of each event of a stream."""
    data: list[str] = []
    for line in [*text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), ""]:
        if not line:
            if data:
                yield "\n".join(data)
            data = []
        elif line.startswith("data:"):
            data.append(line.removeprefix("data:").removeprefix(" "))


def _answers(message: dict[str, Any], request_id: Any, status: int) -> bool:
    """Returns whether a message is the response to a request. A server that refuses a request
    before it has read the id answers with the id null.
    """
    if not isinstance(message.get("result"), dict) and not isinstance(message.get("error"), dict):
        return False
    own = message.get("id")
    return own == request_id or (own is None and is_error(status) and "error" in message)


def _code(message: dict[str, Any] | None) -> Any:
    error = None if message is None else message.get("error")
    return error.get("code") if isinstance(error, dict) else None


def encode_message(message: dict[str, Any]) -> bytes:
    return json.dumps(message).encode()
