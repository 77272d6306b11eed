"""Trial calls of tools on the wire. Source: the Agent RFT alpha's `tool/run`."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from app.api.schemas.common import WireModel
from app.api.schemas.trials import HeaderSafe
from app.domain.documents.described import DescribedModel
from app.domain.documents.json_object import Json
from app.domain.texts.patterns import TOOL_NAME
from app.domain.tools.tools import ToolSpec
from app.domain.tools.trials import ToolTrial


class RunToolRequest(WireModel):
    """A tool call as training sends it, with the URL of the tool."""

    type: Literal["function_call"] = "function_call"
    """As in the calls of training."""
    name: Annotated[str, StringConstraints(pattern=TOOL_NAME)]
    """Name of the tool."""
    server_url: Annotated[str, StringConstraints(min_length=1, max_length=2048)]
    """Address of the tool."""
    headers: dict[str, str] | None = None
    """Headers that are sent to it."""
    arguments: str
    """JSON as text."""
    item: Json | None = None
    """The row that is sent with the call."""
    trace_id: HeaderSafe | None = None
    """Rollout id to send with the call."""
    id: HeaderSafe | None = None
    """Id of the call's message."""
    call_id: HeaderSafe | None = None
    """Id of the call."""

    def to_trial(self) -> ToolTrial:
        """Returns the trial; keys that are not part of the call belong to the tool."""
        sent = {
            "item": self.item,
            "trace_id": self.trace_id,
            "call_id": self.call_id,
            "function_call_id": self.id,
        }
        tool = {"name": self.name, "server_url": self.server_url, "headers": self.headers}
        return ToolTrial(
            tool=ToolSpec.model_validate({**(self.model_extra or {}), **tool}),
            arguments=self.arguments,
            **{key: value for key, value in sent.items() if value is not None},  # type: ignore[arg-type]  # mypy cannot match a filtered dict to the keywords
        )


class ToolRun(DescribedModel):
    """The endpoint's answer to a trial call, as the model would read it."""

    type: Literal["function_call_output"] = "function_call_output"
    """As in the replies of tools."""
    id: str
    """Id of the reply's message."""
    call_id: str
    """Id of the call."""
    output: str
    """Text that a model would read: the tool's `output`, or its 4xx reply as text."""
    error: str | None
    """Class of the failure: `http_404`, `too_large`, `tool_reported`, … (an extension)."""
    attempts: int = Field(ge=0)
    """Requests that were sent."""
    latency_s: float
    """Seconds until the last answer."""
