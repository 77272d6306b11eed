"""`tool_call`: compares the calls that the model made with those that a row expects."""

from typing import Annotated, Literal, assert_never

from pydantic import Field, StringConstraints, field_validator
from pydantic_core import PydanticCustomError
from typing_extensions import override

from app.domain.graders.grader_model import ANSWER, MAX_PARTS, Flag, UnitGrader
from app.domain.graders.judge_prompts import TemplateText
from app.domain.graders.templates.templates import Placeholder, parse_template
from app.domain.graders.texts.calls import ReferenceFault, expected_calls

Comparator = Literal["exact", "ignore_case", "number", "contains", "unordered", "any"]
ArgumentName = Annotated[str, StringConstraints(min_length=1, max_length=256)]


class ToolCallGrader(UnitGrader):
    """Mean over the expected calls: 0 without the call, 0.3 for the right function, 0.6 with some
    of the arguments, 1 with all of them and no others.
    """

    type: Literal["tool_call"]
    name: str = Field(default="tool_call", min_length=1, max_length=256)
    input: TemplateText = ANSWER
    """Template of the text from which calls are read if the rollout has no structured ones."""
    reference: TemplateText
    """Template of the expected calls as JSON, `{"name", "arguments"}` or a list of them; an empty
    list expects no call.
    """
    source: Literal["auto", "rollout", "last_turn", "text"] = "auto"
    """Source of the calls: the whole rollout, its last turn, or the text. `auto`: the rollout, or
    the text if the rollout has none.
    """
    ordered: Flag = False
    """True: calls count only in the order of the reference."""
    extra_calls: Literal["allow", "count"] = "allow"
    """`count`: an unexpected call lowers the mean like an expected call that scores 0."""
    comparators: dict[ArgumentName, Comparator] = Field(default_factory=dict, max_length=MAX_PARTS)
    """Comparison of single arguments, by name; `exact` for all others. `number` compares values,
    `contains` looks for the expected text, `unordered` compares lists as sets, `any` accepts every
    value, even a missing one.
    """

    @field_validator("reference")
    @classmethod
    def _literal_holds_calls(cls, reference: str) -> str:
        """Refuses a reference without placeholders that contains no readable calls."""
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

    @property
    @override
    def parts_read_by_nature(self) -> tuple[str, ...]:
        match self.source:
            case "text":
                return ()
            case "last_turn":
                return ("output_tools",)
            case "auto" | "rollout":
                return ("tool_calls",)
            case _:
                assert_never(self.source)
