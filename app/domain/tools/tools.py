"""A customer's tools, as a job registers them.

Source: the hosted Agent RFT create call (`method.reinforcement.tools`). Unknown keys are kept and
echoed; headers are secrets and never leave the service except towards the tool itself.
"""

from pydantic import BaseModel, ConfigDict, Field

TOOL_NAME = r"^[a-zA-Z0-9_-]{1,64}$"


class ToolSpec(BaseModel):
    model_config = ConfigDict(frozen=True, extra="allow", allow_inf_nan=False)

    name: str = Field(pattern=TOOL_NAME)
    server_url: str = Field(min_length=1, max_length=2048)
    headers: dict[str, str] | None = None
