"""Feedback on the wire (an extension)."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from app.jobs.schemas import Text
from app.kit.errors import missing_parameter, refused_value
from app.kit.fields import DescribedModel, Json
from app.kit.schemas import ClosedBody
from app.teaching.feedback.feedback import (
    LONGEST_COMMENT,
    LONGEST_NAME,
    FeedbackType,
    Rating,
    SentFeedback,
)
from app.teaching.feedback.rows import (
    BuildMethod,
    BuildOptions,
    BuildRequest,
    DropReason,
    FeedbackBuild,
    FeedbackFinding,
)

Name = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME)]
_Answer = Annotated[str, StringConstraints(min_length=1)] | Json
_MOST_MESSAGES = 2048
_MOST_TOOLS = 128


class CreateFeedback(ClosedBody):
    """Feedback about an answer. `thumbs` and `correction` name one answer; `preference` names two
    stored completions of the same prompt, or has the prompt and two texts.
    """

    type: FeedbackType
    """`thumbs`: good or bad. `correction`: what it should have been. `preference`: which of two."""
    completion_id: Name | None = None
    """Id of the stored completion that is rated or corrected."""
    rollout_id: Name | None = None
    """Id of the rollout of a job whose last answer is rated or corrected."""
    rating: Rating | None = None
    """`up` or `down`; thumbs have one."""
    correction: _Answer | None = None
    """The text or the assistant message that the answer should have been; a correction has one."""
    chosen_completion_id: Name | None = None
    """Id of the stored completion with the better answer, for a preference."""
    rejected_completion_id: Name | None = None
    """Id of the stored completion with the worse answer to the same messages."""
    messages: Annotated[list[Json], Field(min_length=1, max_length=_MOST_MESSAGES)] | None = None
    """The conversation that both texts of a preference answer."""
    tools: Annotated[list[Json], Field(max_length=_MOST_TOOLS)] | None = None
    """The function tools that this conversation offered."""
    chosen: _Answer | None = None
    """The better text or assistant message, for a preference between texts."""
    rejected: _Answer | None = None
    """The worse text or assistant message."""
    comment: Annotated[str, StringConstraints(max_length=LONGEST_COMMENT)] | None = None
    """Free text for readers; no file contains it."""
    author: Name | None = None
    """Your id of the person who judges. If an author judges an answer several times, the last time
    counts.
    """
    end_user: Name | None = None
    """Your id of the person whose conversation this is; that of the stored completion if absent."""

    def to_sent(self) -> SentFeedback:
        values = {name: getattr(self, name) for name in self.model_fields_set}
        common = {name: values.pop(name, None) for name in ("comment", "author", "end_user")}
        values.pop("type")
        return SentFeedback(self.type, values, **common)


class FeedbackObject(DescribedModel):
    """Feedback that was given."""

    id: str
    object: Literal["feedback"] = "feedback"
    created_at: int
    type: FeedbackType
    """Kind of the feedback."""
    rating: Rating | None
    """The rating; `null` if these are no thumbs."""
    completion_id: str | None
    """The stored completion that was rated, corrected or preferred."""
    rejected_completion_id: str | None
    """The stored completion with the worse answer."""
    rollout_id: str | None
    """The rollout whose answer was rated or corrected."""
    messages: list[Json] | None
    """The conversation that two texts answer."""
    tools: list[Json] | None
    """The tools of that conversation."""
    better: Json | None
    """The message of the correction or of the better text."""
    worse: Json | None
    """The message of the worse text."""
    comment: str | None
    """Free text for readers."""
    author: str | None
    """The person who judged."""
    end_user: str | None
    """The person whose conversation it is."""


class FeedbackFindings(DescribedModel):
    """Feedback that repeats or contradicts other feedback, finding by finding."""

    object: Literal["feedback.findings"] = "feedback.findings"
    total: int
    """Number of all findings."""
    data: list[FeedbackFinding]
    """The first of them: duplicates, then contradictions."""


class EndUserRemoval(DescribedModel):
    """The counts and ids of an end user's data that were removed."""

    object: Literal["feedback.end_user.deleted"] = "feedback.end_user.deleted"
    deleted: Literal[True] = True
    completions: int
    """Stored chat completions."""
    feedback: int
    """Feedback by this person, or about their conversations."""
    rows: int
    """Rows of files that were built from the feedback."""
    files: list[str]
    """Ids of the files that had such rows and are deleted; files without the rows replace them."""
    curricula: list[str]
    """Ids of the curricula that have a new version, or are deleted because no row was left."""
    jobs: list[str]
    """Ids of ended jobs that read files with such rows, each once: their models keep what they
    learned, and the jobs and models can be deleted. A repeated call names them again.
    """


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
        return cls.read(build, **build.report)

    @classmethod
    def planned(cls, report: Json) -> "FeedbackBuildObject":
        return cls(id=None, created_at=None, curriculum_id=None, curriculum_version=None, **report)
