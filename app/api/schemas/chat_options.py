"""Tools and formats of a chat request, for the specification (`app.domain.chat` checks them)."""

from typing import Any, Literal

from pydantic import ConfigDict, Field

from app.domain.documents.described import DescribedModel
from app.domain.texts.patterns import TOOL_NAME


class _ExtensibleOption(DescribedModel):
    model_config = ConfigDict(extra="allow")


class ChatStreamOptions(_ExtensibleOption):
    """Options of a streamed answer."""

    include_usage: bool | None = None
    """True sends the usage in a last chunk of its own."""
    include_obfuscation: Literal[False] | None = None
    """Only false: chunks have no padding."""


class ChatFunction(_ExtensibleOption):
    """A function that the model may call."""

    name: str = Field(pattern=TOOL_NAME)
    """Name that calls contain."""
    description: str | None = None
    """Its purpose, for the model."""
    parameters: dict[str, Any] | None = None
    """JSON schema of its arguments, of type `object`."""
    strict: bool | None = None
    """Changes nothing: arguments are not constrained by the schema."""


class ChatTool(_ExtensibleOption):
    """A tool that the client runs."""

    type: Literal["function"]
    """Always `function`."""
    function: ChatFunction
    """The function."""


class ChatFunctionName(_ExtensibleOption):
    """The function that the model must call."""

    name: str = Field(pattern=TOOL_NAME)
    """Name of one of the tools."""


class ChatNamedTool(_ExtensibleOption):
    """The choice of one tool."""

    type: Literal["function"]
    """Always `function`."""
    function: ChatFunctionName
    """The function."""


class ChatJsonSchema(_ExtensibleOption):
    """A named JSON schema."""

    name: str = Field(pattern=TOOL_NAME)
    """Name of the schema."""
    description: str | None = None
    """Description of the schema, for the model."""
    schema_: dict[str, Any] = Field(alias="schema", description="The JSON schema.")
    strict: bool | None = None
    """True requires answers that follow the schema exactly."""


class ChatResponseFormat(_ExtensibleOption):
    """Format of the answer."""

    type: Literal["text", "json_object", "json_schema"]
    """Kind of the format."""
    json_schema: ChatJsonSchema | None = None
    """The schema, for `json_schema`."""
