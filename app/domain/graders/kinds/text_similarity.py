"""`text_similarity`: the similarity of two texts. Source: the hosted graders guide."""

from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from app.domain.documents.fields import EmbeddingMark
from app.domain.graders.grader_model import UnitGrader
from app.domain.graders.judge_prompts import TemplateText

COSINE: Final = "cosine"
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
