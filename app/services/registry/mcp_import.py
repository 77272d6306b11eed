"""Saves the tools that an MCP server lists as registered tools, which jobs name by id.

Owns the order: the server is listed first, and all of its tools are registered or none. Must not
know how a tool is called.
"""

from app.domain.registry.registered_objects import RegisteredVersion
from app.domain.tools.mcp_servers import McpServerSpec
from app.domain.tools.served_tools import served_tools
from app.services.registry.contracts.mcp_contract import McpContractService
from app.services.registry.tools import ToolService


class McpImportService:
    def __init__(self, servers: McpContractService, tools: ToolService) -> None:
        self._servers = servers
        self._tools = tools

    async def save(
        self, server: McpServerSpec, *, metadata: dict[str, str] | None
    ) -> list[RegisteredVersion]:
        """Raises `InvalidRequest` for a server that cannot be listed, for tools that a job could
        not offer, and for a name that another tool has.
        """
        listing = await self._servers.listing(server)
        return await self._tools.create_all(served_tools(server, listing), metadata=metadata)
