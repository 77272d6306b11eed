"""The result of a contract test of a tool endpoint: its checks, each with its status.

Pure data.
"""

from dataclasses import dataclass, field
from typing import Any, Final, Literal

from app.tools.mcp_servers import McpResource, McpTool

CheckStatus = Literal["passed", "failed", "warned", "skipped"]

MAX_REQUESTS: Final = 200
MAX_RATE: Final = 50.0
MAX_TEST_S: Final = 60.0
MAX_PACED_S: Final = 40.0
"""Seconds of the test for the measured calls; the remaining time is for the checks before them."""


@dataclass(frozen=True, slots=True)
class CallPlan:
    """Calls to send, and their rate."""

    arguments: dict[str, Any] | None
    """`None`: generated from the tool's own `parameters` schema."""
    item: dict[str, Any]
    requests: int
    """Number of measured calls."""
    rate: float
    """Calls started per second."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check. A failure means that rollouts would be lost; a warning that less would be learned
    from them.
    """

    name: str
    status: CheckStatus
    detail: str
    data: dict[str, Any] = field(default_factory=dict)
    """Numbers and texts of this check."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """The result of any contract test: its time and its checks."""

    created_at: int
    duration_ms: float
    checks: tuple[CheckResult, ...]

    @property
    def passed(self) -> bool:
        return all(check.status != "failed" for check in self.checks)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractReport(CheckReport):
    tool_id: str
    version: int
    name: str
    server_url: str
    calls: int
    """HTTP requests that were sent."""


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


@dataclass(frozen=True, slots=True)
class EnvironmentPlan:
    """An episode of one turn."""

    task: dict[str, Any] = field(default_factory=dict)
    """The row; its `messages` precede those of the environment."""
    seed: int = 0
    content: str | None = None
    """Text of the turn; `None`: generated, or empty beside calls."""
    tool_calls: tuple[tuple[str, str], ...] | None = None
    """Name and arguments of each call; `None`: one of the first offered tool."""


@dataclass(frozen=True, slots=True)
class EpisodeCall:
    """One call of the test, with its answer."""

    call: str
    """`reset`, `step`, `step again` or `close`."""
    sent: dict[str, Any]
    status: int | None
    """`None` where there was no answer."""
    answered: str | None
    """The beginning of the answer's body."""
    latency_ms: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentReport(CheckReport):
    environment_id: str
    version: int
    name: str
    url: str
    exchanges: tuple[EpisodeCall, ...]
