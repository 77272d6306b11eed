"""`contains`: looks for several needles in a text."""

import math
from importlib.util import find_spec
from typing import Annotated, Any, ClassVar, Final, Literal, Self, assert_never

from pydantic import Field, StringConstraints, field_validator, model_validator
from pydantic_core import PydanticCustomError
from typing_extensions import override

from app.graders.grader_model import ANSWER, MAX_PARTS, Flag, UnitGrader, fault_at
from app.graders.json_schemas import MAX_PATTERN
from app.graders.judge_prompts import TemplateText
from app.graders.templates import SectionText, placeholder_in
from app.kit.fields import EmbeddingMark
from app.kit.texts import TAG


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


class RegexGrader(UnitGrader):
    """1 when the text matches the expression, else 0."""

    type: Literal["regex"]
    name: str = Field(default="regex", min_length=1, max_length=256)
    input: TemplateText = ANSWER
    """Template of the text."""
    pattern: str = Field(min_length=1, max_length=MAX_PATTERN)
    """The expression, in the syntax of Rust's `regex` without look-around and back-references;
    `\\d` and `\\w` are ASCII, as in JavaScript. Not a template.
    """
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


COSINE: Final = "cosine"
MAX_COMPARED: Final = 262_144
"""Largest number of characters of each text, which bounds the time of a score."""
MAX_PRODUCT: Final = 2**33
"""Product of the lengths of both texts for `fuzzy_match`, whose time it bounds: about a second."""
MAX_FUZZY: Final = math.isqrt(MAX_PRODUCT)
MAX_EMBEDDED: Final = 32_768
"""Largest number of characters of each text for `cosine`, about the context of embedding models."""
# fmt: off
SimilarityMetric = Literal[
    "fuzzy_match", "bleu", "gleu", "meteor", "cosine",
    "rouge_1", "rouge_2", "rouge_3", "rouge_4", "rouge_5", "rouge_l",
]
# fmt: on


_OF_NLTK: Final = frozenset({"bleu", "gleu", "meteor"})


class TextSimilarityGrader(UnitGrader):
    """The similarity of two texts, from 0 to 1."""

    required_in_evals: ClassVar[tuple[str, ...]] = ("pass_threshold",)

    type: Literal["text_similarity"]
    name: str = Field(default="text_similarity", min_length=1, max_length=256)
    input: TemplateText
    """Template of the text that is compared, such as `{{sample.output_text}}`."""
    reference: TemplateText
    """Template of the text that it is compared with."""
    evaluation_metric: Annotated[SimilarityMetric, EmbeddingMark(COSINE)]
    """The measure of similarity; `cosine` needs the operator's embedding endpoint."""

    @field_validator("reference")
    @classmethod
    def _is_a_text(cls, reference: str) -> str:
        if not reference.strip():
            fault = "it is blank, so that there is nothing to compare with"
            raise PydanticCustomError("grader_error", "{fault}", {"fault": fault})
        return reference

    @field_validator("evaluation_metric")
    @classmethod
    def _is_installed(cls, metric: SimilarityMetric) -> SimilarityMetric:
        if metric in _OF_NLTK and find_spec("nltk") is None:
            raise ValueError(
                f"'{metric}' is not installed here: the operator adds it with "
                "pip install 'agent-rft[texts]'"
            )
        return metric

    @property
    def longest_answer(self) -> int:
        """Largest number of characters of the answer's text. A longer one scores 0."""
        return self._longest[0]

    @property
    def longest_reference(self) -> int:
        """Largest number of characters of the row's text, such that an answer of this length can be
        compared with it. A row with a longer text cannot be graded.
        """
        return self._longest[1]

    @property
    def _longest(self) -> tuple[int, int]:
        match self.evaluation_metric:
            case "cosine":
                return MAX_EMBEDDED, MAX_EMBEDDED
            case "fuzzy_match":
                return MAX_COMPARED, MAX_FUZZY
            case "bleu" | "gleu" | "meteor":
                return MAX_COMPARED, MAX_COMPARED
            case "rouge_1" | "rouge_2" | "rouge_3" | "rouge_4" | "rouge_5" | "rouge_l":
                return MAX_COMPARED, MAX_COMPARED
            case _:
                assert_never(self.evaluation_metric)


MAX_EXPECTED = 32
Tag = Annotated[str, StringConstraints(pattern=TAG)]
Section = Annotated[SectionText, StringConstraints(min_length=1, max_length=256)]


class FormatGrader(UnitGrader):
    """Share of the expected parts that the text has: tags, or headings that open sections."""

    type: Literal["format"]
    name: str = Field(default="format", min_length=1, max_length=256)
    input: TemplateText = ANSWER
    """Template of the text."""
    tags: list[Tag] = Field(default_factory=list, max_length=MAX_EXPECTED)
    """Names of tags; each must occur once, as `<name>…</name>`, around some text."""
    sections: list[Section] = Field(default_factory=list, max_length=MAX_EXPECTED)
    """Lines that open sections; each must occur once, followed by some text before the next one."""
    ordered: Flag = True
    """True: only parts in the order of the list count."""
    only: Flag = False
    """True: text outside of the parts counts as one more missing part."""
    partial: Flag = True
    """True: the score is the share of the parts; otherwise 1 for all of them and 0 for fewer."""

    @model_validator(mode="after")
    def _one_list_of_different_parts(self) -> Self:
        if bool(self.tags) == bool(self.sections):
            raise fault_at("tags", "send either 'tags' or 'sections', with at least one entry")
        field = "tags" if self.tags else "sections"
        parts = self.tags or self.sections
        if len({part.strip() for part in parts}) != len(parts):
            raise fault_at(field, "each entry stands once")
        if any(not part.strip() or "\n" in part for part in parts):
            raise fault_at(field, "an entry must be one line that is not blank")
        return self


class JsonValidGrader(UnitGrader):
    """1 when the text is JSON, and valid by the schema if there is one, else 0."""

    type: Literal["json_valid"]
    name: str = Field(default="json_valid", min_length=1, max_length=256)
    input: TemplateText = ANSWER
    """Template of the text."""
    json_schema: dict[str, Any] | None = None
    """JSON Schema (2020-12) of the value; its `$ref` must refer to parts of itself, because nothing
    is fetched.
    """
    fenced: Flag = False
    """True: the JSON may be in the only Markdown block of the text instead."""
