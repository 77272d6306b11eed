"""Reads results of MCP servers as far as they are used; null is absent.

The protocol's library checks every part, and one odd part would lose the others: it is handed
minimal results, those that a call asks for with the server's own one inside.
"""

import json
from collections.abc import Mapping
from typing import Any, Final, TypeVar

from mcp_types import Result

from app.kit.endpoints import EndpointFault, FaultKind
from app.kit.replies import json_kind
from app.kit.texts import excerpt, storable

_OWN: Final = "agent-rft/result"
_COMPLETE: Final = "complete"
_ANY: Final = {"resultType": _COMPLETE, "ttlMs": 0, "cacheScope": "private"}
_EMPTY: Final[Mapping[str, dict[str, Any]]] = {
    "tools/list": {"tools": []},
    "tools/call": {"content": []},
    "resources/list": {"resources": []},
    "resources/templates/list": {"resourceTemplates": []},
    "resources/read": {"contents": []},
}
_SERVER: Final = {"name": "server", "version": "0"}


def for_library(method: str, result: dict[str, Any]) -> dict[str, Any]:
    if method in _EMPTY:
        return {**_EMPTY[method], **_ANY, "_meta": {_OWN: result}}
    match method:
        case "initialize":
            version = result.get("protocolVersion")
            return {"protocolVersion": version, "capabilities": {}, "serverInfo": _SERVER}
        case "server/discover":
            versions = result.get("supportedVersions")
            return {"supportedVersions": versions, "capabilities": {}, **_ANY}
        case _:
            return result


def own_result(parsed: Result) -> dict[str, Any]:
    """Returns the server's result inside of the library's. Raises `EndpointFault`."""
    result: dict[str, Any] = (parsed.meta or {})[_OWN]
    kind = result.get("resultType")
    if kind is not None and kind != _COMPLETE:
        raise result_fault("answered with a result that is not complete")
    return result


def result_fault(message: str) -> EndpointFault:
    return EndpointFault(FaultKind.BAD_REPLY, message)


_Part = TypeVar("_Part", str, bool, list[Any], dict[str, Any])
_KINDS: Final = {str: "a text", bool: "true or false", list: "a list", dict: "an object"}


def part(sent: Mapping[str, Any], key: str, kind: type[_Part]) -> _Part | None:
    """Raises `EndpointFault`, which names the key and what is there."""
    value = sent.get(key)
    if value is None or isinstance(value, kind):
        return value
    raise result_fault(f"answered with {json_kind(value)} as `{key}`, not {_KINDS[kind]}")


REPORTED: Final = "tool_reported"
_NO_WORDS: Final = "Error: the tool failed without a message."
_ONLY_TEXT: Final = "only text can be read"
_LONGEST_KIND: Final = 64


def read_result(result: Mapping[str, Any]) -> tuple[str, str | None]:
    """Returns the text for the model, and the error's class. Raises `EndpointFault`."""
    texts = [_text_of(block) for block in part(result, "content", list) or []]
    structured = result.get("structuredContent")
    if not texts and structured is not None:
        texts = [json.dumps(structured, ensure_ascii=False)]
    output = storable("\n".join(texts))
    if not part(result, "isError", bool):
        return output, None
    return output or _NO_WORDS, REPORTED


def read_contents(result: Mapping[str, Any]) -> str:
    contents = part(result, "contents", list) or []
    return storable("\n".join(_content_text(content) for content in contents))


def _text_of(block: Any) -> str:
    """A block that is no text, of whatever kind, is one line."""
    match block:
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": "image" | "audio" as kind, "data": str(data), "mimeType": str(media)}:
            return f"[{kind} of type {media}, {_bytes(data)} bytes: {_ONLY_TEXT}]"
        case {"type": "resource_link", "uri": str(uri)}:
            return f"[resource {block.get('name') or ''}: {uri}]"
        case {"type": "resource", "resource": content}:
            return _content_text(content)
        case {"type": str(kind)}:
            return f"[{excerpt(kind, most=_LONGEST_KIND)}: {_ONLY_TEXT}]"
        case _:
            return f"[{json_kind(block)}: {_ONLY_TEXT}]"


def _content_text(content: Any) -> str:
    match content:
        case {"text": str(text)}:
            return text
        case {"uri": str(uri)}:
            return f"[resource {uri} of type {content.get('mimeType') or 'unknown'}: {_ONLY_TEXT}]"
        case _:
            return f"[resource: {_ONLY_TEXT}]"


def _bytes(base64_text: str) -> int:
    return len(base64_text.rstrip("=")) * 3 // 4
