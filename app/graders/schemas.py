"""Registered graders on the wire (an extension); the configuration inside is the hosted one."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from app.graders.calibration import MAX_SAMPLES, Sample
from app.graders.definitions import Grader
from app.jobs.schemas import Text
from app.kit.faults import UnreadKey
from app.kit.fields import DescribedModel, Json
from app.kit.schemas import ClosedBody, Metadata, WireModel
from app.tools.registry import RegisteredVersion
from app.tools.schemas import RegisteredObject, own_keys
from app.tools.trial_schemas import HeaderSafe, SampleParts


class CreateGrader(WireModel):
    """A new registered grader."""

    name: Text
    """Name that no other grader of the project has."""
    grader: Grader
    """The grader, as in a create call of a job."""
    metadata: Metadata | None = None


class UpdateGrader(WireModel):
    """Changes that make a new version of a grader; absent fields do not change."""

    name: Text | None = None
    """Name that no other grader of the project has."""
    grader: Grader | None = None
    """The new definition; `[redacted]` keeps a secret while its address stays."""
    metadata: Metadata | None = None


class RegisteredGrader(RegisteredObject):
    """A version of a registered grader, which jobs refer to by id."""

    object: Literal["grader"] = "grader"
    grader: Json
    """The definition, with secrets redacted."""

    @classmethod
    def of(
        cls, registered: RegisteredVersion, unread: Sequence[UnreadKey] = ()
    ) -> "RegisteredGrader":
        return cls.model_validate({"grader": registered.definition, **own_keys(registered, unread)})


class RunRegisteredGrader(ClosedBody):
    """The sample that a registered grader scores in a trial run."""

    model_sample: str
    """The answer that is graded."""
    item: Json | None = None
    """The row, as templates and endpoints read it."""
    sample: SampleParts | None = None
    """Further keys of `sample` besides the answer (an extension)."""
    trace_id: HeaderSafe | None = None
    """Id of the call, sent to an endpoint."""


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
    """Ten bins over the grader's scale: its own limits, or 0 to 1; where it has none and a score is
    outside of 0 to 1, from the lowest to the highest score.
    """
    all_lowest: float | None
    """Share of the rows with at least 4 answers whose answers all have the lowest score of the
    histogram; `null` if no row has 4 answers.
    """
    all_highest: float | None
    """Share of the rows with at least 4 answers whose answers all have the highest score of the
    histogram; `null` if no row has 4 answers.
    """
    no_spread: float | None
    """Share of the rows with at least 4 answers whose answers all have the same score: they teach
    nothing. `null` if no row has 4 answers.
    """
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
