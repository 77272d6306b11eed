"""Clients of MCP servers in tests: an egress that may dial them, their listing, their tools."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from app.kit.egress import EgressPolicy
from app.kit.egress_client import EgressClient
from app.kit.endpoints import CallSigner
from app.tools.mcp_discovery import JobListing, list_job_tools
from app.tools.mcp_servers import McpServerSpec
from tests.support.endpoints import EndpointServer
from tests.support.mcp.mcp_server import McpServerUnderTest
from tests.support.patience import PATIENCE_S
from tests.support.rollout.rollouts import SECRET_KEY, pool
from workers.environments.tool_environment import McpTools

SIGNER = CallSigner(SECRET_KEY, project_id="proj_a")


def spec(url: str, **extra: Any) -> McpServerSpec:
    return McpServerSpec.model_validate({"server_label": "records", "server_url": url, **extra})


@asynccontextmanager
async def egress_to(*servers: McpServerUnderTest | EndpointServer) -> AsyncIterator[EgressClient]:
    allowed = frozenset(server.host_port for server in servers)
    egress = EgressClient(EgressPolicy(allowed, allow_plain_http=True))
    try:
        yield egress
    finally:
        await egress.aclose()


async def listing_of(
    egress: EgressClient, server: McpServerSpec, *, within_s: float = PATIENCE_S
) -> JobListing:
    return await list_job_tools(server, 0, pool(egress), SIGNER, within_s=within_s)


async def frozen(egress: EgressClient, server: McpServerSpec) -> McpServerSpec:
    """Returns the entry as a job has it after its first run."""
    found = await listing_of(egress, server)
    assert found.listing is not None, found.faults
    return server.model_copy(update={"listing": found.listing})


async def tools_of(egress: EgressClient, server: McpServerSpec, **options: Any) -> McpTools:
    return McpTools(pool(egress, **options), SIGNER, [await frozen(egress, server)])
