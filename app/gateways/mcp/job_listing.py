"""Lists one server of a job, and chooses the tools that the job offers."""

import asyncio
from dataclasses import dataclass, replace

from app.domain.secrets.echoes import Echoes
from app.domain.tools.mcp_listings import (
    CUT,
    SERVERS,
    ListedTool,
    ListingFault,
    resource_faults,
    select_allowed_tools,
)
from app.domain.tools.mcp_resources import reading_tool
from app.domain.tools.mcp_servers import (
    MAX_TOOL_NAME,
    McpListing,
    McpResource,
    McpServerSpec,
    McpTool,
)
from app.domain.tools.trials import new_trace_id
from app.gateways.endpoints.calls import EndpointFault
from app.gateways.endpoints.pool import EndpointPool
from app.gateways.endpoints.signing import CallSigner
from app.gateways.mcp.listing import ServerTools, list_tools
from app.gateways.mcp.servers import called_server

UNAVAILABLE = "mcp_server_unavailable"


@dataclass(frozen=True, slots=True)
class JobListing:
    """A server's tools as a job has them, or the reasons for none."""

    listing: McpListing | None
    faults: list[ListingFault]
    offered: tuple[ListedTool, ...] = ()
    """All tools that the server lists."""
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
    """Lists the tools of a job's server at a position, all pages within a deadline. `at` is its
    parameter outside a job.
    """
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
    """Returns what the job keeps of a listing, on a thread: a listing may be long."""
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
    """Returns a tool without credentials in its texts that the server repeats: the texts are stored
    in the job, shown, and read by the model.
    """
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
