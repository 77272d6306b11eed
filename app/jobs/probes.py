"""Asks each address of a create call once, before a job exists."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, Final

from pydantic import ValidationError

from app.jobs.call_faults import CalledAddress, called_addresses
from app.jobs.preflight import EndpointCheck
from app.jobs.reinforcement import MAX_TOOLS
from app.kit.egress import Egress, EgressFailure, EgressRequest, check_headers
from app.kit.endpoint_pool import EndpointPool
from app.kit.endpoints import CallSigner, EndpointFault
from app.kit.errors import EndpointRefused, PreflightIssue
from app.kit.http import is_client_error
from app.kit.ids import new_id
from app.tools.environment_calls import (
    CallRefused,
    EnvironmentCall,
    close_body,
    may_have_begun,
    read_close,
    read_reset,
    reset_body,
)
from app.tools.environments import PARAM
from app.tools.mcp_listings import SERVERS, ListingFault, clashes, functions_of
from app.tools.mcp_servers import MAX_MCP_SERVERS, McpServerSpec, McpTool

NOT_FOUND: Final = "environment_not_found"
REFUSES: Final = "environment_refuses"
_MISSING: Final = frozenset({404, 405, 410})
_TASK: Final = {"messages": [{"role": "user", "content": "This is a test."}]}
_TIMEOUT_S: Final = 10.0
_CLOSE_LIMIT_S: Final = 5.0


class EnvironmentProbe:
    def __init__(self, egress: Egress, signer: CallSigner) -> None:
        self._egress = egress
        self._signer = signer

    async def tried(self, called: CalledAddress) -> PreflightIssue | None:
        """Returns an error for an environment without `reset` at its address, a warning for one
        that refuses the test's `reset`, and `None` for one that accepts it and for every other
        address.
        """
        if called.param != f"{PARAM}.url":
            return None
        endpoint = EndpointPool(self._egress, timeout_s=_TIMEOUT_S, max_retries=0).endpoint(
            called.url
        )
        rollout_id = new_id("trace_")
        reset = EnvironmentCall(
            reset_body(rollout_id, _TASK, seed=0), new_id("episode_"), rollout_id
        )
        read = partial(read_reset, before=_TASK["messages"])
        episode_id: str | None
        try:
            begun = await endpoint.call(reset.request(called.headers), read, signer=self._signer)
            episode_id = begun.value.episode_id
        except CallRefused as refused:
            return _issue(called, refused.status)
        except EndpointFault as fault:  # the path is there
            if not may_have_begun(fault):
                return None
            episode_id = None
        body = close_body(rollout_id, episode_id, done=False)
        close = EnvironmentCall(body, new_id("episode_"), rollout_id)
        try:
            async with asyncio.timeout(_CLOSE_LIMIT_S):
                await endpoint.call(close.request(called.headers), read_close, signer=self._signer)
        except (EndpointFault, TimeoutError):
            return None  # its answer changes nothing
        return None


def _issue(called: CalledAddress, status: int) -> PreflightIssue | None:
    if status in _MISSING:
        message = (
            f"{called.name}: answers {status} to 'reset', so that every rollout would be lost; "
            "check the path of its address"
        )
        return PreflightIssue("error", NOT_FOUND, message, called.param)
    if not is_client_error(status):
        return None
    message = (
        f"{called.name}: answers {status} to the 'reset' of a test. A job whose rows it refuses "
        "too loses every rollout: check its path and headers, or try one of its tasks with "
        "POST /v1/environments/{id}/test."
    )
    return PreflightIssue("warning", REFUSES, message, called.param)


_PROBE_TIMEOUT_S: Final = 10.0
_PROBES: Final = 8
MAX_ADDRESSES: Final = 128
"""Limit for one call, so that the service cannot be used to scan addresses."""
_SERVER_FAULT: Final = 500
_NOT_IMPLEMENTED: Final = 501
"""Status of many servers for an unsupported method, such as the probe's HEAD."""
_UNCALLED: Final = "not asked: the formula does not use this part"


class EndpointProbes:
    def __init__(self, egress: Egress, environments: EnvironmentProbe) -> None:
        self._egress = egress
        self._environments = environments

    async def ask(
        self, called: list[CalledAddress]
    ) -> list[tuple[EndpointCheck, list[PreflightIssue]]]:
        slots = asyncio.Semaphore(_PROBES)

        async def check(address: CalledAddress) -> tuple[EndpointCheck, list[PreflightIssue]]:
            async with slots:
                return await self._probe(address)

        return await asyncio.gather(*(check(address) for address in called))

    async def _probe(self, called: CalledAddress) -> tuple[EndpointCheck, list[PreflightIssue]]:
        def missed(
            code: str, detail: str, *, param: str = called.param
        ) -> tuple[EndpointCheck, list[PreflightIssue]]:
            check = EndpointCheck(called.param, called.name, False, None, None, detail)
            message = f"{called.name}: {detail}"
            return check, [PreflightIssue("error", code, message, param)]

        try:
            check_headers(called.headers)
        except EndpointRefused as error:
            headers = f"{called.param.rpartition('.')[0]}.headers"
            return missed("endpoint_not_allowed", str(error), param=headers)
        try:
            await self._egress.check_url(called.url)
            if not called.is_used:
                return EndpointCheck(called.param, called.name, False, None, None, _UNCALLED), []
            reply = await self._egress.send(
                EgressRequest(
                    called.url, called.headers, b"", timeout_s=_PROBE_TIMEOUT_S, method="HEAD"
                )
            )
        except EndpointRefused as error:
            return missed("endpoint_not_allowed", str(error))
        except EgressFailure as error:
            return missed("endpoint_unreachable", str(error))
        check = EndpointCheck(
            called.param, called.name, True, reply.status, round(1000 * reply.latency_s, 1), None
        )
        # A server that takes only POST answers HEAD with a 4xx or a 501: it is there, which is the
        # question.
        if reply.status < _SERVER_FAULT or reply.status == _NOT_IMPLEMENTED:
            return await self._begun(called, check)
        message = f"{called.name} answers {reply.status} to a HEAD request."
        return check, [PreflightIssue("warning", "endpoint_failing", message, called.param)]

    async def _begun(
        self, called: CalledAddress, check: EndpointCheck
    ) -> tuple[EndpointCheck, list[PreflightIssue]]:
        issue = await self._environments.tried(called)
        if issue is None:
            return check, []
        if issue.code == NOT_FOUND:
            check = EndpointCheck(called.param, called.name, False, None, None, issue.message)
        return check, [issue]


def first_addresses(method: dict[str, Any], issues: list[PreflightIssue]) -> list[CalledAddress]:
    """Returns the first addresses of the call, and adds an issue if there are more."""
    addresses = called_addresses(method)
    if len(addresses) > MAX_ADDRESSES:
        message = f"Only the first {MAX_ADDRESSES} addresses were probed."
        issues.append(
            PreflightIssue("warning", "endpoints_not_probed", message, "method.reinforcement")
        )
    return addresses[:MAX_ADDRESSES]


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
        await asyncio.to_thread(import_module, "app.tools.mcp_discovery")
        from app.tools.mcp_discovery import (  # noqa: PLC0415 - its library takes a second
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
