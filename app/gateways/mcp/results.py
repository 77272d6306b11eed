"""Converts the result of an MCP tool to the text that a model reads.

Owns the descriptions of content other than text. Must not know how the result was requested.
"""

import json
from typing import Final, assert_never

from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ReadResourceResult,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from app.domain.texts.storable_text import storable
from app.domain.tools.outcome import ToolOutcome

REPORTED: Final = "tool_reported"
INVALID: Final = "invalid_params"
_READ_CHARACTERS: Final = 300
"""Number of characters of an error that are searched for an unknown tool."""
_NO_WORDS: Final = "Error: the tool failed without a message."


def read_result(result: CallToolResult) -> tuple[str, str | None]:
    """Returns the text for the model, and the class of the model's mistake or `None`.

    Structured content is used only for a result without text, because servers repeat it as text.
    """
    texts = [_text_of(block) for block in result.content]
    if not texts and result.structured_content is not None:
        texts = [json.dumps(result.structured_content, ensure_ascii=False)]
    output = storable("\n".join(texts))
    if not result.is_error:
        return output, None
    return output or _NO_WORDS, REPORTED


def read_contents(result: ReadResourceResult) -> str:
    """Returns the text of a resource, which may have several parts."""
    return storable("\n".join(map(_content_text, result.contents)))


def denies_the_tool(name: str, outcome: ToolOutcome) -> bool:
    """Returns whether an error may mean that the server no longer has the tool. There is no code
    for that: servers write `Unknown tool: name`, `Tool name not found` and similar texts.
    """
    if outcome.error not in {REPORTED, INVALID}:
        return False
    text = outcome.output[:_READ_CHARACTERS]
    return name in text and "tool" in text.replace(name, "").lower()


def _text_of(block: ContentBlock) -> str:
    match block:
        case TextContent(text=text):
            return text
        case ImageContent(data=data, mime_type=kind):
            return f"[image of type {kind}, {_bytes(data)} bytes: only text can be read]"
        case AudioContent(data=data, mime_type=kind):
            return f"[audio of type {kind}, {_bytes(data)} bytes: only text can be read]"
        case ResourceLink(uri=uri, name=name):
            return f"[resource {name}: {uri}]"
        case EmbeddedResource(resource=resource):
            return _content_text(resource)
        case _:
            assert_never(block)


def _content_text(content: TextResourceContents | BlobResourceContents) -> str:
    match content:
        case TextResourceContents(text=text):
            return text
        case BlobResourceContents():
            kind = content.mime_type or "unknown"
            return f"[resource {content.uri} of type {kind}: only text can be read]"
        case _:
            assert_never(content)


def _bytes(base64_text: str) -> int:
    """Returns the size of the data in a base64 text."""
    return len(base64_text.rstrip("=")) * 3 // 4
