"""Scores the tool calls of a rollout against the calls that its row expects. A call scores 0.3 for
the function alone, 0.6 with some expected arguments right, 1 with all of them and no others. Calls
are paired so that the sum is highest, in order where `ordered` is set. The score is the mean over
the expected calls; if none is expected, no call scores 1 and any call 0.
"""

import json
from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, Final, Literal, assert_never

from pydantic import Field, StringConstraints, field_validator
from pydantic_core import PydanticCustomError
from typing_extensions import override

from app.graders.calls import (
    RawText,
    ReferenceFault,
    WrittenCall,
    best_in_any_order,
    best_in_order,
    calls_of,
    expected_calls,
    has_marks_of_calls,
    read_calls,
)
from app.graders.grader_model import (
    ANSWER,
    MAX_PARTS,
    Flag,
    RowRule,
    TemplateText,
    UnitGrader,
    fault_of,
)
from app.graders.kinds.text_checks import same_number
from app.graders.scorer import GradeRequest, GraderErrors, GradingPorts, Scorer, ScoreResult
from app.graders.templates import Placeholder, parse_template, render, unusable_text_fault
from app.graders.texts import LocalScorer, unreadable
from app.kit.strict_json import strict_loads

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
    list expects no call."""
    source: Literal["auto", "rollout", "last_turn", "text"] = "auto"
    """Source of the calls: the whole rollout, its last turn, or the text. `auto`: the rollout, or
    the text if the rollout has none."""
    ordered: Flag = False
    """True: calls count only in the order of the reference."""
    extra_calls: Literal["allow", "count"] = "allow"
    """`count`: an unexpected call lowers the mean like an expected call that scores 0."""
    comparators: dict[ArgumentName, Comparator] = Field(default_factory=dict, max_length=MAX_PARTS)
    """Comparison of single arguments, by name; `exact` for all others. `number` compares values,
    `contains` looks for the expected text, `unordered` compares lists as sets, `any` accepts every
    value, even a missing one."""

    @field_validator("reference")
    @classmethod
    def _literal_holds_calls(cls, reference: str) -> str:
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
        if self.source == "text":
            return ()
        return ("output_tools",) if self.source == "last_turn" else ("tool_calls",)

    @property
    @override
    def row_rules(self) -> Mapping[str, RowRule]:
        return {
            "reference": RowRule(
                "expected calls", partial(fault_of, expected_calls, ReferenceFault)
            )
        }

    @override
    def scorer(self, ports: GradingPorts, *, source: str) -> Scorer:
        return LocalScorer(_CallGrading(self, source=source).grade)


RIGHT_FUNCTION: Final = 0.3
SOME_ARGUMENTS: Final = 0.6
EXACT: Final = 1.0
MAX_COMPARED: Final = 64
_SHOWN: Final = 10


class _CallGrading:
    def __init__(self, spec: ToolCallGrader, *, source: str) -> None:
        self._spec = spec
        self._source = source
        self._input = parse_template(spec.input)
        self._reference = parse_template(spec.reference)

    def grade(self, request: GradeRequest) -> ScoreResult:
        expected = self._expected(render(self._reference, request, source=self._source))
        made = self._sent(request)
        if not made and self._spec.source in ("auto", "text"):
            text = render(self._input, request, source=self._source)
            made = read_calls(text, expected)
            if expected and not made and has_marks_of_calls(text):
                return unreadable("the text has marks of calls, and none that can be read")
        if not expected:
            reason = f"{len(made)} calls where none is expected" if made else "no call, as expected"
            return ScoreResult(float(not made), reason=reason)
        return self._scored(expected, made)

    def _scored(self, expected: list[WrittenCall], made: list[WrittenCall]) -> ScoreResult:
        scores = [[self._compare(want, call) for call in made[:MAX_COMPARED]] for want in expected]
        pairing = best_in_order(scores) if self._spec.ordered else best_in_any_order(scores)
        counted = len(expected)
        if self._spec.extra_calls == "count":
            counted = max(counted, len(made))
        shown = ", ".join(f"{score:g}" for score in pairing[:_SHOWN])
        return ScoreResult(
            sum(pairing) / counted,
            sub_scores={"calls": float(len(made)), "exact": pairing.count(EXACT) / len(expected)},
            reason=f"{len(made)} calls for {len(expected)} expected ones: {shown}",
        )

    def _expected(self, text: str) -> list[WrittenCall]:
        try:
            return expected_calls(text)
        except ReferenceFault as fault:
            errors = GraderErrors(sample_parse_error=True, details=str(fault))
            raise unusable_text_fault([self._reference], errors, source=self._source) from None

    def _sent(self, request: GradeRequest) -> list[WrittenCall]:
        source, sample = self._spec.source, request.sample
        keys: dict[str, tuple[str, ...]] = {
            "rollout": ("tool_calls",),
            "last_turn": ("output_tools",),
            "text": (),
        }
        wanted = keys.get(source, ("tool_calls", "output_tools"))
        sent = next((found for key in wanted if (found := sample.get(key))), None)
        return calls_of(sent) if isinstance(sent, list) else []

    def _compare(self, expected: WrittenCall, made: WrittenCall) -> float:
        if expected.name != made.name:
            return 0.0
        if expected.arguments is None or made.arguments is None:
            return RIGHT_FUNCTION
        rules = self._spec.comparators
        free = {name for name, rule in rules.items() if rule == "any"}
        wanted = [name for name in expected.arguments if name not in free]
        right = sum(
            name in made.arguments
            and matches(rules.get(name, "exact"), expected.arguments[name], made.arguments[name])
            for name in wanted
        )
        others = made.arguments.keys() - expected.arguments.keys() - free
        if right == len(wanted) and not others:
            return EXACT
        return SOME_ARGUMENTS if right else RIGHT_FUNCTION


def matches(comparator: Comparator, expected: Any, made: Any) -> bool:
    try:
        if isinstance(made, RawText) and not isinstance(expected, str):
            made = strict_loads(made)
        return _matches(comparator, expected, made)
    except (ValueError, RecursionError):
        return False


def _matches(comparator: Comparator, expected: Any, made: Any) -> bool:
    match comparator:
        case "exact":
            found = bool(expected == made) and _shape(expected) == _shape(made)
        case "ignore_case":
            found = _text(expected).casefold() == _text(made).casefold()
        case "number":
            found = same_number(_text(expected), _text(made))
        case "contains":
            part = _text(expected).casefold()
            found = part != "" and part in _text(made).casefold()
        case "unordered":
            found = _set(expected) == _set(made)
        case "any":
            found = True
        case _:
            assert_never(comparator)
    return found


def _shape(value: Any) -> Any:
    """Returns the positions of booleans in a value, because Python treats true and 1 as equal."""
    if isinstance(value, dict):
        return {key: _shape(below) for key, below in value.items()}
    if isinstance(value, list):
        return [_shape(below) for below in value]
    return isinstance(value, bool)


def _set(value: Any) -> set[str]:
    return {_canonical(entry) for entry in (value if isinstance(value, list) else [value])}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else _canonical(value)


def _canonical(value: Any) -> str:
    return json.dumps(_whole_numbers(value), ensure_ascii=False, sort_keys=True)


def _whole_numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _whole_numbers(below) for key, below in value.items()}
    if isinstance(value, list):
        return [_whole_numbers(below) for below in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
