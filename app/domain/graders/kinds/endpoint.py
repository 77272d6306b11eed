"""`endpoint`: the customer's own HTTP grader. Source: the Agent RFT alpha."""

from typing import Literal

from pydantic import Field
from typing_extensions import override

from app.domain.documents.fields import CustomerUrl, SecretHeaders
from app.domain.graders.grader_model import GraderModel
from app.domain.tools.rates import RateLimit


class EndpointGrader(GraderModel):
    """The customer's own HTTP grader: POST `{sample, item, trace_id}`, reply `{"score": …}`."""

    type: Literal["endpoint"]
    url: CustomerUrl
    """Address that samples are sent to."""
    name: str = Field(default="endpoint", min_length=1, max_length=256)
    headers: SecretHeaders | None = None
    """Headers sent with every request; stored encrypted, shown as `[redacted]`."""
    rate_limit: RateLimit | None = None
    """Requests per second this job may send to it."""
    pass_threshold: float | None = Field(default=None, strict=True)

    @property
    @override
    def reads_beside_templates(self) -> bool:
        return True
