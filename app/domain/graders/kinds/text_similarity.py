"""`text_similarity`: the similarity of two texts. Source: the hosted graders guide."""

from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from app.domain.graders.grader_model import UnitGrader
from app.domain.graders.judge_prompts import TemplateText

# fmt: off
SimilarityMetric = Literal[
    "fuzzy_match", "bleu", "gleu", "meteor",
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
    evaluation_metric: SimilarityMetric
    """The measure of similarity."""

    @field_validator("evaluation_metric", mode="before")
    @classmethod
    def _not_cosine(cls, metric: Any) -> Any:
        if metric == "cosine":
            raise PydanticCustomError(
                "metric_not_available", "'cosine' is not available for reinforcement fine-tuning"
            )
        return metric
