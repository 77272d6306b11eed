"""MCP servers of a job: the entry that a customer sends, and the listing that a run stores."""

import json
import re
from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic_core import PydanticCustomError

from app.kit.fields import CustomerUrl, DescribedModel, OpenKeys, SecretHeaders, SecretString
from app.kit.texts import SERVER_LABEL
from app.tools.tools import RateLimit

MAX_MCP_SERVERS: Final = 16
MAX_ALLOWED_TOOLS: Final = 128
MAX_TOOL_NAME: Final = 128
"""The protocol's limit of characters of a tool's name; a model can call only shorter ones."""
MAX_SHOWN_TOOLS: Final = 10
NEVER: Final = "never"


def _absent(value: Any) -> bool:
    return value is None


def _empty(value: Any) -> bool:
    return not value


def _never(sent: Any) -> Any:
    if sent is not None and sent != NEVER:
        raise PydanticCustomError(
            "require_approval", "it must be 'never': no one is asked during a rollout"
        )
    return sent


def _visible(sent: str) -> str:
    if not (sent.isascii() and sent.isprintable()) or sent != sent.strip():
        raise PydanticCustomError(
            "authorization", "it must be a token of printable ASCII characters"
        )
    if sent.lower().startswith("bearer "):
        raise PydanticCustomError(
            "authorization", "it must be the token alone: 'Bearer' is put before it"
        )
    return sent


McpToolName = Annotated[str, Field(min_length=1, max_length=MAX_TOOL_NAME)]


class AllowedTools(DescribedModel):
    """A filter over the tools that a server lists."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tool_names: tuple[McpToolName, ...] | None = Field(
        default=None, min_length=1, max_length=MAX_ALLOWED_TOOLS
    )
    """Names of the tools to offer; absent: all."""
    read_only: bool | None = Field(default=None, strict=True)
    """True: only tools that the server annotates as read-only; false: only the others."""


_NAMES: Final = TypeAdapter(
    Annotated[tuple[McpToolName, ...], Field(min_length=1, max_length=MAX_ALLOWED_TOOLS)]
)


# Reads the members by hand, so that an error's place is the path that a client wrote.
def _allowed(sent: Any, handler: ValidatorFunctionWrapHandler) -> Any:  # noqa: ARG001 - pydantic's signature
    match sent:
        case None | AllowedTools():
            return sent
        case list() | tuple():
            return _NAMES.validate_python(sent)
        case _:
            return AllowedTools.model_validate(sent)


class McpTool(DescribedModel):
    """A tool of an MCP server, as a run listed it."""

    model_config = ConfigDict(frozen=True)

    name: str
    """Name that the model calls."""
    description: str | None = None
    """The server's description."""
    input_schema_json: str
    """JSON schema of the arguments, as text, so that its keys keep the server's order."""

    @property
    def characters(self) -> int:
        return len(self.name) + len(self.description or "") + len(self.input_schema_json)

    @property
    def input_schema(self) -> dict[str, Any]:
        schema: dict[str, Any] = json.loads(self.input_schema_json)
        return schema

    @property
    def function(self) -> dict[str, Any]:
        described = {} if self.description is None else {"description": self.description}
        function = {"name": self.name, **described, "parameters": self.input_schema}
        return {"type": "function", "function": function}


class McpResource(DescribedModel):
    """A resource of an MCP server, or a template of addresses of resources, as a run listed it."""

    model_config = ConfigDict(frozen=True)

    uri: str
    """Address of the resource in the server's own form, or the template (RFC 6570)."""
    template: bool = Field(default=False, exclude_if=_empty)
    """True: the address has expressions such as `{name}`, which the model replaces by values."""
    name: str
    """The server's name for it."""
    description: str | None = None
    """The server's description."""
    mime_type: str | None = None
    """Kind of the content, as the server says."""


class McpListing(DescribedModel):
    """The tools of a server at the start of a job. Every rollout of the job is offered these."""

    model_config = ConfigDict(frozen=True)

    protocol_version: str
    """Version of the protocol that server and service agreed on."""
    tools: tuple[McpTool, ...]
    """The tools that `allowed_tools` permits, in the server's order; the last one reads the
    resources, where they are offered."""
    resources: tuple[McpResource, ...] = Field(default=(), exclude_if=_empty)
    """The resources that the model can read; none where `resources` is not asked for."""


class McpListingSummary(DescribedModel):
    """The summary of a listing: lists of jobs show it instead of the tools."""

    model_config = ConfigDict(frozen=True)

    protocol_version: str
    """Version of the protocol that server and service agreed on."""
    tool_count: int
    """Number of tools that the job offers."""
    tool_names: tuple[str, ...]
    """Names of the first 10 tools, in the server's order."""

    @classmethod
    def of(cls, listing: McpListing) -> Self:
        names = tuple(tool.name for tool in listing.tools[:MAX_SHOWN_TOOLS])
        return cls(
            protocol_version=listing.protocol_version,
            tool_count=len(listing.tools),
            tool_names=names,
        )


class McpServerSpec(OpenKeys, DescribedModel):
    """An MCP server whose tools the service lists and calls for the model, over streamable HTTP."""

    model_config = ConfigDict(frozen=True, extra="allow", allow_inf_nan=False)

    type: Literal["mcp"] = "mcp"
    server_label: str = Field(pattern=SERVER_LABEL)
    """Name of the server in messages; unique in the job."""
    server_url: CustomerUrl
    """Address of the server."""
    headers: SecretHeaders | None = None
    """Headers sent with every request; stored encrypted, shown as `[redacted]`."""
    authorization: Annotated[SecretString, AfterValidator(_visible)] | None = None
    """Token that is sent as `Authorization: Bearer …`; stored encrypted, shown as `[redacted]`."""
    allowed_tools: Annotated[
        tuple[McpToolName, ...] | AllowedTools | None, WrapValidator(_allowed)
    ] = None
    """Names of the tools to offer, or a filter; absent: all. A name that the server does not list
    is an error."""
    require_approval: Annotated[Literal["never"], BeforeValidator(_never)] | None = None
    """Only `never`, which is also the default: no one approves a call during a rollout."""
    resources: bool = Field(default=False, strict=True, exclude_if=_empty)
    """True: the server's resources and resource templates are listed too, and the model is offered
    a tool `read_{server_label}` that reads them (an extension)."""
    rate_limit: RateLimit | None = Field(default=None, exclude_if=_absent)
    """Limit of requests per second (an extension)."""
    listing: McpListing | None = Field(default=None, exclude_if=_absent)
    """The tools as the job's first run listed them; set by the service, and shown only in a single
    job (an extension)."""
    listing_summary: McpListingSummary | None = Field(default=None, exclude_if=_absent)
    """The summary of the listing, which lists of jobs show too; set by the service (an extension).
    """

    @property
    def names(self) -> tuple[str, ...] | None:
        match self.allowed_tools:
            case AllowedTools(tool_names=names):
                return names
            case names:
                return names

    @property
    def read_only(self) -> bool | None:
        match self.allowed_tools:
            case AllowedTools(read_only=only):
                return only
            case _:
                return None

    @property
    def sent_headers(self) -> dict[str, str]:
        token = self.authorization
        own = {} if token is None else {"Authorization": f"Bearer {token}"}
        return {**(self.headers or {}), **own}


MAX_RESOURCES: Final = 200
"""Resources and templates of a server: each is named in every prompt."""
URI: Final = "uri"
_MAX_URI: Final = 2_048
_EXPRESSION: Final = re.compile(r"\{([^{}]*)\}")
_OPTIONAL: Final = frozenset("+#./;?&")
"""Operators of expressions (RFC 6570) that may become no character."""
_PREFIX: Final = "read_"
_MAX_NAME: Final = 64


def reading_tool_name(server_label: str) -> str:
    return f"{_PREFIX}{server_label}"[:_MAX_NAME]


def reading_tool(server_label: str, resources: Sequence[McpResource]) -> McpTool:
    lines = [_first_line(server_label)]
    lines += [f"- {resource.uri}: {_described(resource)}" for resource in resources]
    uri: dict[str, Any] = {"type": "string"}
    if any(resource.template for resource in resources):
        uri["description"] = "An address above, with a value in place of each {expression}."
    else:
        uri["enum"] = [resource.uri for resource in resources]
    schema = {"type": "object", "properties": {URI: uri}, "required": [URI]}
    return McpTool(
        name=reading_tool_name(server_label),
        description="\n".join(lines),
        input_schema_json=json.dumps(schema, ensure_ascii=False),
    )


def is_reading_tool(tool: McpTool, server_label: str) -> bool:
    described = (tool.description or "").startswith(_first_line(server_label))
    return described and tool.name == reading_tool_name(server_label)


def _first_line(server_label: str) -> str:
    return f"Reads a resource of {server_label}:"


def _described(resource: McpResource) -> str:
    kind = "" if resource.mime_type is None else f" ({resource.mime_type})"
    more = "" if resource.description is None else f", {resource.description}"
    return f"{resource.name}{kind}{more}"


def listed_resource(uri: Any, resources: Sequence[McpResource]) -> McpResource | None:
    if not isinstance(uri, str) or len(uri) > _MAX_URI:
        return None
    exact = (each for each in resources if not each.template and each.uri == uri)
    fitting = (each for each in resources if each.template and _fits(uri, each.uri))
    return next(exact, None) or next(fitting, None)


def unread_uri(arguments: dict[str, Any], resources: Sequence[McpResource]) -> str:
    listed = ", ".join(resource.uri for resource in resources)
    uri = str(arguments.get(URI))
    return f"Error: there is no resource {uri!r:.200}. Resources: {listed}."


def _fits(uri: str, template: str) -> bool:
    parts = _EXPRESSION.split(template)
    fixed, expressions = parts[::2], parts[1::2]
    if not expressions:
        return uri == template
    if not uri.startswith(fixed[0]):
        return False
    at = len(fixed[0])
    for text, expression in zip(fixed[1:-1], expressions[:-1], strict=True):
        found = uri.find(text, at + _least(expression))
        if found < 0:
            return False
        at = found + len(text)
    return uri.endswith(fixed[-1]) and len(uri) - len(fixed[-1]) >= at + _least(expressions[-1])


def _least(expression: str) -> int:
    return 0 if expression[:1] in _OPTIONAL else 1
