"""Graders that score one rollout by themselves: the union of their types, and its parser."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError
from typing_extensions import override

from app.graders.endpoint_definitions import (
    CodeExecutionGrader,
    EndpointGrader,
    EnvironmentGrader,
    ToolCallGrader,
)
from app.graders.formula import FormulaError, parse_formula
from app.graders.grader_model import GraderModel, fault_at
from app.graders.model_definitions import (
    AiJudgeGrader,
    LabelModelGrader,
    LlmJudgeGrader,
    ScoreModelGrader,
)
from app.graders.program_definitions import PythonGrader
from app.graders.templates import DefinitionWork
from app.graders.text_definitions import (
    ContainsGrader,
    ExactMatchGrader,
    FormatGrader,
    JsonValidGrader,
    LengthBoundsGrader,
    RegexGrader,
    StringCheckGrader,
    TextSimilarityGrader,
)
from app.kit.faults import GRADER_NOT_AVAILABLE
from app.kit.fields import JudgeName, Path
from app.kit.texts import FORMULA_NAME
from app.kit.walk import value_of

AUTO: Final = "auto"
NEEDS_ROWS: Final = (
    "'auto' chooses a grader from rows: send it as the grader of a job, or with an 'item' to "
    "graders/run, and use the grader that it returns"
)


class AutoGrader(GraderModel):
    """The grader that fits the rows, chosen before the job exists (an extension)."""

    # A key that nothing reads would be lost with it, so that it is refused.
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    type: Literal["auto"]
    name: str | None = Field(default=None, min_length=1, max_length=256)
    """Name of the chosen grader; absent: its type."""
    model: JudgeName | None = None
    """Name of a judge, for rows without a reference."""


Models = MappingProxyType[str, type[GraderModel]]
LocalGrader = (
    StringCheckGrader
    | TextSimilarityGrader
    | ExactMatchGrader
    | ContainsGrader
    | JsonValidGrader
    | RegexGrader
    | FormatGrader
    | LengthBoundsGrader
    | ToolCallGrader
)
"""Graders without external calls, except `text_similarity` with `cosine`."""
SandboxedGrader = PythonGrader | CodeExecutionGrader
"""Graders that run code in the sandbox."""
JudgingGrader = ScoreModelGrader | LabelModelGrader | LlmJudgeGrader
"""Graders that call a judge about one rollout."""
RolloutGrader = LocalGrader | SandboxedGrader | JudgingGrader | EndpointGrader | EnvironmentGrader
"""Graders that score each rollout without its siblings."""
SingleGrader = (
    LocalGrader
    | SandboxedGrader
    | ScoreModelGrader
    | LabelModelGrader
    | LlmJudgeGrader
    | AiJudgeGrader
    | EndpointGrader
    | EnvironmentGrader
)


def models_of(union: object) -> Models:
    """Returns the models of a union of graders by their `type`."""
    return MappingProxyType({_type_of(model): model for model in get_args(union)})


def _type_of(model: type[GraderModel]) -> str:
    (name,) = get_args(model.model_fields["type"].annotation)
    return str(name)


SINGLE_MODELS: Final = models_of(SingleGrader)


def read_of(
    models: Models, sent: Any, *, work: DefinitionWork | None = None, beside: Sequence[str] = ()
) -> Any:
    """Reads a grader of one of `models` from JSON or an instance, as a part of a definition if its
    `work` is passed. Raises `ValidationError`, which also lists the types in `beside`.

    Parses by hand, so that an error has the path in the client's body, without a union's tags.
    """
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


def _read_child(sent: Any, handler: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:  # noqa: ARG001 - the signature of a pydantic wrap validator
    return read_of(SINGLE_MODELS, sent, work=DefinitionWork.of(info))


ChildGrader = Annotated[SingleGrader, Field(discriminator="type"), WrapValidator(_read_child)]


MAX_CHILDREN: Final = 64
AGREEMENT: Final = "agreement"
"""Name of the part with the agreement of several group judges."""
ChildName = Annotated[str, Field(pattern=f"^{FORMULA_NAME}$")]


class MultiGrader(GraderModel):
    """Several graders and the formula that combines their scores. Not nestable."""

    type: Literal["multi"]
    name: str = Field(default="multi", min_length=1, max_length=256)
    graders: dict[ChildName, ChildGrader] = Field(min_length=1, max_length=MAX_CHILDREN)
    """The parts by name."""
    calculate_output: str
    """Formula of the reward over the names of the parts, such as `0.5 * exact + judge`."""
    invalid_grade: float | None = Field(
        default=None, strict=True, exclude_if=lambda value: value is None
    )
    """The score when the formula has no finite value; without it the rollout leaves the batch."""

    @field_validator("graders", mode="before")
    @classmethod
    def _is_a_map(cls, sent: Any) -> Any:
        if isinstance(sent, list) or (isinstance(sent, dict) and isinstance(sent.get("type"), str)):
            raise PydanticCustomError(
                "graders_map",
                'it must be a map of name to grader, such as {"accuracy": {…}}; '
                "'calculate_output' uses the names",
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

    @property
    @override
    def parts(self) -> Mapping[str, SingleGrader]:
        """The graders that the formula names; only these are run."""
        unused = self.unused_parts
        return {name: child for name, child in self.graders.items() if name not in unused}

    @property
    @override
    def unused_parts(self) -> tuple[str, ...]:
        used = parse_formula(self.calculate_output).names
        return tuple(name for name in self.graders if name not in used)

    @property
    @override
    def repeats_its_scores(self) -> bool:
        return all(child.repeats_its_scores for child in self.parts.values())

    @model_validator(mode="after")
    def _no_part_takes_the_name_of_the_agreement(self) -> "MultiGrader":
        """Refuses a part whose name is reserved for the agreement of several judges."""
        judges = sum(child.compares_rollouts for child in self.graders.values())
        if judges > 1 and AGREEMENT in self.graders:
            taken = (
                f"'{AGREEMENT}' is the part that several 'ai_judge' graders add: give this one "
                "another name"
            )
            raise fault_at("graders", taken)
        return self

    @model_validator(mode="after")
    def _the_formula_has_a_value(self) -> "MultiGrader":
        unknown = sorted(parse_formula(self.calculate_output).names - self.graders.keys())
        if unknown:
            known = f"'{unknown[0]}' is not one of the graders: {', '.join(self.graders)}"
            raise fault_at("calculate_output", known)
        never = parse_formula(self.calculate_output).fault()
        if never is not None:
            raise fault_at("calculate_output", f"the formula never has a value ({never})")
        return self

    @field_validator("invalid_grade")
    @classmethod
    def _is_a_usable_score(cls, score: float | None) -> float | None:
        if score is not None and not abs(score) <= LARGEST_SCORE:
            limit = f"a score must be between -{LARGEST_SCORE:g} and {LARGEST_SCORE:g}"
            raise PydanticCustomError("grader_error", "{fault}", {"fault": limit})
        return score


LARGEST_SCORE: Final = 1e9
"""Absolute limit of a score: the fp32 gradient of a larger one is not finite."""


AnyGrader = SingleGrader | MultiGrader
_MODELS: Final = models_of(AnyGrader)
_GRADER: Final = "grader"
_PART: Final = len((_GRADER, "graders", "name"))


def _read_any(sent: Any, handler: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:  # noqa: ARG001 - the signature of a pydantic wrap validator
    return read_grader(sent, work=DefinitionWork.of(info))


def read_grader(sent: Any, *, work: DefinitionWork | None = None) -> AnyGrader:
    """Returns a grader of any kind from JSON or an instance. Raises `ValidationError`."""
    grader: AnyGrader = read_of(_MODELS, sent, work=work)
    return grader


def read_grader_or_auto(sent: Any) -> AnyGrader | AutoGrader:
    """Returns a grader or `auto`, for callers with rows from which to choose. Raises
    `ValidationError`.
    """
    if isinstance(sent, AutoGrader):
        return sent
    if isinstance(sent, dict) and sent.get("type") == AUTO:
        return AutoGrader.model_validate(sent)
    grader: AnyGrader = read_of(_MODELS, sent, beside=(AUTO,))
    return grader


def unused_paths(method: Any) -> frozenset[Path]:
    """Returns the paths, in `method.reinforcement` (an instance or JSON), of the graders that its
    grader contains but does not use, so that they never run. Empty for a grader that cannot be
    read.
    """
    try:
        names = read_grader(value_of(method, _GRADER)).unused_parts
    except ValueError:  # pydantic raises its two kinds
        return frozenset()
    return frozenset((_GRADER, "graders", name) for name in names)


def is_used(path: Path, unused: frozenset[Path]) -> bool:
    """Returns whether a path of a method is outside of the `unused_paths`."""
    return path[:_PART] not in unused


def passing_score(kind: str) -> float | None:
    """Returns the lowest passing score of a grader of this type, if the type determines it."""
    model = _MODELS.get(kind)
    return None if model is None else model.passing_score


Grader = Annotated[AnyGrader, Field(discriminator="type"), WrapValidator(_read_any)]
GRADER_MODELS: Final[tuple[type[BaseModel], ...]] = tuple(_MODELS.values())
