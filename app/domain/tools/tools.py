"""Tools of a customer, as a job registers them.

Source: the hosted Agent RFT create call (`method.reinforcement.tools`). Values of unknown keys are
kept and echoed; headers are secrets that only the tool itself receives.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar, Final

from pydantic import ConfigDict, Field

from app.domain.documents.described import DescribedModel
from app.domain.documents.fields import CustomerUrl, OpenKeys, SecretHeaders
from app.domain.texts.patterns import TOOL_NAME

LABEL: Final = "server_label"
"""Key with the server's label of a tool that an MCP server answers."""


class ToolSpec(OpenKeys, DescribedModel):
    """One tool: the name that a model calls, and the endpoint that answers."""

    documented_keys: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "id": "a text",
            "version": "a number",
            "description": "a text",
            "rate_limit": "a number",
            LABEL: "a text",
        }
    )
    free_form_keys: ClassVar[frozenset[str]] = frozenset({"parameters"})
    model_config = ConfigDict(frozen=True, extra="allow", allow_inf_nan=False)

    name: str = Field(pattern=TOOL_NAME)
    """Name that the model calls; rows offer it with its schema."""
    server_url: CustomerUrl
    """Address that the calls are sent to."""
    headers: SecretHeaders | None = None
    """Headers sent with every call; stored encrypted, shown as `[redacted]`."""
