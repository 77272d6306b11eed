"""Scores the equality of two texts with 1 or 0."""

from collections.abc import Callable, Mapping
from typing import Final, Literal

from pydantic import Field
from typing_extensions import override

from app.graders.answer_words import LONG_RUN, has_long_run_of_marks, number_of
from app.graders.grader_model import (
    ANSWER,
    Flag,
    RowRule,
    TemplateText,
    UnitGrader,
)
from app.graders.scorer import GraderErrors, GradingPorts, Scorer, ScoreResult
from app.graders.templating import unusable_text_fault
from app.graders.text_scorer import TextScorer, length_normalised, normalised_text

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
        rule = RowRule("a text to normalise", _marks_fault)
        return {"input": rule, "reference": rule}

    @override
    def scorer(self, ports: GradingPorts, *, source: str) -> Scorer:
        return ExactMatchScorer(self, [self.input, self.reference], source=source)


_MAX_NUMBER: Final = 1_000
"""Largest number of characters of a text that is parsed as a number."""
MAX_NORMALISED: Final = 4_000_000
"""Largest number of characters of a normalised text, equal to the largest body in bytes."""
_TOO_LONG: Final = f"a text has more than {MAX_NORMALISED} characters when normalised"
_LONGEST: Final = 18
"""Largest number of characters into which one character is normalised."""


def _marks_fault(text: str) -> str | None:
    return LONG_RUN if has_long_run_of_marks(text) else None


class ExactMatchScorer(TextScorer[ExactMatchGrader]):
    @override
    def compute(self, texts: list[str]) -> ScoreResult:
        text, reference = texts
        form = self._spec.unicode
        if form != "none":
            self._refuse(texts, has_long_run_of_marks, LONG_RUN)
            self._refuse(texts, lambda each: is_too_long_normalised(form, each), _TOO_LONG)
        if self._normalised(text) == self._normalised(reference):
            return ScoreResult(1.0)
        if self._spec.numbers and same_number(text, reference):
            return ScoreResult(1.0, reason="the numbers are equal")
        return ScoreResult(0.0, reason="the texts differ")

    def _refuse(self, texts: list[str], is_faulty: Callable[[str], bool], why: str) -> None:
        """Raises `Unrenderable` for a faulty text, or `ScoreFault` if it comes from the row."""
        faulty = [
            template
            for template, text in zip(self._templates, texts, strict=True)
            if is_faulty(text)
        ]
        if faulty:
            errors = GraderErrors(sample_parse_error=True, details=why)
            raise unusable_text_fault(faulty, errors, source=self._source)

    def _normalised(self, text: str) -> str:
        if self._spec.unicode != "none":
            text = normalised_text(self._spec.unicode, text)
        if self._spec.ignore_case:
            text = text.casefold()
        return text.strip() if self._spec.strip else text


def is_too_long_normalised(form: Normalisation, text: str) -> bool:
    """Returns whether a text becomes too long in a normal form: one character may become
    eighteen.
    """
    if form == "none" or text.isascii() or len(text) * _LONGEST <= MAX_NORMALISED:
        return False
    return length_normalised(form, text) > MAX_NORMALISED


def same_number(text: str, reference: str) -> bool:
    """Returns whether both texts are numbers with the same value, by the grammar of `auto`."""
    if len(text) > _MAX_NUMBER or len(reference) > _MAX_NUMBER:
        return False
    value = number_of(text)
    return value is not None and value == number_of(reference)
