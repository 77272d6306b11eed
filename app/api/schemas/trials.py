"""Trial runs on the wire. Source: the hosted API's `RunGrader*`, `ValidateGrader*` (alpha) and the
Agent RFT alpha's `tool/run`.
"""

from dataclasses import asdict
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StringConstraints

from app.api.schemas.common import Json, WireModel
from app.domain.graders.graders import Grader
from app.domain.tools.tools import TOOL_NAME, ToolSpec
from app.domain.tools.trials import ToolTrial

HeaderSafe = Annotated[str, StringConstraints(pattern=r"^[!-~]{1,256}$")]
"""A value that is also sent in a header."""


class RunGraderRequest(WireModel):
    grader: Grader
    model_sample: str
    item: Json | None = None
    trace_id: HeaderSafe | None = None


class ValidateGraderRequest(WireModel):
    grader: Grader


class ValidatedGrader(BaseModel):
    grader: Json
    """The grader with default values added and secrets redacted."""


class GraderErrorFlags(BaseModel):
    formula_parse_error: bool
    sample_parse_error: bool
    truncated_observation_error: bool
    unresponsive_reward_error: bool
    invalid_variable_error: bool
    other_error: bool
    python_grader_server_error: bool
    python_grader_server_error_type: str | None
    python_grader_runtime_error: bool
    python_grader_runtime_error_details: str | None
    model_grader_server_error: bool
    model_grader_refusal_error: bool
    model_grader_parse_error: bool
    model_grader_server_error_details: str | None
    details: str | None
    """Reason of a raised flag (an extension)."""


class GraderRunMetadata(BaseModel):
    name: str
    type: str
    errors: GraderErrorFlags
    execution_time: float
    scores: dict[str, float]
    token_usage: int | None
    sampled_model_name: str | None


class GraderRun(BaseModel):
    """Result of a trial run. A grader's fault gives reward 0 and error flags, not an HTTP error."""

    reward: float
    metadata: GraderRunMetadata
    sub_rewards: dict[str, float]
    model_grader_token_usage_per_model: dict[str, Json]

    @classmethod
    def of(cls, grader: Any, result: Any, elapsed_s: float) -> "GraderRun":
        """`result` is an `app.grading` score."""
        usage = {
            model: {
                "prompt_tokens": used.prompt_tokens,
                "total_tokens": used.prompt_tokens + used.completion_tokens,
                "completion_tokens": used.completion_tokens,
                "cached_tokens": used.cached_tokens,
            }
            for model, used in result.token_usage.items()
        }
        return cls(
            reward=result.score,
            metadata=GraderRunMetadata(
                name=grader.name,
                type=grader.type,
                errors=GraderErrorFlags(**asdict(result.errors)),
                execution_time=elapsed_s,
                scores=result.sub_scores,
                token_usage=sum(used["total_tokens"] for used in usage.values()) if usage else None,
                sampled_model_name=result.sampled_model_name,
            ),
            sub_rewards=result.sub_scores,
            model_grader_token_usage_per_model=usage,
        )


class RunToolRequest(WireModel):
    """A tool call as training sends it, with the URL of the tool."""

    type: Literal["function_call"] = "function_call"
    name: Annotated[str, StringConstraints(pattern=TOOL_NAME)]
    server_url: Annotated[str, StringConstraints(min_length=1, max_length=2048)]
    headers: dict[str, str] | None = None
    arguments: str
    """JSON as text."""
    item: Json | None = None
    trace_id: HeaderSafe | None = None
    id: HeaderSafe | None = None
    call_id: HeaderSafe | None = None

    def to_trial(self) -> ToolTrial:
        """Returns the trial; keys that are no part of the call are the tool's."""
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


class ToolRun(BaseModel):
    type: Literal["function_call_output"] = "function_call_output"
    id: str
    call_id: str
    output: str
    """Text that a model would read: the tool's `output`, or its 4xx reply as text."""
    error: str | None
    """Class of the failure: `http_404`, `too_large`, `tool_reported`, … (an extension)."""
    attempts: int = Field(ge=0)
    latency_s: float
