"""Lists the tools and resources of MCP servers, for jobs and tests."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from mcp.shared.exceptions import MCPError
from mcp_types import (
    METHOD_NOT_FOUND,
    ListResourcesRequest,
    ListResourcesResult,
    ListResourceTemplatesRequest,
    ListResourceTemplatesResult,
    ListToolsRequest,
    ListToolsResult,
    PaginatedRequestParams,
    Result,
)

from app.kit.endpoint_pool import EndpointPool
from app.kit.endpoints import CallSigner, EndpointFault
from app.kit.json_schemas import without_nulls
from app.kit.redaction import Echoes
from app.kit.replies import json_kind
from app.kit.texts import storable
from app.tools.mcp_listings import (
    CUT,
    SERVERS,
    ListedTool,
    ListingFault,
    resource_faults,
    select_allowed_tools,
)
from app.tools.mcp_results import own_result, part, result_fault
from app.tools.mcp_servers import (
    MAX_RESOURCES,
    MAX_TOOL_NAME,
    URI,
    McpListing,
    McpResource,
    McpServerSpec,
    McpTool,
    reading_tool,
    reading_tool_name,
)
from app.tools.mcp_session import McpSession
from app.tools.mcp_transport import McpServer
from app.tools.tools import new_trace_id


def called_server(server: McpServerSpec, endpoints: EndpointPool, signer: CallSigner) -> McpServer:
    """Returns the server to call. Tools, graders and MCP servers of one URL share its limits."""
    listing = server.listing
    tools = () if listing is None else listing.tools
    return McpServer(
        url=server.server_url,
        headers=server.sent_headers,
        endpoint=endpoints.endpoint(server.server_url, rate_limit=server.rate_limit),
        egress=endpoints.egress,
        signer=signer,
        schemas={tool.name: tool.input_schema for tool in tools},
        resources=() if listing is None else listing.resources,
        reading_tool=reading_tool_name(server.server_label) if server.resources else None,
    )


_Page = tuple[int, str | None]
"""Number of characters of a page, and the cursor of the next one."""
MAX_PAGES: Final = 50
MAX_LISTED: Final = 1_000
_TEMPLATE: Final = "uriTemplate"
_NO_PARAMETERS: Final = {"type": "object", "properties": {}}
MAX_CHARACTERS: Final = 2_000_000


@dataclass(frozen=True, slots=True)
class ServerTools:
    protocol_version: str
    tools: tuple[ListedTool, ...]
    resources: tuple[McpResource, ...]
    keeps_session: bool
    """True if the server gave the session an id, so that it may have state for each session."""


async def list_tools(
    server: McpServer, *, trace_id: str, with_resources: bool = False
) -> ServerTools:
    session = McpSession(server, trace_id=trace_id)
    try:
        client = await session.client()
        tools = await _pages(session)
        resources = await _resources(session) if with_resources else ()
        version, keeps = client.protocol_version, session.transport.has_session
        return ServerTools(version, tools, resources, keeps)
    finally:
        await session.close()


async def still_lists(session: McpSession, name: str) -> bool:
    return any(listed.tool.name == name for listed in await _pages(session))


async def _pages(session: McpSession) -> tuple[ListedTool, ...]:
    found: dict[str, ListedTool] = {}

    async def page(cursor: str | None) -> _Page:
        client = await session.client()
        request = ListToolsRequest(params=PaginatedRequestParams(cursor=cursor))
        try:
            result = await session.ask(client.session.send_request(request, ListToolsResult))
        except MCPError as error:
            raise session.fault_of(error) from None
        listing, characters = own_result(result), 0
        for sent in part(listing, "tools", list) or []:
            name, listed = _listed(sent, len(found) + 1)
            # The whole name: two that are cut may begin alike.
            if name in found:
                listed = replace(found[name], fault="it is listed twice")
            found[name] = listed
            characters += len(name) + listed.tool.characters
            if len(found) > MAX_LISTED:
                raise result_fault(f"lists more than {MAX_LISTED} tools")
        return characters, _next_page(listing)

    await _to_the_last(page, "tools")
    return tuple(found.values())


async def _resources(session: McpSession) -> tuple[McpResource, ...]:
    found: dict[tuple[str, bool], McpResource] = {}

    def kept(listing: dict[str, Any] | None, key: str, uri: str) -> _Page:
        characters = 0
        for sent in part(listing or {}, key, list) or []:
            listed = _listed_resource(sent, uri)
            found.setdefault((listed.uri, listed.template), listed)
            characters += len(listed.model_dump_json())
            if len(found) > MAX_RESOURCES:
                raise result_fault(f"lists more than {MAX_RESOURCES} resources")
        return characters, _next_page(listing or {})

    async def page(cursor: str | None) -> _Page:
        request = ListResourcesRequest(params=PaginatedRequestParams(cursor=cursor))
        return kept(await _known(session, request, ListResourcesResult), "resources", URI)

    async def page_of_templates(cursor: str | None) -> _Page:
        request = ListResourceTemplatesRequest(params=PaginatedRequestParams(cursor=cursor))
        result = await _known(session, request, ListResourceTemplatesResult)
        return kept(result, "resourceTemplates", _TEMPLATE)

    await _to_the_last(page, "resources")
    await _to_the_last(page_of_templates, "templates of resources")
    return tuple(found.values())


async def _known(session: McpSession, request: Any, result: type[Result]) -> dict[str, Any] | None:
    client = await session.client()
    try:
        return own_result(await session.ask(client.session.send_request(request, result)))
    except MCPError as error:
        if error.code == METHOD_NOT_FOUND:
            return None
        raise session.fault_of(error) from None


async def _to_the_last(page: Callable[[str | None], Awaitable[_Page]], what: str) -> None:
    cursor: str | None = None
    seen: set[str] = set()
    total = 0
    for _ in range(MAX_PAGES):
        characters, cursor = await page(cursor)
        total += characters + len(cursor or "")
        if total > MAX_CHARACTERS:
            raise result_fault(f"lists its {what} in more than {MAX_CHARACTERS} characters")
        if cursor is None:
            return
        if cursor in seen:
            raise result_fault(f"lists a page of {what} twice")
        seen.add(cursor)
    raise result_fault(f"lists its {what} on more than {MAX_PAGES} pages")


def _next_page(listing: dict[str, Any]) -> str | None:
    return part(listing, "nextCursor", str) or None


def _listed_resource(sent: Any, key: str) -> McpResource:
    uri = sent.get(key) if isinstance(sent, dict) else None
    if not isinstance(uri, str):
        raise result_fault(f"lists a resource with {json_kind(uri)} as `{key}`, not a text")
    texts = {name: part(sent, name, str) for name in ("title", "name", "description", "mimeType")}
    shown = {name: text if text is None else storable(text) for name, text in texts.items()}
    return McpResource(
        uri=storable(uri),
        template=key == _TEMPLATE,
        name=shown["title"] or shown["name"] or storable(uri),
        description=shown["description"],
        mime_type=shown["mimeType"],
    )


def _listed(sent: Any, number: int) -> tuple[str, ListedTool]:
    """Returns the whole name and the tool; one that cannot be offered has a fault."""
    tool = sent if isinstance(sent, dict) else {}
    name, fault = tool.get("name"), None
    description, schema = None, dict[str, Any](_NO_PARAMETERS)
    try:
        if not isinstance(name, str):
            raise result_fault(f"answered with {json_kind(name)} as `name`, not a text")
        description = part(tool, "description", str)
        schema = without_nulls(part(tool, "inputSchema", dict) or schema)
        if schema.get("type", "object") != "object":
            raise result_fault("answered with an `inputSchema` whose `type` is not 'object'")
    except EndpointFault as found:
        fault = f"the server {found.message}"
    name = name if isinstance(name, str) else f"(number {number})"
    hints = tool.get("annotations")
    read_only = isinstance(hints, dict) and hints.get("readOnlyHint") is True
    listed = McpTool(
        name=storable(name),
        description=None if description is None else storable(description),
        input_schema_json=json.dumps(_storable(schema), ensure_ascii=False),
    )
    return name, ListedTool(listed, read_only, fault)


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


UNAVAILABLE = "mcp_server_unavailable"


@dataclass(frozen=True, slots=True)
class JobListing:
    listing: McpListing | None
    faults: list[ListingFault]
    offered: tuple[ListedTool, ...] = ()
    keeps_session: bool = False


async def list_job_tools(
    server: McpServerSpec,
    index: int,
    endpoints: EndpointPool,
    signer: CallSigner,
    *,
    within_s: float,
    at: str | None = None,
) -> JobListing:
    param = f"{SERVERS}[{index}]" if at is None else at
    called = called_server(server, endpoints, signer)
    echoes = await asyncio.to_thread(Echoes, server.sent_headers, server.server_url)
    try:
        async with asyncio.timeout(within_s):
            found = await list_tools(
                called, trace_id=new_trace_id(), with_resources=server.resources
            )
    except EndpointFault as fault:
        return _unavailable(server, param, echoes.hidden_in(fault.message))
    except TimeoutError:
        return _unavailable(server, param, f"it takes longer than {within_s:g} s")
    return await asyncio.to_thread(_read, server, found, echoes, param)


def _read(server: McpServerSpec, found: ServerTools, echoes: Echoes, param: str) -> JobListing:
    offered = tuple(_without(echoes, listed) for listed in found.tools)
    tools, faults = select_allowed_tools(server, offered, param)
    resources = tuple(_shown_resource(echoes, resource) for resource in found.resources)
    faults += resource_faults(server, found.resources, resources, param)
    if resources:
        tools = (*tools, reading_tool(server.server_label, resources))
    listing = McpListing(protocol_version=found.protocol_version, tools=tools, resources=resources)
    return JobListing(
        None if faults else listing, faults, offered, keeps_session=found.keeps_session
    )


def _without(echoes: Echoes, listed: ListedTool) -> ListedTool:
    tool, hidden = listed.tool, echoes.hidden_in
    # Nobody can choose a name that is cut: it is longer than 'allowed_tools' takes.
    name = hidden(tool.name)
    shown = McpTool(
        name=name if len(name) <= MAX_TOOL_NAME else name[:MAX_TOOL_NAME] + CUT,
        description=None if tool.description is None else hidden(tool.description),
        input_schema_json=echoes.hidden_in_json(tool.input_schema_json),
    )
    return replace(listed, tool=shown)


def _shown_resource(echoes: Echoes, resource: McpResource) -> McpResource:
    texts = {name: text for name, text in resource if isinstance(text, str)}
    hidden = {name: echoes.hidden_in(text) for name, text in texts.items()}
    return resource.model_copy(update=hidden)


def _unavailable(server: McpServerSpec, param: str, why: str) -> JobListing:
    message = f"The tools of the MCP server '{server.server_label}' could not be listed: {why}."
    return JobListing(None, [ListingFault(UNAVAILABLE, f"{param}.server_url", message)])
