"""Resources of MCP servers as a job offers them: one more tool, which reads those that were listed.

Owns the name, the words and the schema of that tool. Promises: a job's rollouts can read what was
listed when it began, and addresses that fit a listed template, and nothing else. Pure. Must not
know how a resource is read.
"""

import json
import re
from collections.abc import Sequence
from typing import Any, Final

from app.domain.tools.mcp_servers import McpResource, McpTool

MAX_RESOURCES: Final = 200
"""Resources and templates of a server: each is named in every prompt."""
URI: Final = "uri"
_MAX_URI: Final = 2_048
_EXPRESSION: Final = re.compile(r"\{([^{}]*)\}")
_OPTIONAL: Final = frozenset("+#./;?&")
"""Operators of expressions (RFC 6570) that may become no character."""
_PREFIX: Final = "read_"
_MAX_NAME: Final = 64
"""Characters of a name that a model can call."""


def reading_tool_name(server_label: str) -> str:
    return f"{_PREFIX}{server_label}"[:_MAX_NAME]


def reading_tool(server_label: str, resources: Sequence[McpResource]) -> McpTool:
    """Returns the tool that reads a server's resources, each with its description."""
    lines = [_first_line(server_label)]
    lines += [f"- {resource.uri}: {_described(resource)}" for resource in resources]
    uri: dict[str, Any] = {"type": "string"}
    if any(resource.template for resource in resources):
        uri["description"] = "An address above, with a value in place of each {expression}."
    else:
        uri["enum"] = [resource.uri for resource in resources]
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


def listed_resource(uri: Any, resources: Sequence[McpResource]) -> McpResource | None:
    """Returns the resource with an address, or else the first template that it fits."""
    if not isinstance(uri, str) or len(uri) > _MAX_URI:
        return None
    exact = (each for each in resources if not each.template and each.uri == uri)
    fitting = (each for each in resources if each.template and _fits(uri, each.uri))
    return next(exact, None) or next(fitting, None)


def unread_uri(arguments: dict[str, Any], resources: Sequence[McpResource]) -> str:
    """Returns the text for a model that asks for a resource which was not listed."""
    listed = ", ".join(resource.uri for resource in resources)
    uri = str(arguments.get(URI))
    return f"Error: there is no resource {uri!r:.200}. Resources: {listed}."


def _fits(uri: str, template: str) -> bool:
    """Returns whether an address has the fixed parts of a template in their order, and a value for
    each expression that needs one. The time is linear, whatever server and model write.
    """
    parts = _EXPRESSION.split(template)
    fixed, expressions = parts[::2], parts[1::2]
    if not expressions:
        return uri == template
    if not uri.startswith(fixed[0]):
        return False
    at = len(fixed[0])
    for text, expression in zip(fixed[1:-1], expressions[:-1], strict=True):
        found = uri.find(text, at + _least(expression))
        if found < 0:
            return False
        at = found + len(text)
    return uri.endswith(fixed[-1]) and len(uri) - len(fixed[-1]) >= at + _least(expressions[-1])


def _least(expression: str) -> int:
    """Returns the smallest number of characters that an expression becomes."""
    return 0 if expression[:1] in _OPTIONAL else 1
