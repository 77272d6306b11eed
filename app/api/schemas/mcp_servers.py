"""The test of an MCP server on the wire (an extension)."""

from typing import Literal

from app.api.schemas.common import ClosedBody, Metadata
from app.api.schemas.tools import ToolCheck
from app.domain.documents.field_descriptions import DescribedModel
from app.domain.documents.json_object import Json
from app.domain.tools.mcp_contract import McpCallPlan, McpReport
from app.domain.tools.mcp_servers import McpResource, McpServerSpec, McpTool, McpToolName


class RunMcpServerTest(ClosedBody):
    """An MCP server of a job, and the tool to call."""

    server: McpServerSpec
    """The server, as in `method.reinforcement.mcp_servers`."""
    tool: McpToolName | None = None
    """Name of a tool that is called twice with the same id; absent: none is called."""
    arguments: Json | None = None
    """Arguments of the call, only beside `tool`; absent: made up from the tool's schema."""

    def to_plan(self) -> McpCallPlan:
        return McpCallPlan(self.tool, self.arguments)


class ImportMcpServerTools(ClosedBody):
    """An MCP server whose tools are registered."""

    server: McpServerSpec
    """The server, as in `method.reinforcement.mcp_servers`; `allowed_tools` chooses."""
    metadata: Metadata | None = None
    """Metadata of each registered tool."""


class McpServerTest(DescribedModel):
    """Results of the checks of an MCP server."""

    object: Literal["mcp_server.test"] = "mcp_server.test"
    server_label: str
    """Label of the server."""
    server_url: str
    """Address that was called."""
    created_at: int
    duration_ms: float
    """Milliseconds of the whole test."""
    protocol_version: str | None
    """Version of the protocol that both sides speak; `null` if the tools could not be listed."""
    tools: list[McpTool]
    """The tools that a job would offer."""
    resources: list[McpResource]
    """The resources that the model could read; none without `resources` in the server."""
    passed: bool
    """True when no check failed."""
    checks: list[ToolCheck]
    """The checks, in the order in which they ran."""

    @classmethod
    def of(cls, report: McpReport) -> "McpServerTest":
        return cls(
            server_label=report.server_label,
            server_url=report.server_url,
            created_at=report.created_at,
            duration_ms=report.duration_ms,
            protocol_version=report.protocol_version,
            tools=list(report.tools),
            resources=list(report.resources),
            passed=report.passed,
            checks=[ToolCheck.of(check) for check in report.checks],
        )
