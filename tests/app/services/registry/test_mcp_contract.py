"""Tests of an MCP server: calls end with the test's time, by the clock that they are given, and a
call that is not sent is not the server's.
"""

from functools import partial

from app.kit.slots import ProjectSlots
from app.settings import EgressSettings
from app.tools.contracts import Deadline
from app.tools.mcp_contract import McpContractService
from app.tools.mcp_servers import reading_tool_name
from app.tools.mcp_session import LONGEST_END_S
from app.tools.schemas import RunMcpServerTest
from tests.support.cases import cases
from tests.support.mcp.mcp_clients import SIGNER, egress_to, spec
from tests.support.mcp.mcp_server import mcp_server
from tests.support.registry.services import no_judges

LATE = "No usable answer: the time of the test was over. In training a call may take longer."


@cases(
    ("left_s", "status", "detail", "most"),
    [(0.05, "failed", LATE, 1), (0.0, "skipped", "The time of the test was over.", 0)],
)
async def test_a_call_ends_with_the_time_of_the_test(
    left_s: float, status: str, detail: str, most: int
) -> None:
    """The clock stands still, so that the call alone has the time that is left."""
    with mcp_server() as server:
        async with egress_to(server) as egress:
            service = McpContractService(
                egress,
                no_judges(),
                SIGNER,
                limits=EgressSettings(),
                slots=ProjectSlots(1, noun="tests"),
                project_id="proj_a",
                deadline=partial(Deadline, left_s + LONGEST_END_S, now=lambda: 0.0),
            )
            report = await service.test(RunMcpServerTest(server=spec(server.url), tool="stuck"))
        called = server.calls("stuck")
    last = report.checks[-1]
    assert (last.name, last.status, last.detail) == ("call", status, detail)
    assert [check.status for check in report.checks[:3]] == ["passed"] * 3
    assert len(called) <= most


async def test_a_call_that_is_not_sent_is_no_error_of_the_tool() -> None:
    with mcp_server(resources={"file:///a": "A"}) as server:
        async with egress_to(server) as egress:
            service = McpContractService(
                egress,
                no_judges(),
                SIGNER,
                limits=EgressSettings(),
                slots=ProjectSlots(1, noun="tests"),
                project_id="proj_a",
            )
            asked = spec(server.url, resources=True)
            tool = reading_tool_name(asked.server_label)
            plan = RunMcpServerTest(server=asked, tool=tool, arguments={"uri": "file:///b"})
            last = (await service.test(plan)).checks[-1]
    assert (last.name, last.status) == ("call", "warned")
    assert last.detail.startswith("Nothing was sent")
    assert "there is no resource 'file:///b'" in last.data["model_sees"]
