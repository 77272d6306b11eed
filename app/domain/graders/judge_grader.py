"""The base of graders that call a judge: its prompt, its model, its server.

Must not know the judge's answers.
"""

from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from app.domain.documents.fields import CustomerBaseUrl, JudgeName, SecretHeaders
from app.domain.graders.grader_model import GraderModel, fault_at
from app.domain.graders.judge_prompts import JudgeSampling


def _takes_a_path(url: str) -> str:
    if "?" in url or "#" in url:
        raise PydanticCustomError("base_url_error", "a base URL has no '?' and no '#'")
    return url


JudgeBaseUrl = Annotated[CustomerBaseUrl, AfterValidator(_takes_a_path)]
"""Address of the customer's own OpenAI-compatible server, which gets paths appended."""


def check_headers(headers: SecretHeaders | None, base_url: str | None) -> None:
    """Raises a `ValidationError` for `headers` that would never be sent."""
    if headers and base_url is None:
        raise fault_at("headers", "they are sent to 'base_url', which is missing")


class JudgedGrader(GraderModel):
    model: JudgeName
    """Name of the judge: a model of this service, or of the server at `base_url`."""
    sampling_params: JudgeSampling | None = None
    """Sampling of the judge."""
    base_url: JudgeBaseUrl | None = Field(default=None, exclude_if=lambda value: value is None)
    """The customer's own OpenAI-compatible server, e.g. `https://api.example/v1` (an extension)."""
    headers: SecretHeaders | None = Field(default=None, exclude_if=lambda value: value is None)
    """Headers for `base_url` alone (an extension)."""

    @model_validator(mode="after")
    def _headers_have_an_address(self) -> Self:
        check_headers(self.headers, self.base_url)
        return self
