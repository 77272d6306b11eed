"""The base of graders that ask a judge: its prompt, its model, its server.

Must not know what the judge answers.
"""

from typing import Self

from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from app.domain.documents.fields import CustomerBaseUrl, JudgeName, SecretHeaders
from app.domain.graders.grader_model import GraderModel, fault_at
from app.domain.graders.judge_prompts import JudgeSampling


class JudgedGrader(GraderModel):
    model: JudgeName
    """Name of the judge: a model of this service, or of the server at `base_url`."""
    sampling_params: JudgeSampling | None = None
    """Sampling of the judge."""
    base_url: CustomerBaseUrl | None = Field(default=None, exclude_if=lambda value: value is None)
    """The customer's own OpenAI-compatible server, e.g. `https://api.example/v1` (an extension)."""
    headers: SecretHeaders | None = Field(default=None, exclude_if=lambda value: value is None)
    """Headers for `base_url` alone (an extension)."""

    @field_validator("base_url")
    @classmethod
    def _takes_a_path(cls, url: str | None) -> str | None:
        if url is not None and ("?" in url or "#" in url):
            raise PydanticCustomError("base_url_error", "a base URL has no '?' and no '#'")
        return url

    @model_validator(mode="after")
    def _headers_have_an_address(self) -> Self:
        if self.headers and self.base_url is None:
            raise fault_at("headers", "they are sent to 'base_url', which is missing")
        return self
