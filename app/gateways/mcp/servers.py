"""Converts the entry of a job's MCP server to one that can be called."""

from app.domain.tools.mcp_resources import reading_tool_name
from app.domain.tools.mcp_servers import McpServerSpec
from app.gateways.endpoints.pool import EndpointPool
from app.gateways.endpoints.signing import CallSigner
from app.gateways.mcp.transport import McpServer


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
