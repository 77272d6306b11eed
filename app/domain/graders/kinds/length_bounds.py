"""`length_bounds`: limits of a text's length, of the rollout's tokens, or of a list's entries."""

from typing import Literal, Self

from pydantic import Field, model_validator
from typing_extensions import override

from app.domain.graders.grader_model import ANSWER, UnitGrader, fault_at
from app.domain.graders.judge_prompts import TemplateText


class LengthBoundsGrader(UnitGrader):
    """1 within the bounds; outside, the score falls to 0 over `slack`."""

    type: Literal["length_bounds"]
    name: str = Field(default="length_bounds", min_length=1, max_length=256)
    input: TemplateText = ANSWER
    """Template of the text; not used if `unit` is `tokens`."""
    unit: Literal["characters", "words", "tokens", "items"] = "characters"
    """`words` are separated by white space; `tokens` are the sampled tokens of all turns; `items`
    are the entries of a JSON list, such as `{{sample.tool_calls}}`.
    """
    min: int | None = Field(default=None, ge=0, le=2**31, strict=True)
    """Smallest length."""
    max: int | None = Field(default=None, ge=0, le=2**31, strict=True)
    """Largest length."""
    slack: int = Field(default=0, ge=0, le=2**31, strict=True)
    """Distance from a bound at which the score reaches 0."""

    @model_validator(mode="after")
    def _bounds_are_in_order(self) -> Self:
        if self.min is None and self.max is None:
            raise fault_at("max", "send 'min', 'max' or both")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise fault_at("max", "it is below 'min'")
        return self

    @property
    @override
    def reads_beside_templates(self) -> bool:
        return self.unit == "tokens"

    @property
    @override
    def parts_read_by_nature(self) -> tuple[str, ...]:
        return ("turns",) if self.unit == "tokens" else ()
