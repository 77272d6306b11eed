"""Scores a length within bounds with 1; outside, the score falls to 0 over a distance."""

from typing import Any, Literal, Self, assert_never

from pydantic import Field, model_validator
from typing_extensions import override

from app.graders.grader_model import ANSWER, TemplateText, UnitGrader, fault_at
from app.graders.samples import object_or_list
from app.graders.scorer import (
    GradeRequest,
    GraderErrors,
    GradingPorts,
    ScoreFault,
    Scorer,
    ScoreResult,
)
from app.graders.templates import parse_template
from app.graders.templating import render
from app.graders.text_scorer import LocalScorer, unreadable
from app.kit.endpoints import FaultKind


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

    @override
    def scorer(self, ports: GradingPorts, *, source: str) -> Scorer:
        return LengthBoundsScorer(self, source=source)


class LengthBoundsScorer(LocalScorer):
    def __init__(self, spec: LengthBoundsGrader, *, source: str) -> None:
        self._spec = spec
        self._source = source
        self._input = parse_template(spec.input)

    @override
    def grade(self, request: GradeRequest) -> ScoreResult:
        if self._spec.unit == "tokens":
            return self._of_length(self._tokens(request.sample.get("turns")))
        text = render(self._input, request, source=self._source)
        match self._spec.unit:
            case "characters":
                return self._of_length(len(text))
            case "words":
                return self._of_length(len(text.split()))
            case "items":
                items = object_or_list(text)
                if not isinstance(items, list):
                    return unreadable("the text is not a JSON list")
                return self._of_length(len(items))
            case _:
                assert_never(self._spec.unit)

    def _of_length(self, length: int) -> ScoreResult:
        low, high, unit = self._spec.min, self._spec.max, self._spec.unit
        over = max(0, (low or 0) - length, 0 if high is None else length - high)
        score = max(0.0, 1 - over / self._spec.slack) if over and self._spec.slack else not over
        bound = "within the bounds" if not over else f"{over} beyond the bound"
        return ScoreResult(
            float(score), sub_scores={"length": float(length)}, reason=f"{length} {unit}: {bound}"
        )

    def _tokens(self, turns: Any) -> int:
        """Counts the sampled tokens. Raises `ScoreFault` for a sample without their number."""
        counts = [
            turn.get("completion_tokens") if isinstance(turn, dict) else None
            for turn in (turns if isinstance(turns, list) else [None])
        ]
        known = [n for n in counts if isinstance(n, int) and not isinstance(n, bool)]
        if len(known) == len(counts):
            return sum(known)
        message = "the sample does not say how many tokens were sampled: send 'sample.turns'"
        errors = GraderErrors(sample_parse_error=True, details=message)
        raise ScoreFault(FaultKind.BAD_REPLY.value, message, source=self._source, errors=errors)
