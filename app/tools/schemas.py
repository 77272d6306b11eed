"""Registered objects, tools and environments on the wire (an extension), and their tests."""

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal, Self

from fastapi import Query
from pydantic import ConfigDict, Field, PrivateAttr, StringConstraints

from app.kit.errors import CONSTANT_GRADER, NoEffect
from app.kit.faults import UNKNOWN_PARAMETER, UnreadKey, unknown_key_error, unread
from app.kit.fields import DescribedModel, FieldKind, Json, WalkedField
from app.kit.schemas import ClosedBody, Metadata, WireModel
from app.kit.texts import TOOL_NAME
from app.tools.contracts import MAX_RATE, MAX_REQUESTS, CheckResult, CheckStatus
from app.tools.mcp_servers import McpResource, McpServerSpec, McpTool, McpToolName
from app.tools.registry import LabelChanges, RegisteredVersion
from app.tools.tools import RateLimit


class ContractCheck(DescribedModel):
    name: str
    """Name of the check."""
    status: CheckStatus
    """Result of the check."""
    detail: str
    """The result in a sentence."""
    _data: Json = PrivateAttr(default_factory=dict)

    @classmethod
    def of(cls, check: CheckResult) -> Self:
        named = {"name": check.name, "status": check.status, "detail": check.detail}
        made = cls.model_validate({**check.data, **named})
        made._data = check.data  # noqa: SLF001 - its own class
        return made

    @property
    def data(self) -> Json:
        """All numbers of the check, for a page."""
        return self._data


_MOST_WARNINGS: Final = 200
Version = Annotated[
    int | None, Query(ge=1, le=2**31 - 1, description="Number of a version; the newest when absent")
]


class RegistryWarning(DescribedModel):
    """A part of the request that is accepted and changes nothing: an unknown key, or a grader that
    reads no sample.
    """

    code: Literal["unknown_parameter", "constant_grader"] = UNKNOWN_PARAMETER
    """The fault in a word that programs can compare."""
    message: str
    """The fault in a sentence, with the nearest known name."""
    param: str
    """The part, as a path from the body."""


class RegisteredObject(DescribedModel):
    """Fields of every registered object that the service sets."""

    id: str
    created_at: int
    updated_at: int
    """Creation time of this version."""
    version: int
    """Number of the version, from 1."""
    name: str
    """Name that no other object of this type in the project has."""
    metadata: dict[str, str] | None
    warnings: list[RegistryWarning] | None = Field(
        default=None, exclude_if=lambda value: value is None
    )
    """Parts of this request without effect; only in the reply to a create or an update."""


def unread_keys(body: WireModel, shown: type[RegisteredObject]) -> tuple[UnreadKey, ...]:
    known = frozenset(type(body).model_fields)
    walked = [
        WalkedField(FieldKind.UNKNOWN, (key,), value, body, known=known)
        for key, value in (body.model_extra or {}).items()
        if value is not None and key not in shown.model_fields
    ]
    for field in walked:
        if (fault := unknown_key_error(field, "")) is not None:
            raise fault
    return tuple(unread(walked, ""))


def label_changes(body: WireModel) -> LabelChanges:
    sent = body.model_dump(include={"name", "metadata"}, exclude_unset=True)
    return LabelChanges(sent.get("name"), sent.get("metadata"), "metadata" in sent)


def own_keys(registered: RegisteredVersion, unread: Sequence[UnreadKey] = ()) -> dict[str, Any]:
    return {
        "id": registered.id,
        "created_at": registered.created_at,
        "updated_at": registered.updated_at,
        "version": registered.version,
        "name": registered.name,
        "metadata": registered.metadata,
        "warnings": warnings_of([*unread, *registered.unread], registered.unused),
    }


def warnings_of(
    unread: Sequence[UnreadKey], unused: Sequence[NoEffect]
) -> list[RegistryWarning] | None:
    found = [
        RegistryWarning(code=CONSTANT_GRADER, message=f"{part.message}.", param=part.param)
        for part in unused
    ]
    found += [RegistryWarning(message=key.message, param=key.param) for key in unread]
    return found[:_MOST_WARNINGS] or None


ToolName = Annotated[str, StringConstraints(pattern=TOOL_NAME)]
Url = Annotated[str, StringConstraints(min_length=1, max_length=2048)]


class _ToolKeys(WireModel):
    """An unknown key with one value is named in the reply's `warnings` and dropped."""

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


class RunMcpServerTest(ClosedBody):
    """An MCP server of a job, and the tool to call."""

    server: McpServerSpec
    """The server, as in `method.reinforcement.mcp_servers`."""
    tool: McpToolName | None = None
    """Name of a tool that is called twice with the same id; absent: none is called."""
    arguments: Json | None = None
    """Arguments of the call, only beside `tool`; absent: made up from the tool's schema."""


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


AfterVersion = Annotated[
    int | None,
    Query(
        alias="after",
        ge=1,
        le=2**31 - 1,
        description="Number of the last version of the previous page",
    ),
]


_Text = Annotated[str, StringConstraints(max_length=100_000)]


class _EnvironmentKeys(WireModel):
    """An unknown key with a text, number or boolean is named in the reply's `warnings`; one with an
    object or list is refused.
    """

    headers: Annotated[dict[str, str], Field(max_length=64)] | None = None
    """Headers sent with every call; stored encrypted, shown as `[redacted]`."""
    rate_limit: RateLimit | None = None
    """Limit of requests per second from jobs."""
    metadata: Metadata | None = None

    def known_keys(self) -> dict[str, Any]:
        return self.model_dump(exclude_unset=True, include=set(type(self).model_fields))


class CreateEnvironment(_EnvironmentKeys):
    """A new registered environment."""

    type: Literal["http"] = "http"
    """Kind of the environment."""
    name: ToolName
    """Unique name in the project, used in messages about lost rollouts."""
    url: Url
    """Address that `reset`, `step` and `close` are POSTed to."""


class UpdateEnvironment(_EnvironmentKeys):
    """Changes that make a new version of an environment; absent fields do not change, and `null`
    removes an optional key.
    """

    name: ToolName | None = None
    """Name that no other environment of the project has; messages about lost rollouts have it."""
    url: Url | None = None
    """Address that `reset`, `step` and `close` are POSTed to."""


class Environment(RegisteredObject):
    """A version of a registered environment, which jobs refer to by id."""

    object: Literal["environment"] = "environment"
    type: Literal["http"]
    """Kind of the environment."""
    url: str
    """Address that `reset`, `step` and `close` are POSTed to, with query values redacted."""
    headers: dict[str, str] | None = None
    """Headers sent with every call, each shown as `[redacted]`."""
    rate_limit: float | None = None
    """Limit of requests per second from jobs."""

    @classmethod
    def of(cls, registered: RegisteredVersion, unread: Sequence[UnreadKey] = ()) -> "Environment":
        return cls.model_validate({**registered.definition, **own_keys(registered, unread)})


class EnvironmentTestCall(ClosedBody):
    """A tool call of the turn that a test sends."""

    name: ToolName
    """Name of the tool."""
    arguments: _Text = "{}"
    """The arguments as JSON text."""


class RunEnvironmentTest(ClosedBody):
    """The episode that a test plays with a registered environment."""

    task: Json | None = None
    """The row that is sent with `reset`; `messages` in it must be a conversation, as in a file."""
    seed: Annotated[int, Field(ge=0, lt=2**31, strict=True)] = 0
    """The seed that is sent with `reset`."""
    content: _Text | None = None
    """Text of the turn that is sent with `step`. Without it and without `tool_calls`, the turn
    calls the first offered tool, or contains a sentence about the test."""
    tool_calls: Annotated[list[EnvironmentTestCall], Field(max_length=64)] | None = None
    """Tool calls of the turn."""


class EnvironmentCheck(ContractCheck):
    """One check of a test."""


class EnvironmentExchange(DescribedModel):
    """One call of a test, with its answer."""

    call: str
    """`reset`, `step`, `step again` or `close`."""
    sent: Json
    """The body that was sent."""
    status: int | None
    """Status of the answer; `null` where there was none."""
    answered: str | None
    """The beginning of the answer's body."""
    latency_ms: float | None
    """Milliseconds until the answer."""


class EnvironmentTestResult(DescribedModel):
    """Results of the test of a registered environment."""

    object: Literal["environment.test"] = "environment.test"
    environment_id: str
    """Id of the environment."""
    version: int
    name: str
    """Name of the environment."""
    url: str
    """Address that was called."""
    created_at: int
    duration_ms: float
    """Milliseconds of the whole test."""
    passed: bool
    """True when no check failed."""
    checks: list[EnvironmentCheck]
    """The checks, in the order in which they ran."""
    exchanges: list[EnvironmentExchange]
    """Every call with its answer, in order."""
