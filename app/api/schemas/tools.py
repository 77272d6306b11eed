"""Registered tools on the wire (an extension); a tool's own keys are the hosted Agent RFT job's."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, StringConstraints

from app.api.schemas.common import ClosedBody, Metadata, WireModel
from app.api.schemas.contract_checks import ContractCheck
from app.api.schemas.registry import RegisteredObject, own_keys
from app.domain.documents.field_descriptions import DescribedModel
from app.domain.documents.json_object import Json
from app.domain.registry.registered_objects import RegisteredVersion
from app.domain.texts.patterns import TOOL_NAME
from app.domain.tools.contract import (
    MAX_RATE,
    MAX_REQUESTS,
    CallPlan,
    ContractReport,
)
from app.domain.tools.rates import RateLimit

ToolName = Annotated[str, StringConstraints(pattern=TOOL_NAME)]
Url = Annotated[str, StringConstraints(min_length=1, max_length=2048)]


class _ToolKeys(WireModel):
    """Unknown keys are retained and copied into jobs."""

    headers: Annotated[dict[str, str], Field(max_length=64)] | None = None
    """Headers sent with every call; stored encrypted, shown as `[redacted]`."""
    description: str | None = None
    """Purpose of the tool, for readers; the model reads the row's own description."""
    parameters: Json | None = None
    """JSON schema of the arguments."""
    rate_limit: RateLimit | None = None
    """Limit of requests per second from jobs."""
    server_label: str | None = None
    """Label of the MCP server at `server_url` that answers the tool by its protocol; absent: an
    endpoint of its own."""
    metadata: Metadata | None = None


class CreateTool(_ToolKeys):
    """A new registered tool."""

    name: ToolName
    """Name that the model calls; no other tool of the project has it."""
    server_url: Url
    """Address that the calls are sent to."""


class UpdateTool(_ToolKeys):
    """Changes that make a new version of a tool; absent fields do not change, and `null`
    removes an optional key.
    """

    name: ToolName | None = None
    """Name that the model calls; no other tool of the project has it."""
    server_url: Url | None = None
    """Address that the calls are sent to."""


class Tool(RegisteredObject):
    """A version of a registered tool, which jobs refer to by id."""

    model_config = ConfigDict(extra="allow")

    object: Literal["tool"] = "tool"
    server_url: str
    """Address that the calls are sent to, with query values redacted."""
    headers: dict[str, str] | None = None
    """Headers sent with every call, each shown as `[redacted]`."""
    description: str | None = None
    """Purpose of the tool, for readers; the model reads the row's own description."""
    parameters: Json | None = None
    """JSON schema of the arguments."""
    rate_limit: float | None = None
    """Limit of requests per second from jobs."""
    server_label: str | None = Field(default=None, exclude_if=lambda label: label is None)
    """Label of the MCP server at `server_url` that answers the tool by its protocol."""

    @classmethod
    def of(cls, registered: RegisteredVersion) -> "Tool":
        return cls.model_validate({**registered.definition, **own_keys(registered)})


class RunToolTest(ClosedBody):
    """Calls that a test sends to a registered tool."""

    arguments: Json | None = None
    """Arguments that the tool accepts; when absent, they are generated from its `parameters`."""
    item: Json | None = None
    """The row that is sent with each call."""
    requests: Annotated[int, Field(ge=1, le=MAX_REQUESTS, strict=True)] = 20
    """Number of calls that measure latency."""
    rate: Annotated[float, Field(ge=0.1, le=MAX_RATE, strict=True)] = 10.0
    """Calls per second."""

    def to_plan(self) -> CallPlan:
        return CallPlan(self.arguments, self.item or {}, self.requests, self.rate)


class ToolCheck(ContractCheck):
    """One check; it may have further keys with its numbers."""

    model_config = ConfigDict(extra="allow")


class ToolTest(DescribedModel):
    """Results of the checks of a registered tool."""

    object: Literal["tool.test"] = "tool.test"
    tool_id: str
    """Id of the tool."""
    version: int
    name: str
    """Name that the model calls."""
    server_url: str
    """Address that was called."""
    created_at: int
    duration_ms: float
    """Milliseconds of the whole test."""
    calls: int
    """Number of calls that were made."""
    passed: bool
    """True when no check failed."""
    checks: list[ToolCheck]
    """The checks, in the order in which they ran."""

    @classmethod
    def of(cls, report: ContractReport) -> "ToolTest":
        return cls(
            tool_id=report.tool_id,
            version=report.version,
            name=report.name,
            server_url=report.server_url,
            created_at=report.created_at,
            duration_ms=report.duration_ms,
            calls=report.calls,
            passed=report.passed,
            checks=[ToolCheck.of(check) for check in report.checks],
        )
