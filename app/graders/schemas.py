"""Registered graders on the wire (an extension); the configuration inside is the hosted one."""

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from app.graders.calibration import MAX_SAMPLES, Sample
from app.graders.definitions import Grader
from app.jobs.schemas import Text
from app.kit.faults import UnreadKey
from app.kit.fields import Json
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
    may have a `sample` with an `output_text` and other parts, such as `tool_calls`."""
    job_id: str | None = None
    """Id of a reinforcement job: the first 500 answers of its start model to the held-out rows,
    with their tool calls."""
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
