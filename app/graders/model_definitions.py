"""The base of graders that call a judge: its prompt, its model, its server."""

from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import (
    AfterValidator,
    Field,
    StringConstraints,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError
from typing_extensions import override

from app.graders.grader_model import ANSWER, MAX_PARTS, GraderModel, Number, fault_at
from app.graders.judge_prompts import (
    MAX_MESSAGES,
    FewMessages,
    JudgeMessage,
    JudgeSampling,
    TemplateText,
)
from app.graders.templates import CriterionText, LabelText, StandardsText
from app.kit.faults import ClosedModel
from app.kit.fields import CustomerBaseUrl, JudgeName, SecretHeaders


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


DEFAULT_RUBRIC: Final = """\
- A rollout that reaches the goal scores clearly higher than one that does not.
- Among rollouts that reach it, the more direct one scores higher: fewer wasted steps and calls.
- A difference of scores is as large as the difference of quality: nearly equal rollouts score \
nearly the same.
- A rollout that makes real progress without reaching the goal scores more than one without any."""


class AiJudgeGrader(JudgedGrader):
    """A judge that scores the rollouts of a group against each other, 0…1, also as a part of a
    `multi` grader of a job. In an eval or a trial run it scores a single rollout.
    """

    compares_rollouts: ClassVar[bool] = True

    type: Literal["ai_judge"]
    name: str = Field(default="ai_judge", min_length=1, max_length=256)
    rubric: StandardsText = Field(default=DEFAULT_RUBRIC, min_length=1, max_length=20_000)
    """Criteria of the judge. Not a template."""
    repeats: int = Field(default=1, ge=1, le=8, strict=True)
    """Number of calls for each group, each with the rollouts in another order; the score is the
    mean.
    """
    shuffle_seed: int = Field(default=0, ge=0, lt=2**63, strict=True)
    """Seed of these orders."""

    @property
    @override
    def highest(self) -> float:
        return 1.0

    @property
    @override
    def lowest(self) -> float:
        return 0.0

    @property
    @override
    def reads_beside_templates(self) -> bool:
        return True

    @property
    @override
    def parts_read_by_nature(self) -> tuple[str, ...]:
        return ("choices",)


MAX_CRITERIA: Final = 32


class Criterion(ClosedModel):
    """One criterion of a rubric."""

    name: CriterionText = Field(min_length=1, max_length=128)
    """Name of the criterion, unique in the rubric."""
    description: CriterionText = Field(min_length=1, max_length=4000)
    """The criterion in words. Not a template."""
    weight: Annotated[float, Field(gt=0, le=1000, strict=True)] = 1.0
    """Its weight in the score, relative to the other criteria."""


def _named_apart(rubric: tuple[Criterion, ...]) -> tuple[Criterion, ...]:
    """Raises `ValidationError` for the second criterion with the same name: a judge might count it
    once or twice.
    """
    seen = set[str]()
    for index, criterion in enumerate(rubric):
        name = criterion.name.strip().casefold()
        if name in seen:
            message = "another criterion has this name: join the two, or name them apart"
            fault = PydanticCustomError("grader_error", "{fault}", {"fault": message})
            raise ValidationError.from_exception_data(
                "Rubric", [{"type": fault, "loc": (index, "name"), "input": criterion.name}]
            )
        seen.add(name)
    return rubric


Rubric = Annotated[
    tuple[Criterion, ...],
    Field(min_length=1, max_length=MAX_CRITERIA),
    AfterValidator(_named_apart),
]
LLM_JUDGE_DEFAULT_RUBRIC: Final = (
    Criterion(name="correctness", description="Is everything that the answer says true?"),
    Criterion(name="helpfulness", description="Does it serve the need behind the question?"),
    Criterion(name="clarity", description="Is it easy to follow for its reader?"),
    Criterion(name="completeness", description="Is every part of the question answered?"),
)


class LlmJudgeGrader(JudgedGrader):
    """A judge's score of one answer by a rubric, divided by `scale`."""

    type: Literal["llm_judge"]
    name: str = Field(default="llm_judge", min_length=1, max_length=256)
    question: TemplateText = "{{item.messages}}"
    """Template of the question that was answered."""
    input: TemplateText = ANSWER
    """Template of the answer."""
    rubric: Rubric = LLM_JUDGE_DEFAULT_RUBRIC
    """The criteria and their weights; their texts are not templates."""
    scale: int = Field(default=10, ge=1, le=100, strict=True)
    """The judge's highest score; the lowest is 0."""

    @property
    @override
    def highest(self) -> float:
        return 1.0

    @property
    @override
    def lowest(self) -> float:
        return 0.0


class ScoreModelGrader(JudgedGrader):
    """A model that answers with a number in `range`; another number is no score."""

    type: Literal["score_model"]
    name: str = Field(default="score_model", min_length=1, max_length=256)
    input: Annotated[list[JudgeMessage], FewMessages] = Field(min_length=1, max_length=MAX_MESSAGES)
    """The judge's prompt, whose texts are templates."""
    range: tuple[Number, Number] = (0.0, 1.0)
    """Lowest and highest score."""

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

    @property
    @override
    def highest(self) -> float:
        return self.range[1]

    @property
    @override
    def lowest(self) -> float:
        return self.range[0]


Label = Annotated[LabelText, StringConstraints(min_length=1, max_length=256)]


class LabelModelGrader(JudgedGrader):
    """1 when the label that the model chooses is one of the passing ones, else 0."""

    passing_score: ClassVar[float | None] = 1.0
    type: Literal["label_model"]
    name: str = Field(default="label_model", min_length=1, max_length=256)
    input: Annotated[list[JudgeMessage], FewMessages] = Field(min_length=1, max_length=MAX_MESSAGES)
    """The judge's prompt, whose texts are templates."""
    labels: list[Label] = Field(min_length=1, max_length=MAX_PARTS)
    """Labels that the judge chooses from."""
    passing_labels: list[Label] = Field(min_length=1, max_length=MAX_PARTS)
    """Labels that score 1."""

    @model_validator(mode="after")
    def _passing_labels_are_labels(self) -> Self:
        unknown = next((label for label in self.passing_labels if label not in self.labels), None)
        if unknown is not None:
            raise fault_at("passing_labels", f"'{unknown[:80]}' is not one of 'labels'")
        return self

    @property
    @override
    def highest(self) -> float:
        return 1.0

    @property
    @override
    def lowest(self) -> float:
        return 0.0 if set(self.labels) - set(self.passing_labels) else 1.0
