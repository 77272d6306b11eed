"""Grader configurations, a closed union that grows by one class per kind.

Owns every key of a grader: a wrong formula, template or range is refused with its path when the
grader is created, never when the first sample is scored. Unknown keys are kept and echoed. Must not
know how anything is scored. Source: the hosted graders guide and SDK types; `endpoint` is the Agent
RFT alpha's customer grader; `base_url` and `headers` of a model grader are extensions of this
project.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from app.domain.described import Described
from app.domain.documents.fields import (
    CustomerBaseUrl,
    CustomerUrl,
    JudgeName,
    OpenKeys,
    SecretHeaders,
)
from app.domain.graders.formula import NAME, FormulaError, parse_formula
from app.domain.graders.judge_prompts import MAX_MESSAGES, JudgeMessage, JudgeSampling, TemplateText
from app.domain.unknown_keys import GRADER_TYPES as REFUSED_TYPES

NOT_AVAILABLE: Final = "grader_not_available"
"""Error type of a kind that is known and not built; also the API's error code."""
MAX_CHILDREN: Final = 64
Number = Annotated[float, Field(strict=True)]
"""No text and no boolean, as in JSON."""


def _fault_at(
    field: str, message: str, *, kind: str = "grader_error", sent: Any = None
) -> ValidationError:
    """An error at a field of the grader, from a validator that stands for the whole of it."""
    fault = PydanticCustomError(kind, "{fault}", {"fault": message})
    return ValidationError.from_exception_data(
        "Grader", [{"type": fault, "loc": (field,), "input": sent}]
    )


class _GraderModel(OpenKeys, Described):
    documented_keys: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"id": "a text", "version": "a number"}
    )
    model_config = ConfigDict(frozen=True, extra="allow", allow_inf_nan=False)

    pass_threshold: float | None = Field(
        default=None, strict=True, exclude_if=lambda value: value is None
    )
    """Decides pass or fail where results are shown; never the reward."""

    @model_validator(mode="before")
    @classmethod
    def _no_stray_secrets(cls, sent: Any) -> Any:
        """Headers of a kind that sends none, or a bare key, would be stored and echoed."""
        if not isinstance(sent, dict):
            return sent
        if sent.get("headers") is not None and "headers" not in cls.model_fields:
            raise _fault_at("headers", "a grader of this type sends no requests")
        if sent.get("api_key") is not None:
            raise _fault_at("api_key", "readers would see it: send it in 'headers'")
        return sent


class EndpointGrader(_GraderModel):
    """The customer's own HTTP grader: POST `{sample, item, trace_id}`, reply `{"score": …}`."""

    type: Literal["endpoint"]
    url: CustomerUrl
    """Address that samples are sent to."""
    name: str = Field(default="endpoint", min_length=1, max_length=256)
    headers: SecretHeaders | None = None
    """Headers sent with every request; stored encrypted, shown as `[redacted]`."""
    rate_limit: float | None = Field(default=None, gt=0, strict=True)
    """Requests per second this job may send to it."""
    pass_threshold: float | None = Field(default=None, strict=True)


class StringCheckGrader(_GraderModel):
    """1 when the comparison holds, else 0."""

    type: Literal["string_check"]
    name: str = Field(default="string_check", min_length=1, max_length=256)
    input: TemplateText
    """Template of the text that is checked, such as `{{sample.output_text}}`."""
    reference: TemplateText
    """Template of the text that it is compared with."""
    operation: Literal["eq", "ne", "neq", "like", "ilike"]
    """`like`: input contains reference; `ilike` ignores case; `neq` is `ne`."""


# fmt: off
SimilarityMetric = Literal[
    "fuzzy_match", "bleu", "gleu", "meteor",
    "rouge_1", "rouge_2", "rouge_3", "rouge_4", "rouge_5", "rouge_l",
]
# fmt: on


class TextSimilarityGrader(_GraderModel):
    """Similarity of two texts, 0…1."""

    type: Literal["text_similarity"]
    name: str = Field(default="text_similarity", min_length=1, max_length=256)
    input: TemplateText
    """Template of the text that is compared, such as `{{sample.output_text}}`."""
    reference: TemplateText
    """Template of the text that it is compared with."""
    evaluation_metric: SimilarityMetric
    """The measure of similarity."""

    @field_validator("evaluation_metric", mode="before")
    @classmethod
    def _not_cosine(cls, metric: Any) -> Any:
        if metric == "cosine":
            raise PydanticCustomError(
                "metric_not_available", "'cosine' is not available for reinforcement fine-tuning"
            )
        return metric


class ScoreModelGrader(_GraderModel):
    """A model that answers with a number, clamped to `range`."""

    type: Literal["score_model"]
    name: str = Field(default="score_model", min_length=1, max_length=256)
    model: JudgeName
    """Name of the judge: a model of this service, or of the server at `base_url`."""
    input: list[JudgeMessage] = Field(min_length=1, max_length=MAX_MESSAGES)
    """The judge's prompt, whose texts are templates."""
    range: tuple[Number, Number] = (0.0, 1.0)
    """Lowest and highest score."""
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

    @field_validator("range", mode="before")
    @classmethod
    def _default_range(cls, value: Any) -> Any:
        return (0.0, 1.0) if value is None else value

    @field_validator("range")
    @classmethod
    def _ordered(cls, value: tuple[float, float]) -> tuple[float, float]:
        if value[0] >= value[1]:
            raise PydanticCustomError("range_error", "the first number must be below the second")
        return value

    @model_validator(mode="after")
    def _headers_have_an_address(self) -> "ScoreModelGrader":
        if self.headers and self.base_url is None:
            raise _fault_at("headers", "they are sent to 'base_url', which is missing")
        return self


_KINDS: Final[dict[str, type[_GraderModel]]] = {
    "string_check": StringCheckGrader,
    "text_similarity": TextSimilarityGrader,
    "score_model": ScoreModelGrader,
    "endpoint": EndpointGrader,
}


def _read(sent: Any, kinds: dict[str, type[_GraderModel]]) -> Any:
    """By hand, so that an error's place is the path a client wrote, without a union's tags."""
    if isinstance(sent, _GraderModel):
        return sent
    if not isinstance(sent, dict):
        raise PydanticCustomError("grader_type", "a grader is an object")
    kind = sent.get("type")
    model = kinds.get(kind) if isinstance(kind, str) else None
    if model is not None:
        return model.model_validate(sent)
    if kind == "multi":
        raise _fault_at("type", "a multi grader cannot hold another one")
    if kind is None:
        raise _missing("type", sent)
    if isinstance(kind, str) and kind in REFUSED_TYPES:
        raise _fault_at("type", REFUSED_TYPES[kind], kind=NOT_AVAILABLE)
    known = f"there is no grader type {kind!r:.80}; there are {', '.join(kinds)}"
    raise _fault_at("type", known, kind=NOT_AVAILABLE)


def _missing(field: str, sent: Any) -> ValidationError:
    return ValidationError.from_exception_data(
        "Grader", [{"type": "missing", "loc": (field,), "input": sent}]
    )


def _read_child(sent: Any, handler: ValidatorFunctionWrapHandler) -> Any:  # noqa: ARG001 - the signature of a pydantic wrap validator
    return _read(sent, _KINDS)


def _read_any(sent: Any, handler: ValidatorFunctionWrapHandler) -> Any:  # noqa: ARG001 - the signature of a pydantic wrap validator
    return read_grader(sent)


def read_grader(sent: Any) -> "SingleGrader | MultiGrader":
    """A grader of any kind from JSON or an instance. Raises `ValidationError`."""
    grader: SingleGrader | MultiGrader = _read(sent, {**_KINDS, "multi": MultiGrader})
    return grader


SingleGrader = StringCheckGrader | TextSimilarityGrader | ScoreModelGrader | EndpointGrader
ChildGrader = Annotated[SingleGrader, Field(discriminator="type"), WrapValidator(_read_child)]
ChildName = Annotated[str, Field(pattern=f"^{NAME}$")]


class MultiGrader(_GraderModel):
    """Several graders and the formula that joins their scores. No nesting."""

    type: Literal["multi"]
    name: str = Field(default="multi", min_length=1, max_length=256)
    graders: dict[ChildName, ChildGrader] = Field(min_length=1, max_length=MAX_CHILDREN)
    """The parts by name."""
    calculate_output: str
    """Formula of the reward over the names of the parts, such as `0.5 * exact + judge`."""
    invalid_grade: float | None = Field(
        default=None, strict=True, exclude_if=lambda value: value is None
    )
    """The score when the formula has no finite value."""

    @field_validator("graders", mode="before")
    @classmethod
    def _is_a_map(cls, sent: Any) -> Any:
        if isinstance(sent, list) or (isinstance(sent, dict) and isinstance(sent.get("type"), str)):
            raise PydanticCustomError(
                "graders_map",
                "a map of name to grader, such as {\"accuracy\": {…}}; 'calculate_output' uses the "
                "names",
            )
        return sent

    @field_validator("calculate_output")
    @classmethod
    def _is_a_formula(cls, text: str) -> str:
        try:
            parse_formula(text)
        except FormulaError as error:
            raise PydanticCustomError("formula_error", "{fault}", {"fault": str(error)}) from None
        return text

    @model_validator(mode="after")
    def _names_are_known(self) -> "MultiGrader":
        unknown = sorted(parse_formula(self.calculate_output).names - self.graders.keys())
        if unknown:
            known = f"'{unknown[0]}' is not one of the graders: {', '.join(self.graders)}"
            raise _fault_at("calculate_output", known)
        return self


Grader = Annotated[
    SingleGrader | MultiGrader, Field(discriminator="type"), WrapValidator(_read_any)
]
GRADER_TYPES: Final = (*_KINDS, "multi")
GRADER_MODELS: Final[tuple[type[BaseModel], ...]] = (*_KINDS.values(), MultiGrader)
