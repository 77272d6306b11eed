"""Calibration of graders on the wire (an extension)."""

from dataclasses import asdict
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from app.api.schemas.common import ClosedBody
from app.domain.documents.described import DescribedModel
from app.domain.documents.json_object import Json
from app.domain.graders.graders import Grader
from app.grading.calibration.calibration import MAX_SAMPLES, Sample


class CalibrationSample(ClosedBody):
    """An answer to score, with its row."""

    model_sample: str
    """An answer of a base model."""
    item: Json | None = None
    """The row that it answers; several answers may have the same one."""


class CalibrateGrader(ClosedBody):
    """The samples to score: exactly one of `samples`, `file_id` and `job_id`."""

    samples: (
        Annotated[
            list[CalibrationSample],
            # The service refuses more, of a body and of a file alike.
            Field(min_length=1, json_schema_extra={"maxItems": MAX_SAMPLES}),
        ]
        | None
    ) = None
    """Answers with their rows."""
    file_id: str | None = None
    """Id of a JSONL file of up to 500 such samples, one a line. In place of `model_sample` a line
    may have a `sample` with an `output_text` and other parts, such as `tool_calls`.
    """
    job_id: str | None = None
    """Id of a reinforcement job: the first 500 answers of its start model to the held-out rows,
    with their tool calls.
    """
    compare_with: Grader | None = None
    """Grader of the evaluation, whose ranking is compared."""

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if sum(each is not None for each in (self.samples, self.file_id, self.job_id)) != 1:
            raise PydanticCustomError("samples", "send one of 'samples', 'file_id' and 'job_id'")
        return self

    @property
    def inline(self) -> list[Sample]:
        return [Sample(sent.model_sample, sent.item or {}) for sent in self.samples or ()]


class ScoreBin(DescribedModel):
    """Number of scores between two bounds."""

    low: float
    """Lowest score of the bin."""
    high: float
    """End of the bin; a score equal to it counts in the next bin, if there is one."""
    count: int
    """Number of answers."""


class ThresholdFailures(DescribedModel):
    """Share of the answers that fail at one threshold."""

    threshold: float
    """A `pass_threshold`."""
    failures: float
    """Share of the answers that would fail."""


class ScoreSpread(DescribedModel):
    """The distribution of the scores."""

    mean: float
    """Mean score."""
    std: float
    """Standard deviation of the scores."""
    histogram: list[ScoreBin]
    """Ten bins from the lowest to the highest score."""
    all_lowest: float
    """Share of the rows whose answers all score 0, or the lowest score if that is below 0."""
    all_highest: float
    """Share of the rows whose answers all score 1, or the highest score if that is above 1."""
    thresholds: list[ThresholdFailures]
    """Failures at each score that occurs, or at quantiles if there are more than 50 different
    scores.
    """
    recommended: float | None
    """Threshold at which 25 to 50 % of the answers fail; `null` if there is no such threshold."""


class CalibrationProbe(DescribedModel):
    """The scores of one kind of adversarial answer."""

    name: Literal["empty", "echo", "keywords", "overlong", "format_only"]
    """Kind of the adversarial answer."""
    mean: float
    """Mean score over up to 20 rows."""
    highest: float
    """Highest score."""
    hacks: bool
    """True if such answers score as high as the real ones, or above the middle of the range."""


class GraderCalibration(DescribedModel):
    """Findings about a grader from its scores of many answers."""

    object: Literal["grader.calibration"] = "grader.calibration"
    samples: int
    """Answers that were sent."""
    scored: int
    """Answers that have a score."""
    faults: list[str]
    """The first reasons why an answer has no score."""
    scores: ScoreSpread
    """Spread of the scores."""
    agreement: float | None
    """Spearman's correlation with `compare_with`; `null` without it, or if either grader gives no
    scores or only equal ones; the report then names the reason.
    """
    probes: list[CalibrationProbe]
    """Answers that a sound grader scores low, without those that could not be tried or scored."""
    report: list[str]
    """Findings in plain words."""

    @classmethod
    def of(cls, found: Any) -> "GraderCalibration":
        """`found` is a calibration of `app.services`."""
        return cls.model_validate(asdict(found))
