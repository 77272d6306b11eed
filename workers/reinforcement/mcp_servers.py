"""Lists the tools of a job's MCP servers in its first run; every later run uses the same listing.

Owns the moment of the listing: before any rollout, and before any GPU time. A job whose servers
cannot be listed ends with the reason. Must not know how a tool is called.
"""

import asyncio
from collections.abc import Mapping
from typing import Final

from app.domain.errors import RunFailed
from app.domain.methods.reinforcement import MAX_TOOLS, ReinforcementMethod
from app.domain.tools.mcp_listings import clashes
from app.domain.tools.mcp_servers import McpListing
from app.gateways.endpoints.pool import EndpointPool
from app.gateways.endpoints.signing import CallSigner
from workers.processes.retry import retry_while_unavailable
from workers.runs.context import RunContext

LISTING_LIMIT_S: Final = 120.0
"""Deadline of the listing of a server, all pages with their retries."""


async def new_listings(
    context: RunContext, method: ReinforcementMethod
) -> Mapping[int, McpListing]:
    """Lists the servers whose tools the job does not have yet. Raises `RunFailed`."""
    unlisted = [index for index, server in enumerate(method.mcp_servers) if server.listing is None]
    if not unlisted:
        return {}
    from app.gateways.mcp.job_listing import list_job_tools  # noqa: PLC0415 - its library takes a second

    egress = context.settings.egress
    endpoints = EndpointPool(
        context.egress,
        timeout_s=min(LISTING_LIMIT_S, egress.call_timeout_s),
        max_retries=egress.max_retries,
    )
    signer = CallSigner(*context.settings.secret_keys, project_id=context.job.project_id)
    found = await asyncio.gather(
        *(
            list_job_tools(
                method.mcp_servers[index], index, endpoints, signer, within_s=LISTING_LIMIT_S
            )
            for index in unlisted
        )
    )
    for one in found:
        for fault in one.faults:
            raise RunFailed(fault.message, code=fault.code, param=fault.param)
    listings = {
        index: one.listing for index, one in zip(unlisted, found, strict=True) if one.listing
    }
    _check_together(with_listings(method, listings))
    return listings


def _check_together(method: ReinforcementMethod) -> None:
    tools = [
        (server.server_label, () if server.listing is None else server.listing.tools)
        for server in method.mcp_servers
    ]
    for fault in clashes(tools, (tool.name for tool in method.tools), most=MAX_TOOLS):
        raise RunFailed(fault.message, code=fault.code, param=fault.param)


def with_listings(
    method: ReinforcementMethod, listings: Mapping[int, McpListing]
) -> ReinforcementMethod:
    """Returns the method with a listing added to each server, by the server's position."""
    servers = tuple(
        server.model_copy(update={"listing": listings[index]}) if index in listings else server
        for index, server in enumerate(method.mcp_servers)
    )
    return method.model_copy(update={"mcp_servers": servers})


async def record_listings(context: RunContext, listings: Mapping[int, McpListing]) -> None:
    """Stores listings in the job, before its first rollout, so that each later run offers the same
    tools.
    """
    if not listings:
        return

    async def write() -> None:
        async with context.unit() as unit:
            await unit.jobs.record_listings(listings)

    await retry_while_unavailable(write)
