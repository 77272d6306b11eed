"""Trial calls of graders and tools on the wire. Source: the Agent RFT alpha."""

from dataclasses import asdict
from typing import Annotated, Any, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from app.graders.choice import GraderChoice, choose_by_item
from app.graders.definitions import AnyGrader, AutoGrader, Grader
from app.graders.samples import CALL_KEYS, CHAT_CALL_KEYS, CHAT_FUNCTION_KEYS
from app.graders.template_faults import ENTRY_KEYS, SAMPLE_KEYS
from app.kit.faults import unknown_key
from app.kit.fields import DescribedModel, Json
from app.kit.schemas import ClosedBody, WireModel
from app.kit.texts import PRINTABLE_ASCII, TOOL_NAME
from app.tools.references import TriedGrader
from app.tools.schemas import RegistryWarning
from app.tools.tools import ToolSpec, ToolTrial

HeaderSafe = Annotated[str, StringConstraints(pattern=PRINTABLE_ASCII)]


class SampleParts(WireModel):
    """Keys of `sample` as graders of jobs read them; they replace the values derived from the
    answer. Unknown keys, also of a call or a turn, are refused.
    """

    output_tools: list[Json] | None = None
    """Tool calls of the last turn, as in a chat message."""
    output_reasoning_summary: str | None = None
    """Reasoning of the last turn."""
    tool_calls: list[Json] | None = None
    """Tool calls of the whole rollout; those of `output_tools` when absent. A call may be in chat
    form, with its name and arguments under `function`. Where it has no `arguments_json`, it is read
    from `arguments`."""
    turns: list[Json] | None = None
    """Turns of the rollout."""
    stop_reason: str | None = None
    """Reason why the rollout ended."""

    @model_validator(mode="after")
    def _refuse_unknown_keys(self) -> Self:
        for key, value in (self.model_extra or {}).items():
            if key not in SAMPLE_KEYS and value is not None:
                raise unknown_key(key, SAMPLE_KEYS)
        for name, known in ENTRY_KEYS.items():
            for number, entry in enumerate(getattr(self, name) or ()):
                if name == "tool_calls" and isinstance(entry.get("function"), dict):
                    _check_chat_call(entry, (name, number), more=_ANSWERED_KEYS)
                    continue
                unknown = next((key for key in entry if key not in known), None)
                if unknown is not None:
                    raise unknown_key(unknown, known, (name, number))
        for number, call in enumerate(self.output_tools or ()):
            _check_chat_call(call, ("output_tools", number))
        return self

    def sent(self) -> Json:
        return self.model_dump(exclude_unset=True)


_ANSWERED_KEYS = tuple(key for key in CALL_KEYS if key not in ("id", *CHAT_FUNCTION_KEYS))


def _check_chat_call(
    call: Json, path: tuple[str | int, ...], *, more: tuple[str, ...] = ()
) -> None:
    function = call.get("function")
    parts: list[tuple[Json, tuple[str, ...], tuple[str | int, ...]]] = [
        (call, (*CHAT_CALL_KEYS, *more), path)
    ]
    if isinstance(function, dict):
        parts.append((function, CHAT_FUNCTION_KEYS, (*path, "function")))
    for part, known, holder in parts:
        unknown = next((key for key in part if key not in known), None)
        if unknown is not None:
            raise unknown_key(unknown, known, holder)


class RunGraderRequest(ClosedBody):
    """A grader and the sample that it scores in a trial run."""

    grader: TriedGrader
    """The grader, as in a create call of a job. `auto` chooses one from `item`."""
    model_sample: str
    """The answer that is graded."""
    item: Json | None = None
    """The row, as templates and endpoints read it."""
    sample: SampleParts | None = None
    """Further keys of `sample` besides the answer (an extension)."""
    trace_id: HeaderSafe | None = None
    """Id of the call, sent to an endpoint."""

    def to_grader(self) -> tuple[AnyGrader, GraderChoice | None]:
        if isinstance(self.grader, AutoGrader):
            choice = choose_by_item(self.grader, self.item)
            return choice.read(), choice
        return self.grader, None


class ValidateGraderRequest(ClosedBody):
    """A grader to check, with no sample."""

    grader: Grader
    """The grader, as in a create call of a job."""


class ValidatedGrader(DescribedModel):
    """The grader as it was read, with its defaults."""

    grader: Json
    """The grader with default values added and secrets redacted."""
    warnings: list[RegistryWarning] | None = Field(
        default=None, exclude_if=lambda value: value is None
    )
    """A grader whose score does not depend on the answer (an extension)."""


class GraderErrorFlags(DescribedModel):
    """Flags of what went wrong in a trial run."""

    formula_parse_error: bool
    """The formula of a multi grader has no finite value."""
    sample_parse_error: bool
    """The sample is not in the form that the grader reads."""
    truncated_observation_error: bool
    """The sample was cut before it was graded."""
    unresponsive_reward_error: bool
    """The grader did not answer in time."""
    invalid_variable_error: bool
    """A template names a path that `item` or `sample` lacks."""
    other_error: bool
    """Any other fault; `details` names it."""
    python_grader_server_error: bool
    """The sandbox did not run the program."""
    python_grader_server_error_type: str | None
    """`sandbox_unavailable`, or `null` without this fault."""
    python_grader_runtime_error: bool
    """The function raised, passed a limit of the sandbox, or returned no number."""
    python_grader_runtime_error_details: str | None
    """The error, the returned value or the limit; `null` without this fault."""
    model_grader_server_error: bool
    """The judge did not answer."""
    model_grader_refusal_error: bool
    """The judge refused to answer."""
    model_grader_parse_error: bool
    """The judge's answer contains no score."""
    model_grader_server_error_details: str | None
    """Answer of the judge's server."""
    details: str | None
    """Reason of a raised flag (an extension)."""


class GraderRunMetadata(DescribedModel):
    """The numbers of a trial run beside its reward."""

    name: str
    """Name of the grader."""
    type: str
    """Kind of the grader."""
    errors: GraderErrorFlags
    """Faults of this run; each one that is true gave a score of 0."""
    execution_time: float
    """Seconds."""
    scores: dict[str, float]
    """Scores of a multi grader's parts, by name."""
    reasons: dict[str, str]
    """Reasons of the scores: of a multi grader's parts by name, and of the whole as `""` (an
    extension)."""
    token_usage: int | None
    """Tokens that judges used; `null` without a judge."""
    sampled_model_name: str | None
    """Name of the judge's model."""


class GraderRun(DescribedModel):
    """Result of a trial run; a grader's fault gives reward 0 and error flags, not an HTTP error."""

    reward: float
    """The score."""
    metadata: GraderRunMetadata
    """Faults, parts, time and tokens of the run."""
    sub_rewards: dict[str, float]
    """Scores of a multi grader's parts, by name."""
    model_grader_token_usage_per_model: dict[str, Json]
    """Tokens that judges used, by model."""
    grader_choice: GraderChoice | None = Field(default=None, exclude_if=lambda value: value is None)
    """The grader that `auto` stood for (an extension)."""

    @classmethod
    def of(
        cls, grader: Any, result: Any, elapsed_s: float, *, choice: GraderChoice | None = None
    ) -> "GraderRun":
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
                reasons=result.reasons,
                token_usage=sum(used["total_tokens"] for used in usage.values()) if usage else None,
                sampled_model_name=result.sampled_model_name,
            ),
            sub_rewards=result.sub_scores,
            model_grader_token_usage_per_model=usage,
            grader_choice=choice,
        )


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
