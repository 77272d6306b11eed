"""The test of an MCP server: the call to make, and the report with its checks. Pure data."""

from dataclasses import dataclass
from typing import Any

from app.domain.tools.contract import CheckReport
from app.domain.tools.mcp_servers import McpResource, McpTool


@dataclass(frozen=True, slots=True)
class McpCallPlan:
    """The tool to call; without a name no tool is called."""

    tool: str | None = None
    arguments: dict[str, Any] | None = None
    """`None`: generated from the tool's own schema."""


@dataclass(frozen=True, slots=True, kw_only=True)
class McpReport(CheckReport):
    server_label: str
    server_url: str
    protocol_version: str | None
    tools: tuple[McpTool, ...]
    """The tools that a job would offer."""
    resources: tuple[McpResource, ...]
    """The resources that a job's model could read."""
