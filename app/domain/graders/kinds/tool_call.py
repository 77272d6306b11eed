"""`tool_call`: compares the calls that the model made with those that a row expects."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, field_validator
from pydantic_core import PydanticCustomError
from typing_extensions import override

from app.domain.graders.calls import ReferenceFault, expected_calls
from app.domain.graders.grader_model import ANSWER, MAX_PARTS, Flag, UnitGrader
from app.domain.graders.judge_prompts import TemplateText
from app.domain.graders.templates import Placeholder, parse_template

Comparator = Literal["exact", "ignore_case", "number", "contains", "unordered", "any"]
ArgumentName = Annotated[str, StringConstraints(min_length=1, max_length=256)]


class ToolCallGrader(UnitGrader):
    """Mean over the expected calls: 0 without the call, 0.3 for the right function, 0.6 with some
    of the arguments, 1 with all of them and no other.
    """

    type: Literal["tool_call"]
    name: str = Field(default="tool_call", min_length=1, max_length=256)
    input: TemplateText = ANSWER
    """Template of the text that is read where the rollout has no structured calls."""
    reference: TemplateText
    """Template of the expected calls as JSON, `{"name", "arguments"}` or a list of them; an empty
    list expects no call.
    """
    source: Literal["auto", "rollout", "last_turn", "text"] = "auto"
    """Where calls are read: all of the rollout's, those of its last turn, or the text. `auto`: the
    rollout's, or the text's where there are none.
    """
    ordered: Flag = False
    """True: calls count in the order of the reference only."""
    extra_calls: Literal["allow", "count"] = "allow"
    """`count`: a call that is not expected lowers the mean, as an expected call with 0 would."""
    comparators: dict[ArgumentName, Comparator] = Field(default_factory=dict, max_length=MAX_PARTS)
    """Comparison of single arguments, by name; `exact` for all others. `number` compares values,
    `contains` looks for the expected text, `unordered` compares lists as sets, `any` takes every
    value, a missing one included.
    """

    @field_validator("reference")
    @classmethod
    def _literal_holds_calls(cls, reference: str) -> str:
        """Refuses a reference without placeholders that could score no answer."""
        if not any(isinstance(part, Placeholder) for part in parse_template(reference).parts):
            try:
                expected_calls(reference)
            except ReferenceFault as fault:
                raise PydanticCustomError(
                    "reference_error", "{fault}", {"fault": str(fault)}
                ) from None
        return reference

    @property
    @override
    def reads_beside_templates(self) -> bool:
        return self.source != "text"
