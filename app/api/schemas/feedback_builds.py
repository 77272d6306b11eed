"""Builds of files from feedback on the wire (an extension)."""

from typing import Annotated, Literal

from pydantic import Field

from app.api.schemas.common import ClosedBody
from app.api.schemas.jobs import Text
from app.domain.documents.field_descriptions import DescribedModel
from app.domain.documents.json_object import Json
from app.domain.errors import missing_parameter, refused_value
from app.domain.feedback.build_requests import BuildRequest
from app.domain.feedback.builds import FeedbackBuild
from app.domain.feedback.rows import BuildMethod, BuildOptions, DropReason

_Flag = Annotated[bool, Field(strict=True)]


class CreateFeedbackBuild(ClosedBody):
    """The files to build from the feedback of the project."""

    method: BuildMethod
    """`dpo`: pairs of thumbs up and down, and of preferences. `supervised`: corrections."""
    name: Text | None = None
    """Name of the new curriculum; instead of `curriculum_id`."""
    curriculum_id: Text | None = None
    """Id of a curriculum that gets the files as its next version."""
    corrections_as_pairs: _Flag = False
    """True prefers a correction to the answer that it corrects, for `dpo`."""
    thumbs_up_as_rows: _Flag = False
    """True learns answers with more thumbs up than down too, for `supervised`."""
    validation_share: Annotated[float, Field(strict=True, ge=0, le=0.5)] = 0.2
    """Share of the rows that is held out. Prompts that are nearly the same are on one side, unless
    `alike_rows` says otherwise. Without enough rows for both files nothing is held out; at most
    1,000 rows are.
    """
    created_after: Annotated[int, Field(ge=0, le=2**31 - 1, strict=True)] | None = None
    """Unix seconds: only later feedback is read."""
    dry_run: _Flag = False
    """True returns the counts and stores nothing."""

    def to_request(self) -> BuildRequest:
        """Raises `InvalidRequest` for an option of the other method, or not one curriculum."""
        if self.corrections_as_pairs and self.method != "dpo":
            raise refused_value("corrections_as_pairs", "only the method 'dpo' reads it")
        if self.thumbs_up_as_rows and self.method != "supervised":
            raise refused_value("thumbs_up_as_rows", "only the method 'supervised' reads it")
        if self.name is not None and self.curriculum_id is not None:
            raise refused_value("name", "it excludes 'curriculum_id': send one of them")
        if self.name is None and self.curriculum_id is None and not self.dry_run:
            raise missing_parameter("name")
        return BuildRequest(
            options=BuildOptions(
                self.method,
                corrections_as_pairs=self.corrections_as_pairs,
                thumbs_up_as_rows=self.thumbs_up_as_rows,
            ),
            validation_share=self.validation_share,
            created_after=self.created_after,
            name=self.name,
            curriculum_id=self.curriculum_id,
        )


class FeedbackSource(DescribedModel):
    """The use of the feedback of one type."""

    feedback: int
    """Feedback that was read."""
    used: int
    """Feedback that a row uses."""
    rows: int
    """Rows that it made."""


class FeedbackSources(DescribedModel):
    """The use of the feedback of each type."""

    thumbs: FeedbackSource
    """Thumbs up and down."""
    correction: FeedbackSource
    """Corrections."""
    preference: FeedbackSource
    """Preferences."""


class DroppedFeedback(DescribedModel):
    """Feedback that no row uses, for one reason."""

    reason: DropReason
    """`duplicate`: the author judged again. `outvoted`, `tied`: of the thumbs on one answer.
    `no_opposite`: no answer to the same prompt has the other thumbs. `pair_limit`: the prompt has
    16 pairs. `preference_cycle`, `correction_repeats_rejected`: other feedback contradicts it.
    `correction_changes_nothing`: it is the answer. `not_for_this_method`: another build uses it.
    `invalid_row`: no job takes such a row.
    """
    feedback: int
    """Number of pieces of feedback."""
    feedback_ids: list[str]
    """The first 20 of them."""


class FeedbackBuildReport(DescribedModel):
    """The rows that a build trains, and the use of all feedback that it read."""

    method: BuildMethod
    """Type of the job that the files are for."""
    training_rows: int
    """Rows to train."""
    validation_rows: int
    """Rows that are held out."""
    prompts: int
    """Different prompts of the rows."""
    prompt_groups: int
    """Clusters of prompts that are nearly the same; no cluster is in both files."""
    alike_rows: int = 0
    """Rows of a few templates, which were divided by what differs in them: both files have rows of
    the same form.
    """
    sources: FeedbackSources
    """Counts by type of feedback."""
    dropped: list[DroppedFeedback]
    """Feedback that no row uses, by reason."""
    findings: dict[str, int]
    """Number of findings of each kind, as in `GET /v1/feedback/findings`."""


class FeedbackBuildObject(FeedbackBuildReport):
    """A build: the report, and the curriculum with the files."""

    id: str | None
    """Id of the build; `null` after a dry run."""
    object: Literal["feedback.build"] = "feedback.build"
    created_at: int | None
    """Unix seconds; `null` after a dry run."""
    curriculum_id: str | None
    """Id of the curriculum; `null` after a dry run, and for a build that was interrupted."""
    curriculum_version: int | None
    """Version of the curriculum with these files."""

    @classmethod
    def of(cls, build: FeedbackBuild) -> "FeedbackBuildObject":
        return cls(
            id=build.id,
            created_at=build.created_at,
            curriculum_id=build.curriculum_id,
            curriculum_version=build.curriculum_version,
            **build.report,
        )

    @classmethod
    def planned(cls, report: Json) -> "FeedbackBuildObject":
        return cls(id=None, created_at=None, curriculum_id=None, curriculum_version=None, **report)
