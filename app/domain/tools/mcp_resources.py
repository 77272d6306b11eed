"""Resources of MCP servers as a job offers them: one more tool, which reads those that were listed.

Owns the name, the words and the schema of that tool. Promises: a job's rollouts can read what was
listed when it began, and nothing else. Pure. Must not know how a resource is read.
"""

import json
from collections.abc import Sequence
from typing import Any, Final

from app.domain.tools.mcp_servers import McpResource, McpTool

MAX_RESOURCES: Final = 200
"""Resources of a server: each is named in every prompt."""
URI: Final = "uri"
_PREFIX: Final = "read_"
_MAX_NAME: Final = 64
"""Characters of a name that a model can call."""


def reading_tool_name(server_label: str) -> str:
    return f"{_PREFIX}{server_label}"[:_MAX_NAME]


def reading_tool(server_label: str, resources: Sequence[McpResource]) -> McpTool:
    """Returns the tool that reads a server's resources, each with its description."""
    lines = [_first_line(server_label)]
    lines += [f"- {resource.uri}: {_described(resource)}" for resource in resources]
    uri = {"type": "string", "enum": [resource.uri for resource in resources]}
    schema = {"type": "object", "properties": {URI: uri}, "required": [URI]}
    return McpTool(
        name=reading_tool_name(server_label),
        description="\n".join(lines),
        input_schema_json=json.dumps(schema, ensure_ascii=False),
    )


def is_reading_tool(tool: McpTool, server_label: str) -> bool:
    """Returns whether a tool is the one that `reading_tool` adds, not one that the server lists."""
    described = (tool.description or "").startswith(_first_line(server_label))
    return described and tool.name == reading_tool_name(server_label)


def _first_line(server_label: str) -> str:
    return f"Reads a resource of {server_label}:"


def _described(resource: McpResource) -> str:
    kind = "" if resource.mime_type is None else f" ({resource.mime_type})"
    more = "" if resource.description is None else f", {resource.description}"
    return f"{resource.name}{kind}{more}"


def unread_uri(arguments: dict[str, Any], resources: Sequence[McpResource]) -> str | None:
    """Returns the text for a model that asks for a resource which was not listed."""
    uri = arguments.get(URI)
    if any(resource.uri == uri for resource in resources):
        return None
    listed = ", ".join(resource.uri for resource in resources)
    return f"Error: there is no resource {str(uri)!r:.200}. Resources: {listed}."
