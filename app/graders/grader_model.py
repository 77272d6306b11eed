"""The base of grader configurations, and of those with a judge (source: the SDK)."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal, Self, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)
from pydantic_core import PydanticCustomError, PydanticKnownError
from typing_extensions import override

from app.graders.scorer import GradeRequest, GradingPorts, Scorer
from app.graders.templates import (
    DefinitionWork,
    RenderBudget,
    RenderedTooLong,
    Template,
    TemplateError,
    as_grader_errors,
    parse_template,
    unreadable_item,
)
from app.kit.faults import GRADER_NOT_AVAILABLE
from app.kit.fields import (
    CustomerBaseUrl,
    DescribedModel,
    JudgeName,
    OpenKeys,
    Path,
    SecretHeaders,
    TemplateMark,
)

if TYPE_CHECKING:  # scorers read definitions
    from app.graders.kinds.ai_judge import GroupJudge


@dataclass(frozen=True, slots=True)
class RowRule:
    noun: str
    fault: Callable[[str], str | None]
    """No closure: the rule is pickled for the process that reads the rows."""


def fault_of(parse: Callable[[str], object], faults: type[Exception], text: str) -> str | None:
    try:
        parse(text)
    except faults as fault:
        return str(fault)
    return None


Number = Annotated[float, Field(strict=True)]
Flag = Annotated[bool, Field(strict=True)]
ANSWER: Final = "{{sample.output_text}}"
AUTO: Final = "auto"
NEEDS_ROWS: Final = (
    "'auto' chooses a grader from rows: send it as the grader of a job, or with an 'item' to "
    "graders/run, and use the grader that it returns"
)
MAX_PARTS: Final = 256


def fault_at(
    field: str | int, message: str, *, kind: str = "grader_error", sent: Any = None
) -> ValidationError:
    fault = PydanticCustomError(kind, "{fault}", {"fault": message})
    return ValidationError.from_exception_data(
        "Grader", [{"type": fault, "loc": (field,), "input": sent}]
    )


def checked_template(text: str, info: ValidationInfo) -> str:
    try:
        DefinitionWork.of(info).count(text)
        parse_template(text)
    except TemplateError as fault:
        raise PydanticCustomError("template_error", "{fault}", {"fault": str(fault)}) from None
    return text


TemplateText = Annotated[str, AfterValidator(checked_template), TemplateMark()]


@dataclass(frozen=True, slots=True)
class PartEnds:
    """What the formula of a grader of several parts makes of their scores."""

    worst: Mapping[str, float]
    """The score of each part with which the whole is worst."""
    best: float | None
    """The whole with every part at its best; `None` where the formula does not tell."""


class GraderModel(OpenKeys, DescribedModel):
    documented_keys: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"id": "a text", "version": "a number"}
    )
    model_config = ConfigDict(frozen=True, extra="allow", allow_inf_nan=False)
    passing_score: ClassVar[float | None] = None
    """The lowest passing score if `pass_threshold` is absent; `None`: any score above 0 passes."""
    required_in_evals: ClassVar[tuple[str, ...]] = ()
    """Optional fields that a criterion of an eval must send."""
    compares_rollouts: ClassVar[bool] = False
    needs_environment: ClassVar[bool] = False
    """True if it reads the rewards of an HTTP environment, so that only a job with one may have it.
    """

    pass_threshold: float | None = Field(
        default=None, strict=True, exclude_if=lambda value: value is None
    )
    """Lowest score that counts as passed in displayed results; it does not change the reward."""

    @model_validator(mode="before")
    @classmethod
    def _no_stray_secrets(cls, sent: Any) -> Any:
        """Dropping headers or keys of a grader that sends no request would hide the mistake."""
        if not isinstance(sent, dict):
            return sent
        if sent.get("headers") is not None and "headers" not in cls.model_fields:
            raise fault_at("headers", "a grader of this type sends no requests")
        if sent.get("api_key") is not None:
            raise fault_at("api_key", "readers would see it: send it in 'headers'")
        return sent

    @property
    def highest(self) -> float | None:
        """The highest score, `None` if the definition does not limit it."""
        return None

    @property
    def lowest(self) -> float | None:
        """The lowest score, `None` if the definition does not limit it."""
        return None

    def out_of_reach(self, score: float) -> str | None:
        """Returns why a limit of scores is useless: every score reaches it, or none."""
        low, high = self.lowest, self.highest
        if (low is None or low < score) and (high is None or score <= high):
            return None
        shown = " to ".join("no limit" if end is None else f"{end:g}" for end in (low, high))
        return (
            f"the scores of the grader are from {shown}: send a number above the lowest and not "
            "above the highest, so that some rollouts can pass and some not"
        )

    @model_validator(mode="after")
    def _some_scores_pass(self) -> Self:
        reason = None if self.pass_threshold is None else self.out_of_reach(self.pass_threshold)
        if reason is not None:
            raise fault_at("pass_threshold", reason)
        return self

    @property
    def parts(self) -> "Mapping[str, GraderModel]":
        return {}

    @property
    def part_ends(self) -> PartEnds | None:
        return None

    @property
    def reads_environment(self) -> bool:
        """True if it, or a part of it, reads the rewards of the job's HTTP environment."""
        return self.needs_environment or any(part.reads_environment for part in self.parts.values())

    @property
    def unused_parts(self) -> tuple[str, ...]:
        return ()

    @property
    def reads_beside_templates(self) -> bool:
        """True if the score depends on parts of the sample that no template names."""
        return False

    @property
    def parts_read_by_nature(self) -> tuple[str, ...]:
        """The parts of the sample that it scores instead of its template `input`, if it has one."""
        return ()

    @property
    def row_rules(self) -> "Mapping[str, RowRule]":
        """The templates, by field, whose text of the row it cannot always read."""
        return {}

    @property
    def compiled_field(self) -> str | None:
        """The field with an expression or a JSON Schema, if it is sent."""
        return None

    def check_compiled(self) -> None:
        """Raises `JsonSchemaFault` for one that cannot be compiled. Asks another process."""

    def scorer(self, ports: GradingPorts, *, source: str) -> Scorer:
        """Builds the scorer of a definition with its real headers; `source` names it in faults."""
        raise NotImplementedError

    def group_judge(self, ports: GradingPorts, *, source: str) -> "GroupJudge | None":
        """Builds the judge of whole groups, `None` for a grader that scores each rollout apart."""
        del ports, source
        return None

    @property
    def repeats_its_scores(self) -> bool:
        """True if a rollout always gets the same score, so that none need be journalled."""
        return True


class UnitGrader(GraderModel):
    @property
    @override
    def highest(self) -> float:
        return 1.0

    @property
    @override
    def lowest(self) -> float:
        return 0.0


def graders_in(value: Any, path: Path = ()) -> Iterator[tuple[Path, GraderModel]]:
    if isinstance(value, GraderModel):
        yield path, value
    below: Iterable[tuple[str | int, Any]] = ()
    match value:
        case BaseModel():
            below = value.__dict__.items()
        case dict():
            below = ((name, inner) for name, inner in value.items() if isinstance(inner, BaseModel))
        case list() | tuple():
            below = ((at, inner) for at, inner in enumerate(value) if isinstance(inner, BaseModel))
        case _:
            pass
    for name, inner in below:
        yield from graders_in(inner, (*path, name))


Models = MappingProxyType[str, type[GraderModel]]


def models_of(union: object) -> Models:
    return MappingProxyType(
        {get_args(model.model_fields["type"].annotation)[0]: model for model in get_args(union)}
    )


def read_of(
    models: Models, sent: Any, *, work: DefinitionWork | None = None, beside: Sequence[str] = ()
) -> Any:
    """Reads a grader of one of `models`, by hand, so that an error has the path of the body."""
    if isinstance(sent, GraderModel):
        return sent
    if not isinstance(sent, dict):
        raise PydanticCustomError("grader_type", "a grader must be an object")
    kind = sent.get("type")
    model = models.get(kind) if isinstance(kind, str) else None
    if model is not None:
        return model.model_validate(sent, context=work or DefinitionWork())
    if kind == "multi":
        raise fault_at("type", "a multi grader cannot hold another one")
    if kind == AUTO:
        raise fault_at("type", NEEDS_ROWS)
    if kind is None:
        raise ValidationError.from_exception_data(
            "Grader", [{"type": "missing", "loc": ("type",), "input": sent}]
        )
    known = f"there is no grader type {kind!r:.80}; there are {', '.join([*models, *beside])}"
    raise fault_at("type", known, kind=GRADER_NOT_AVAILABLE)


MAX_MESSAGES: Final = 256
_TEXT_PARTS: Final = ("text", "input_text", "output_text")
_MEDIA_PARTS: Final = ("input_image", "input_audio", "image_url", "audio")


MessageText = Annotated[str, TemplateMark()]
"""A template that `_text_only` has parsed: a union would parse it for each member."""


class TextPart(DescribedModel):
    """A part of the text of a model grader's message."""

    model_config = ConfigDict(frozen=True, extra="allow")

    type: Literal["text", "input_text", "output_text"]
    text: MessageText
    """A template."""


def _text_only(content: Any, handler: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
    for part in content if isinstance(content, list) else [content]:
        kind = part.get("type") if isinstance(part, dict) else None
        if kind in _MEDIA_PARTS:
            raise PydanticCustomError(
                "media_not_available",
                "parts of type '{kind}' are not available: model graders read text",
                {"kind": kind},
            )
        text = part.get("text") if isinstance(part, dict) else part
        if isinstance(text, str):
            checked_template(text, info)
    try:
        return handler(content)
    except ValidationError:
        raise PydanticCustomError(
            "content_error",
            "content is a text, or a part or list of parts of type {kinds} with a text",
            {"kinds": ", ".join(_TEXT_PARTS)},
        ) from None


class JudgeMessage(DescribedModel):
    """One message of a model grader's prompt; texts are templates."""

    model_config = ConfigDict(frozen=True, extra="allow")

    role: Literal["user", "assistant", "system", "developer"]
    """Role of the message."""
    content: Annotated[
        MessageText | TextPart | list[MessageText | TextPart], WrapValidator(_text_only)
    ]
    """A template, or parts with a template each."""
    type: Literal["message"] | None = Field(default=None, exclude_if=lambda value: value is None)

    @property
    def texts(self) -> list[str]:
        parts = self.content if isinstance(self.content, list) else [self.content]
        return [part if isinstance(part, str) else part.text for part in parts]


def _not_too_many(sent: Any) -> Any:
    """Raises the error of a list that is too long before any of its messages is read."""
    if isinstance(sent, list) and len(sent) > MAX_MESSAGES:
        counts = {"field_type": "List", "max_length": MAX_MESSAGES, "actual_length": len(sent)}
        raise PydanticKnownError("too_long", counts)
    return sent


FewMessages = BeforeValidator(_not_too_many)


class JudgeSampling(DescribedModel):
    """Sampling of a model grader; `max_completions_tokens` is the hosted spelling, and the usual
    spelling is accepted too.
    """

    model_config = ConfigDict(frozen=True, extra="allow", allow_inf_nan=False)

    seed: int | None = Field(default=None, ge=-(2**63), lt=2**63, strict=True)
    """Seed of sampling."""
    temperature: float | None = Field(default=None, ge=0, le=2, strict=True)
    """Temperature of sampling."""
    top_p: float | None = Field(default=None, gt=0, le=1, strict=True)
    """Nucleus of sampling."""
    max_completions_tokens: int | None = Field(default=None, ge=1, le=2**31 - 1, strict=True)
    """Largest number of tokens of an answer."""
    max_completion_tokens: int | None = Field(default=None, ge=1, le=2**31 - 1, strict=True)
    """Largest number of tokens of an answer, in the usual spelling."""
    reasoning_effort: str | None = Field(default=None, min_length=1, max_length=32)
    """Reasoning effort of the judge, if its model supports it."""


def _takes_a_path(url: str) -> str:
    if "?" in url or "#" in url:
        raise PydanticCustomError("base_url_error", "a base URL has no '?' and no '#'")
    return url


JudgeBaseUrl = Annotated[CustomerBaseUrl, AfterValidator(_takes_a_path)]
"""Address of the customer's own OpenAI-compatible server, which gets paths appended."""


def check_headers(headers: SecretHeaders | None, base_url: str | None) -> None:
    if headers and base_url is None:
        raise fault_at("headers", "they are sent to 'base_url', which is missing")


class JudgedGrader(UnitGrader):
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


class Prompt:
    """Messages whose templates are parsed once and filled for each sample."""

    def __init__(self, messages: Iterable[JudgeMessage]) -> None:
        self._messages: list[tuple[str, list[Template]]] = [
            (message.role, [parse_template(text) for text in message.texts]) for message in messages
        ]

    def fill(self, *, sample: Mapping[str, Any], item: Mapping[str, Any]) -> list[dict[str, Any]]:
        budget = RenderBudget(sample=sample, item=item)
        return [
            {"role": role, "content": "\n".join(map(budget.render, templates))}
            for role, templates in self._messages
        ]

    def row_fits(self, item: Mapping[str, Any]) -> bool:
        budget = RenderBudget(sample={}, item=item)
        try:
            for _, templates in self._messages:
                for template in templates:
                    if not template.reads_sample:
                        budget.render(template)
        except RenderedTooLong:
            return False
        return True


def fill(prompt: Prompt, request: GradeRequest, *, source: str) -> list[dict[str, Any]]:
    with as_grader_errors(source):
        try:
            return prompt.fill(sample=request.sample, item=request.item)
        except RenderedTooLong as error:
            if prompt.row_fits(request.item):
                raise
            raise unreadable_item(str(error), source=source) from None
