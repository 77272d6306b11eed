"""Lists the tools of an MCP server, page after page.

Owns the limits of a listing and its form: names, descriptions and schemas as a job keeps them.
Promises: names are short, whatever a server lists. Must not know which of the tools a job offers.
"""

import json
from dataclasses import dataclass
from typing import Any, Final

from mcp.shared.exceptions import MCPError
from mcp_types import ListToolsRequest, ListToolsResult, PaginatedRequestParams, Tool

from app.domain.texts.storable_text import storable
from app.domain.tools.mcp_listings import CUT, ListedTool, shown_name
from app.domain.tools.mcp_servers import MAX_TOOL_NAME, McpTool
from app.gateways.endpoints.calls import EndpointFault, FaultKind
from app.gateways.mcp.session import McpSession
from app.gateways.mcp.transport import McpServer

MAX_PAGES: Final = 50
MAX_LISTED: Final = 1_000
MAX_CHARACTERS: Final = 2_000_000
"""Limit of stored characters of all pages: four times the limit of a job."""


@dataclass(frozen=True, slots=True)
class ServerTools:
    """Everything that a server offers."""

    protocol_version: str
    tools: tuple[ListedTool, ...]
    keeps_session: bool
    """True if the server gave the session an id, so that it may have state for each session."""


async def list_tools(server: McpServer, *, trace_id: str) -> ServerTools:
    """Returns the tools in the server's order. Raises `EndpointFault`."""
    session = McpSession(server, trace_id=trace_id)
    try:
        client = await session.client()
        tools = await _pages(session)
        return ServerTools(client.protocol_version, tools, session.transport.has_session)
    finally:
        await session.close()


async def still_lists(session: McpSession, name: str) -> bool:
    """Returns whether the server of an open session currently lists a tool. Raises
    `EndpointFault`.
    """
    return any(listed.tool.name == name for listed in await _pages(session))


async def _pages(session: McpSession) -> tuple[ListedTool, ...]:
    found: dict[str, ListedTool] = {}
    cursor: str | None = None
    seen: set[str] = set()
    characters = 0
    for _ in range(MAX_PAGES):
        page = await _page(session, cursor)
        for tool in page.tools:
            listed = _listed(tool)
            # The whole name: two that are cut may begin alike.
            if found.setdefault(tool.name, listed) is not listed:
                raise _fault(f"lists the tool '{shown_name(tool.name)}' twice")
            characters += len(tool.name) + listed.tool.characters
            if len(found) > MAX_LISTED:
                raise _fault(f"lists more than {MAX_LISTED} tools")
        cursor = page.next_cursor
        characters += len(cursor or "")
        if characters > MAX_CHARACTERS:
            raise _fault(f"lists its tools in more than {MAX_CHARACTERS} characters")
        if cursor is None:
            return tuple(found.values())
        if cursor in seen:
            raise _fault("lists a page of tools twice")
        seen.add(cursor)
    raise _fault(f"lists its tools on more than {MAX_PAGES} pages")


async def _page(session: McpSession, cursor: str | None) -> ListToolsResult:
    client = await session.client()
    request = ListToolsRequest(params=PaginatedRequestParams(cursor=cursor))
    try:
        return await session.ask(client.session.send_request(request, ListToolsResult))
    except MCPError as error:
        raise session.fault_of(error) from None


def _listed(tool: Tool) -> ListedTool:
    schema = json.dumps(_storable(tool.input_schema), ensure_ascii=False)
    description = None if tool.description is None else storable(tool.description)
    hints = tool.annotations
    read_only = hints is not None and hints.read_only_hint is True
    # Nobody can choose a name that is cut: it is longer than 'allowed_tools' takes.
    name = storable(tool.name)
    if len(name) > MAX_TOOL_NAME:
        name = name[:MAX_TOOL_NAME] + CUT
    return ListedTool(
        McpTool(name=name, description=description, input_schema_json=schema), read_only
    )


def _storable(value: Any) -> Any:
    match value:
        case str():
            return storable(value)
        case dict():
            return {storable(key): _storable(inner) for key, inner in value.items()}
        case list():
            return [_storable(inner) for inner in value]
        case _:
            return value


def _fault(message: str) -> EndpointFault:
    return EndpointFault(FaultKind.BAD_REPLY, message)
