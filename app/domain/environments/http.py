"""`http`: an environment at a customer's address, which resets and steps the episodes of a job.

The rows of the training file are its tasks. Must not know the wire format of its calls.
"""

from typing import Any, ClassVar, Final, Literal

from pydantic import Field

from app.domain.documents.fields import CustomerUrl, SecretHeaders
from app.domain.faults.closed_models import ClosedModel
from app.domain.texts.patterns import TOOL_NAME
from app.domain.tools.rates import RateLimit

HTTP: Final = "http"


def _absent(value: Any) -> bool:
    return value is None


class HttpEnvironmentSpec(ClosedModel):
    """An environment at a customer's address: `reset`, `step` and `close` are POSTed there. It
    offers the tools, answers each turn, and may give the reward.
    """

    grader_options: ClassVar[frozenset[str]] = frozenset()

    type: Literal["http"]
    name: str = Field(default="environment", pattern=TOOL_NAME)
    """Name in messages about lost rollouts."""
    url: CustomerUrl
    """Address that `reset`, `step` and `close` are POSTed to."""
    headers: SecretHeaders | None = None
    """Headers sent with every call; stored encrypted, shown as `[redacted]`."""
    rate_limit: RateLimit | None = None
    """Limit of requests per second."""
    id: str | None = Field(default=None, max_length=128, exclude_if=_absent)
    """Id of the registered environment that it was copied from."""
    version: int | None = Field(default=None, strict=True, exclude_if=_absent)
    """Version of that registered environment."""

    @property
    def missing_option(self) -> str | None:
        """Always `None`: the environment's grader needs no option."""
        return None

    def grader(self) -> dict[str, Any]:
        """Returns the grader of a job without one: the environment's own rewards."""
        return {"type": "environment", "name": "environment"}
