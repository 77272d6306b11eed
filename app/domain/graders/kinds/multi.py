"""`multi`: several graders and a formula. Source: the hosted graders guide."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError
from typing_extensions import override

from app.domain.graders.grader_model import GraderModel, fault_at
from app.domain.graders.single import ChildGrader, SingleGrader
from app.domain.graders.texts.formula import FormulaError, parse_formula
from app.domain.graders.texts.formula_range import Range, formula_range
from app.domain.texts.patterns import FORMULA_NAME

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
    def score_range(self) -> Range:
        ranges = {name: part.score_range for name, part in self.parts.items()}
        low, high = formula_range(self.calculate_output, ranges)
        instead = self.invalid_grade
        return (low, high) if instead is None else (min(low, instead), max(high, instead))

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

    @override
    def combined(self, scores: Mapping[str, float]) -> float | None:
        try:
            return parse_formula(self.calculate_output).evaluate(scores)
        except FormulaError:
            return self.invalid_grade

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
    def _names_are_known(self) -> "MultiGrader":
        unknown = sorted(parse_formula(self.calculate_output).names - self.graders.keys())
        if unknown:
            known = f"'{unknown[0]}' is not one of the graders: {', '.join(self.graders)}"
            raise fault_at("calculate_output", known)
        return self
