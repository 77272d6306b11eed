"""`text_similarity`: the similarity of two texts. Source: the hosted graders guide."""

import math
from collections.abc import Sequence
from typing import Annotated, ClassVar, Final, Literal, assert_never

from pydantic import Field
from typing_extensions import override

from app.domain.documents.fields import EmbeddingMark
from app.domain.documents.pointers import Path
from app.domain.graders.grader_model import UnitGrader
from app.domain.graders.judge_prompts import TemplateText

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

    @property
    @override
    def empty_texts(self) -> Sequence[tuple[Path, str]]:
        if self.reference.strip():
            return ()
        return [(("reference",), "it is blank, so that there is nothing to compare with")]

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
