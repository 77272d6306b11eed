"""Lists the MCP servers of a checked call with the code of a job's first run and a shorter
deadline.

Owns the issues about servers that cannot be listed, tools that cannot be offered and names that
clash. The protocol library is imported on a thread by the first check: it takes a second.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from pydantic import ValidationError

from app.domain.faults.issues import PreflightIssue
from app.domain.jobs.creation.preflight import EndpointCheck
from app.domain.methods.reinforcement import MAX_TOOLS
from app.domain.tools.mcp_listings import SERVERS, ListingFault, clashes, functions_of
from app.domain.tools.mcp_servers import MAX_MCP_SERVERS, McpServerSpec, McpTool
from app.gateways.egress.egress import Egress
from app.gateways.endpoints.pool import EndpointPool
from app.gateways.endpoints.signing import CallSigner

LISTING_LIMIT_S: Final = 20.0


@dataclass(frozen=True, slots=True)
class ListedServers:
    """The listings of a call's servers."""

    endpoints: tuple[EndpointCheck, ...] = ()
    issues: tuple[PreflightIssue, ...] = ()
    functions: tuple[dict[str, Any], ...] = ()
    """The tools that the job would offer on every row."""


class McpListings:
    def __init__(self, egress: Egress, signer: CallSigner) -> None:
        self._egress = egress
        self._signer = signer

    async def check(self, method: dict[str, Any]) -> ListedServers:
        """Lists the valid servers of a call's `method`; invalid ones are already reported."""
        inner = method.get("reinforcement")
        sent = inner.get("mcp_servers") if isinstance(inner, dict) else None
        servers = _readable(sent)
        if not servers:
            return ListedServers()
        await asyncio.to_thread(import_module, "app.gateways.mcp.job_listing")
        from app.gateways.mcp.job_listing import (  # noqa: PLC0415 - its library takes a second
            JobListing,
            list_job_tools,
        )

        endpoints = EndpointPool(self._egress, timeout_s=LISTING_LIMIT_S, max_retries=0)

        async def timed(index: int, server: McpServerSpec) -> tuple[JobListing, float]:
            started = time.monotonic()
            found = await list_job_tools(
                server, index, endpoints, self._signer, within_s=LISTING_LIMIT_S
            )
            return found, round(1000 * (time.monotonic() - started), 1)

        answers = await asyncio.gather(*(timed(index, server) for index, server in servers))
        listings = [listing for listing, _ in answers]
        faults = [fault for listing in listings for fault in listing.faults]
        chosen: list[tuple[str, tuple[McpTool, ...]]] = [("", ())] * (servers[-1][0] + 1)
        for (index, server), each in zip(servers, listings, strict=True):
            if each.listing is not None:
                chosen[index] = (server.server_label, each.listing.tools)
        together = list(clashes(chosen, _names(inner), most=MAX_TOOLS))
        faults += together
        # Tools that no job can offer are not measured: they may be too large for that.
        offered = [] if together else [each.listing for each in listings]
        return ListedServers(
            endpoints=tuple(
                _check(index, server, listing.faults, latency_ms)
                for (index, server), (listing, latency_ms) in zip(servers, answers, strict=True)
            ),
            issues=tuple(
                PreflightIssue("error", fault.code, fault.message, fault.param) for fault in faults
            ),
            functions=tuple(functions_of(offered)),
        )


def _readable(sent: Any) -> list[tuple[int, McpServerSpec]]:
    """Returns the valid servers with their positions. A `listing` in the request is ignored here,
    because another check refuses it.
    """
    servers = []
    for index, server in enumerate(sent[:MAX_MCP_SERVERS] if isinstance(sent, list) else ()):
        try:
            read = McpServerSpec.model_validate(server)
        except ValidationError:
            continue
        unlisted = read.model_copy(update={"listing": None, "listing_summary": None})
        servers.append((index, unlisted))
    return servers


def _names(inner: Any) -> list[str]:
    tools = inner.get("tools")
    names = [
        tool.get("name") if isinstance(tool, dict) else None
        for tool in (tools if isinstance(tools, list) else ())
    ]
    return [name for name in names if isinstance(name, str)]


def _check(
    index: int, server: McpServerSpec, faults: Sequence[ListingFault], latency_ms: float
) -> EndpointCheck:
    param = f"{SERVERS}[{index}].server_url"
    down = next((fault for fault in faults if fault.param == param), None)
    return EndpointCheck(
        param=param,
        name=server.server_label,
        reachable=down is None,
        status=None,
        latency_ms=latency_ms if down is None else None,
        detail=None if down is None else down.message,
    )
