"""A contract test of an MCP server: lists its tools, and calls one if it is named."""

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Final

from app.jobs.method_faults import server_faults
from app.jobs.reinforcement import MAX_TOOLS
from app.kit.egress import Egress
from app.kit.endpoint_pool import EndpointPool
from app.kit.endpoints import CallSigner, EndpointFault
from app.kit.errors import InvalidRequest, refused_value
from app.kit.faults import refused_wholly
from app.kit.fields import walk_fields
from app.kit.ids import new_id
from app.kit.redaction import Echoes, shown_url
from app.kit.slots import ProjectSlots
from app.models.service import JudgeModels
from app.settings import EgressSettings
from app.tools.contracts import (
    CALL_TIMEOUT_S,
    TIME_OVER,
    CheckResult,
    Deadline,
    passed,
    report_text,
)
from app.tools.definition_check import check_definition
from app.tools.mcp_listings import clashes
from app.tools.mcp_servers import McpListing, McpServerSpec
from app.tools.schemas import McpServerTest, RunMcpServerTest, ToolCheck
from app.tools.tools import ToolOutcome, new_trace_id, sample_arguments

PARAM: Final = "server"
_LISTING_LIMIT_S: Final = 20.0
_TIME_OVER: Final = CheckResult("call", "skipped", TIME_OVER)


class McpContractService:
    def __init__(
        self,
        egress: Egress,
        models: JudgeModels,
        signer: CallSigner,
        *,
        limits: EgressSettings,
        slots: ProjectSlots,
        project_id: str,
        deadline: Callable[[], Deadline] = Deadline,
    ) -> None:
        self._egress = egress
        self._models = models
        self._signer = signer
        self._limits = limits
        self._slots = slots
        self._project_id = project_id
        self._deadline = deadline

    async def test(self, plan: RunMcpServerTest) -> McpServerTest:
        deadline, server = self._deadline(), plan.server
        for fault in (*server_faults(server, PARAM), *_unknown(server)):
            raise fault
        if plan.arguments is not None and plan.tool is None:
            why = "without 'tool' no tool is called; name the one that takes them, or remove them"
            raise refused_value("arguments", why)
        await check_definition(server, PARAM, egress=self._egress, models=self._models)
        await asyncio.to_thread(import_module, "app.tools.mcp_discovery")
        created_at, started = int(time.time()), time.monotonic()
        with self._slots.taken(self._project_id):
            checks, listing = await self._checked(server, plan, deadline)
        return McpServerTest(
            server_label=server.server_label,
            server_url=shown_url(server.server_url),
            created_at=created_at,
            duration_ms=round(1000 * (time.monotonic() - started), 1),
            protocol_version=None if listing is None else listing.protocol_version,
            tools=[] if listing is None else list(listing.tools),
            resources=[] if listing is None else list(listing.resources),
            passed=passed(checks),
            checks=list(map(ToolCheck.of, checks)),
        )

    async def listing(self, server: McpServerSpec) -> McpListing:
        for fault in (*server_faults(server, PARAM), *_unknown(server)):
            raise fault
        if server.resources:
            why = (
                "tools alone are registered; name the server in a job's 'mcp_servers' to offer them"
            )
            raise refused_value(f"{PARAM}.resources", why)
        await check_definition(server, PARAM, egress=self._egress, models=self._models)
        await asyncio.to_thread(import_module, "app.tools.mcp_discovery")
        from app.tools.mcp_discovery import list_job_tools  # noqa: PLC0415 - its library takes a second

        with self._slots.taken(self._project_id):
            found = await list_job_tools(
                server, 0, self._endpoints(), self._signer, within_s=_LISTING_LIMIT_S, at=PARAM
            )
        tools = () if found.listing is None else found.listing.tools
        together = clashes([(server.server_label, tools)], (), most=MAX_TOOLS)
        for refused in (*found.faults, *together):
            raise InvalidRequest(refused.message, param=refused.param, code=refused.code)
        if found.listing is None:
            raise RuntimeError("a server has neither a listing nor a fault")
        return found.listing

    async def _checked(
        self, server: McpServerSpec, plan: RunMcpServerTest, deadline: Deadline
    ) -> tuple[list[CheckResult], McpListing | None]:
        from app.tools.mcp_discovery import UNAVAILABLE, list_job_tools  # noqa: PLC0415 - its library takes a second

        listing = await list_job_tools(
            server, 0, self._endpoints(), self._signer, within_s=_LISTING_LIMIT_S, at=PARAM
        )
        down = [fault for fault in listing.faults if fault.code == UNAVAILABLE]
        if down:
            names = ("tools", "session", "call")
            skipped = (CheckResult(name, "skipped", _NOT_LISTED) for name in names)
            return [CheckResult("listing", "failed", down[0].message), *skipped], None
        text = f"The server lists {len(listing.offered)} tools."
        offered = {"tools": [each.tool.name for each in listing.offered]}
        chosen = () if listing.listing is None else listing.listing.tools
        faults = [*listing.faults, *clashes([(server.server_label, chosen)], (), most=MAX_TOOLS)]
        listed = server.model_copy(update={"listing": listing.listing})
        return [
            CheckResult("listing", "passed", text, offered),
            _tools(len(chosen), [fault.message for fault in faults]),
            *_resources(server, listing.listing),
            _session(keeps=listing.keeps_session),
            await self._call(listed, plan, deadline),
        ], listing.listing

    async def _call(
        self, server: McpServerSpec, plan: RunMcpServerTest, deadline: Deadline
    ) -> CheckResult:
        from app.tools.mcp_discovery import called_server  # noqa: PLC0415 - its library takes a second
        from app.tools.mcp_session import LONGEST_END_S, McpCall, McpSession  # noqa: PLC0415 - as above

        if plan.tool is None:
            return CheckResult("call", "skipped", "Name a tool with 'tool' to have it called.")
        tools = () if server.listing is None else server.listing.tools
        tool = next((each for each in tools if each.name == plan.tool), None)
        if server.listing is None or tool is None:
            return CheckResult("call", "failed", f"A job would not offer a tool '{plan.tool}'.")
        arguments = plan.arguments
        if arguments is None:
            arguments = sample_arguments(tool.input_schema)
        remaining_s = deadline.remaining_s - LONGEST_END_S
        if remaining_s <= 0:
            return _TIME_OVER
        call = McpCall(tool.name, json.dumps(arguments), new_id("call_"))
        session = McpSession(
            called_server(server, self._endpoints(), self._signer),
            trace_id=new_trace_id(),
            protocol_version=server.listing.protocol_version,
        )
        try:
            async with asyncio.timeout(remaining_s):
                first = await session.call(call)
                second = await session.call(call)
        except TimeoutError:
            return CheckResult("call", "failed", f"No usable answer: {_LATE}", {"kind": "timeout"})
        except EndpointFault as fault:
            text = f"No usable answer: {fault.message}. In training this discards the rollout."
            return CheckResult("call", "failed", text, {"kind": fault.kind.value})
        finally:
            await session.close()
        echoes = Echoes(server.sent_headers, server.server_url)
        return await asyncio.to_thread(_called, first, second, echoes)

    def _endpoints(self) -> EndpointPool:
        timeout_s = min(CALL_TIMEOUT_S, self._limits.call_timeout_s)
        return EndpointPool(self._egress, timeout_s=timeout_s, max_retries=0)


def _unknown(server: McpServerSpec) -> Iterator[InvalidRequest]:
    """Yields unknown keys that resemble a known one: the report has no field for warnings."""
    for field_ in walk_fields(McpServerSpec, server):
        fault = refused_wholly(field_, PARAM, only_near=True)
        if fault is not None:
            yield fault


_LATE: Final = "the time of the test was over. In training a call may take longer."
_NOT_LISTED: Final = "The tools could not be listed."


def _tools(offered: int, faults: list[str]) -> CheckResult:
    if faults:
        return CheckResult("tools", "failed", " ".join(faults))
    return CheckResult("tools", "passed", f"A job would offer {offered} of them on every row.")


def _resources(server: McpServerSpec, listing: McpListing | None) -> Iterator[CheckResult]:
    if not server.resources:
        return
    if listing is None:
        yield CheckResult("resources", "skipped", "A job could not offer what the server lists.")
        return
    name, uris = listing.tools[-1].name, [resource.uri for resource in listing.resources]
    text = f"The server lists {len(uris)} resources, which the model would read by '{name}'."
    yield CheckResult("resources", "passed", text, {"resources": uris})


def _session(*, keeps: bool) -> CheckResult:
    if not keeps:
        return CheckResult("session", "passed", "The server needs no session.")
    text = (
        "The server keeps sessions: each rollout has one, and what it holds is gone for a rollout "
        "that a resumed job continues with. State under the rollout's id (X-Rollout-Id) stays."
    )
    return CheckResult("session", "warned", text)


def _called(first: ToolOutcome, second: ToolOutcome, echoes: Echoes) -> CheckResult:
    data = {"model_sees": report_text(echoes.hidden_in(first.output)), "error": first.error}
    if first.attempts == 0:
        text = "Nothing was sent: the service answers this call itself; 'model_sees' has its text."
        return CheckResult("call", "warned", text, data)
    if first.error is not None:
        text = "The tool reported an error for these arguments; send some that it accepts."
        return CheckResult("call", "warned", text, data)
    if second.output != first.output:
        text = "The same call got two different outputs: a retry would be run again."
        again = report_text(echoes.hidden_in(second.output))
        return CheckResult("call", "warned", text, {**data, "again": again})
    return CheckResult("call", "passed", "The same call got the same text twice.", data)
