"""Tools of customers' MCP servers.

A rollout whose answers are all replayed opens no session. Outcomes have the same form as those of
HTTP tools.
"""

from collections.abc import Sequence
from typing import Any

from app.files.datasets import DatasetRow
from app.kit.endpoint_pool import EndpointPool
from app.kit.endpoints import CallSigner, EndpointFault, FaultKind
from app.kit.ids import SampleKey
from app.tools.mcp_discovery import called_server, still_lists
from app.tools.mcp_servers import McpServerSpec
from app.tools.mcp_session import McpCall, McpSession
from app.tools.mcp_transport import denies_the_tool
from app.tools.tools import ToolOutcome
from workers.environments.tools import journalled_outcome
from workers.journal import Journal
from workers.rollout.environment import CallPosition


class McpTools:
    def __init__(
        self, endpoints: EndpointPool, signer: CallSigner, servers: Sequence[McpServerSpec]
    ) -> None:
        self.servers = tuple(servers)
        listed = [(server, server.listing) for server in servers]
        self._owners = {
            tool.name: server.server_label
            for server, listing in listed
            if listing is not None
            for tool in listing.tools
        }
        self._servers = {
            server.server_label: (called_server(server, endpoints, signer), listing)
            for server, listing in listed
            if listing is not None
        }
        self._sessions: dict[SampleKey, dict[str, McpSession]] = {}

    def offered(self, row: DatasetRow) -> list[dict[str, Any]]:
        """Returns the row's tool schemas that the job's servers listed."""
        return [tool for tool in row.tools if tool["function"]["name"] in self._owners]

    async def call(
        self, position: CallPosition, name: str, arguments: str, *, journal: Journal
    ) -> ToolOutcome:
        call = McpCall(name, arguments, position.call_id)

        async def ask() -> ToolOutcome:
            return await self._call(self._session(position.key, self._owners[name]), call)

        return await journalled_outcome(journal, call.call_id, call.encode(), ask, tool=name)

    async def _call(self, session: McpSession, call: McpCall) -> ToolOutcome:
        """Calls a tool. A missing tool is a fault of the server, not of the model, to which it was
        offered; only the listing distinguishes it from other errors.
        """
        outcome = await session.call(call)
        if denies_the_tool(call.name, outcome) and not await still_lists(session, call.name):
            raise EndpointFault(
                FaultKind.ERROR, "no longer has this tool, which it listed when the job began"
            )
        return outcome

    async def release(self, key: SampleKey) -> None:
        for session in self._sessions.pop(key, {}).values():
            await session.close()

    def _session(self, key: SampleKey, label: str) -> McpSession:
        """Returns the rollout's session with a server; the first call opens it."""
        sessions = self._sessions.setdefault(key, {})
        if label not in sessions:
            server, listing = self._servers[label]
            sessions[label] = McpSession(
                server, trace_id=key.trace_id, protocol_version=listing.protocol_version
            )
        return sessions[label]
