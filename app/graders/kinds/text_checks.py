"""Scores texts by what they equal, contain or match, and by their length."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar, Final, Literal, Self

from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError
from typing_extensions import override

from app.graders.answer_numbers import number_of
from app.graders.answer_words import LONG_RUN, has_long_run_of_marks
from app.graders.grader_model import (
    ANSWER,
    MAX_PARTS,
    Flag,
    RowRule,
    TemplateText,
    UnitGrader,
    fault_at,
)
from app.graders.json_schemas import (
    MAX_PATTERN,
    JsonSchemaFault,
    TooMuchWork,
    check_pattern,
    matches,
)
from app.graders.samples import object_or_list
from app.graders.scorer import (
    GraderErrors,
    GradingPorts,
    ScoreFault,
    Scorer,
    ScoreResult,
    unusable_grader,
)
from app.graders.templates import parse_template, placeholder_in, unusable_text_fault
from app.graders.texts import (
    LocalScorer,
    length_normalised,
    normalised_text,
    text_scorer,
    unreadable,
)
from app.kit.endpoints import FaultKind


class StringCheckGrader(UnitGrader):
    """A comparison of two texts: 1 when it holds, else 0."""

    passing_score: ClassVar[float | None] = 1.0
    type: Literal["string_check"]
    name: str = Field(default="string_check", min_length=1, max_length=256)
    input: TemplateText
    """Template of the text that is checked, such as `{{sample.output_text}}`."""
    reference: TemplateText
    """Template of the text that it is compared with."""
    operation: Literal["eq", "ne", "neq", "like", "ilike"]
    """`like`: input contains reference; `ilike` ignores case; `neq` is `ne`."""

    @model_validator(mode="after")
    def _compares_with_a_text(self) -> Self:
        if not self.reference and self.operation in ("like", "ilike"):
            raise fault_at("reference", "it is empty, and every text contains an empty one")
        return self

    @override
    def scorer(self, ports: GradingPorts, *, source: str) -> Scorer:
        def compute(texts: list[str]) -> ScoreResult:
            return ScoreResult(float(compare(self.operation, *texts)))

        return text_scorer(compute, self.input, self.reference, source=source)


def compare(operation: str, text: str, reference: str) -> bool:
    match operation:
        case "eq":
            return text == reference
        case "ne" | "neq":
            return text != reference
        case "like":
            return reference in text
        case "ilike":
            return reference.casefold() in text.casefold()
        case _:
            raise ValueError(operation)


Normalisation = Literal["none", "NFC", "NFD", "NFKC", "NFKD"]


class ExactMatchGrader(UnitGrader):
    """1 when two texts are equal, else 0."""

    type: Literal["exact_match"]
    name: str = Field(default="exact_match", min_length=1, max_length=256)
    input: TemplateText = ANSWER
    """Template of the text that is compared."""
    reference: TemplateText
    """Template of the text that it must equal."""
    strip: Flag = True
    """True ignores white space at both ends."""
    ignore_case: Flag = False
    """True ignores case, by Unicode case folding."""
    unicode: Normalisation = "NFC"
    """Unicode normal form in which texts are compared."""
    numbers: Flag = False
    """True compares two numbers by their values, so that `$1,000` equals `1e3`."""

    @property
    @override
    def row_rules(self) -> Mapping[str, RowRule]:
        if self.unicode == "none":
            return {}
        rule = RowRule("a text to normalise", _run_fault)
        return {"input": rule, "reference": rule}

    @override
    def scorer(self, ports: GradingPorts, *, source: str) -> Scorer:
        compute = partial(self.compute, source=source)
        return text_scorer(compute, self.input, self.reference, source=source)

    def compute(self, texts: list[str], *, source: str) -> ScoreResult:
        form = self.unicode
        if form != "none":
            self._refuse(texts, has_long_run_of_marks, LONG_RUN, source=source)
            too_long = partial(is_too_long_normalised, form)
            self._refuse(texts, too_long, _TOO_LONG, source=source)
        left, right = map(self._normalised, texts)
        if left == right:
            return ScoreResult(1.0)
        if self.numbers and same_number(*texts):
            return ScoreResult(1.0, reason="the numbers are equal")
        return ScoreResult(0.0, reason="the texts differ")

    def _refuse(
        self, texts: list[str], is_faulty: Callable[[str], bool], why: str, *, source: str
    ) -> None:
        pairs = zip((self.input, self.reference), texts, strict=True)
        faulty = [parse_template(template) for template, text in pairs if is_faulty(text)]
        if faulty:
            errors = GraderErrors(sample_parse_error=True, details=why)
            raise unusable_text_fault(faulty, errors, source=source)

    def _normalised(self, text: str) -> str:
        if self.unicode != "none":
            text = normalised_text(self.unicode, text)
        if self.ignore_case:
            text = text.casefold()
        return text.strip() if self.strip else text


def _run_fault(text: str) -> str | None:
    return LONG_RUN if has_long_run_of_marks(text) else None


_MAX_NUMBER: Final = 1_000
MAX_NORMALISED: Final = 4_000_000
_TOO_LONG: Final = f"a text has more than {MAX_NORMALISED} characters when normalised"
_LONGEST: Final = 18


def is_too_long_normalised(form: Normalisation, text: str) -> bool:
    if form == "none" or text.isascii() or len(text) * _LONGEST <= MAX_NORMALISED:
        return False
    return length_normalised(form, text) > MAX_NORMALISED


def same_number(text: str, reference: str) -> bool:
    """Returns whether both texts are numbers with the same value, by the grammar of `auto`."""
    if len(text) > _MAX_NUMBER or len(reference) > _MAX_NUMBER:
        return False
    value = number_of(text)
    return value is not None and value == number_of(reference)


class ContainsGrader(UnitGrader):
    """1 when a text contains any or all of the needles; or the share of needles that it
    contains.
    """

    type: Literal["contains"]
    name: str = Field(default="contains", min_length=1, max_length=256)
    input: TemplateText = ANSWER
    """Template of the text that is searched."""
    needles: list[TemplateText] = Field(min_length=1, max_length=MAX_PARTS)
    """Templates of the texts that are looked for; an empty one is never found."""
    match: Literal["any", "all", "share"] = "all"
    """`any`, `all`: 1 if any or all needles are found; `share`: the share of found needles."""
    ignore_case: Flag = False
    """True ignores case, by Unicode case folding."""

    @field_validator("needles")
    @classmethod
    def _can_be_found(cls, needles: list[str]) -> list[str]:
        empty = next((at for at, needle in enumerate(needles) if not needle), None)
        if empty is not None:
            raise fault_at(empty, "it is empty, and an empty text is never found")
        return needles

    @override
    def scorer(self, ports: GradingPorts, *, source: str) -> Scorer:
        return text_scorer(self._compute, self.input, *self.needles, source=source)

    def _compute(self, texts: list[str]) -> ScoreResult:
        text, *needles = [each.casefold() for each in texts] if self.ignore_case else texts
        found = [needle != "" and needle in text for needle in needles]
        share = sum(found) / len(found)
        score = {"any": float(share > 0), "all": float(share == 1), "share": share}[self.match]
        reason = f"{sum(found)} of {len(found)} needles are in the text"
        return ScoreResult(score, sub_scores={"found": share}, reason=reason)


class RegexGrader(UnitGrader):
    """1 when the text matches the expression, else 0."""

    type: Literal["regex"]
    name: str = Field(default="regex", min_length=1, max_length=256)
    input: TemplateText = ANSWER
    """Template of the text."""
    pattern: str = Field(min_length=1, max_length=MAX_PATTERN)
    """The expression, in the syntax of Rust's `regex` without look-around and back-references;
    `\\d` and `\\w` are ASCII, as in JavaScript. Not a template."""
    whole: Flag = False
    """True: the whole text must match, not only a part of it."""
    ignore_case: Flag = False
    """True ignores case."""

    @field_validator("pattern")
    @classmethod
    def _is_no_template(cls, pattern: str) -> str:
        found = placeholder_in(pattern)
        if found is not None:
            fault = (
                f"'{found}' is not filled, because the pattern is not a template: a grader of type "
                "'contains' or 'string_check' compares with a value of the row"
            )
            raise PydanticCustomError("grader_error", "{fault}", {"fault": fault})
        return pattern

    compiled_field: ClassVar[str] = "pattern"

    @override
    def check_compiled(self) -> None:
        check_pattern(self.pattern, whole=self.whole, ignore_case=self.ignore_case)

    @override
    def scorer(self, ports: GradingPorts, *, source: str) -> Scorer:
        return text_scorer(partial(self._compute, source=source), self.input, source=source)

    def _compute(self, texts: list[str], *, source: str) -> ScoreResult:
        (text,) = texts
        try:
            text.encode()
            found = matches(self.pattern, text, whole=self.whole, ignore_case=self.ignore_case)
        except UnicodeEncodeError:
            return unreadable("the text has half of a surrogate pair")
        except JsonSchemaFault as fault:
            raise unusable_grader(str(fault), source=source) from None
        except TooMuchWork as fault:
            return unreadable(str(fault))
        return ScoreResult(
            float(found), reason=f"the text {'matches' if found else 'does not match'}"
        )


class LengthBoundsGrader(UnitGrader):
    """1 within the bounds; outside, the score falls to 0 over `slack`."""

    type: Literal["length_bounds"]
    name: str = Field(default="length_bounds", min_length=1, max_length=256)
    input: TemplateText = ANSWER
    """Template of the text; not used if `unit` is `tokens`."""
    unit: Literal["characters", "words", "tokens", "items"] = "characters"
    """`words` are separated by white space; `tokens` are the sampled tokens of all turns; `items`
    are the entries of a JSON list, such as `{{sample.tool_calls}}`."""
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
        if self.unit == "tokens":
            return LocalScorer(lambda request: self._of_length(_tokens(request.sample, source)))
        return text_scorer(self._compute, self.input, source=source)

    def _compute(self, texts: list[str]) -> ScoreResult:
        (text,) = texts
        match self.unit:
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
                raise AssertionError(self.unit)

    def _of_length(self, length: int) -> ScoreResult:
        over = max(0, (self.min or 0) - length, 0 if self.max is None else length - self.max)
        score = max(0.0, 1 - over / self.slack) if over and self.slack else float(not over)
        bound = "within the bounds" if not over else f"{over} beyond the bound"
        reason = f"{length} {self.unit}: {bound}"
        return ScoreResult(score, sub_scores={"length": float(length)}, reason=reason)


def _tokens(sample: dict[str, Any], source: str) -> int:
    turns = sample.get("turns")
    counts = [
        turn.get("completion_tokens") if isinstance(turn, dict) else None
        for turn in (turns if isinstance(turns, list) else [None])
    ]
    known = [n for n in counts if isinstance(n, int) and not isinstance(n, bool)]
    if len(known) == len(counts):
        return sum(known)
    message = "the sample does not say how many tokens were sampled: send 'sample.turns'"
    errors = GraderErrors(sample_parse_error=True, details=message)
    raise ScoreFault(FaultKind.BAD_REPLY.value, message, source=source, errors=errors)
