"""Grader configurations, a closed union that grows by one class per kind.

Source: the hosted graders guide; `endpoint` is the Agent RFT alpha's customer grader.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class EndpointGrader(BaseModel):
    """The customer's own HTTP grader: POST `{sample, item, trace_id}`, reply `{"score": …}`."""

    model_config = ConfigDict(frozen=True, extra="allow", allow_inf_nan=False)

    type: Literal["endpoint"]
    url: str = Field(min_length=1, max_length=2048)
    name: str = "endpoint"
    headers: dict[str, str] | None = None
    rate_limit: float | None = Field(default=None, gt=0)
    """Requests per second this job may send to it."""
    pass_threshold: float | None = None


Grader = Annotated[EndpointGrader, Field()]
GRADER_TYPES = ("endpoint",)
