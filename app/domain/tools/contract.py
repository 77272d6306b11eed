"""The result of a contract test of a tool endpoint: its checks, each with its status.

Pure data. Must not know how calls are made.
"""

from dataclasses import dataclass, field
from typing import Any, Final, Literal

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
    """Figures and texts of this check."""


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
