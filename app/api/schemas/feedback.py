"""Feedback on the wire (an extension)."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from app.api.schemas.common import ClosedBody
from app.domain.documents.field_descriptions import DescribedModel
from app.domain.documents.json_object import Json
from app.domain.feedback.feedback import (
    LONGEST_COMMENT,
    LONGEST_NAME,
    Feedback,
    FeedbackType,
    Rating,
    SentFeedback,
)
from app.domain.feedback.findings import FeedbackConflict, FindingKind
from app.domain.feedback.removals import Removal

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

    @classmethod
    def of(cls, feedback: Feedback) -> "FeedbackObject":
        names = cls.model_fields.keys() - {"object"}
        return cls(**{name: getattr(feedback, name) for name in names})


class FeedbackFinding(DescribedModel):
    """Feedback that repeats or contradicts other feedback."""

    kind: FindingKind
    """Kind of the finding."""
    message: str
    """The finding in a sentence."""
    feedback_ids: list[str]
    """Ids of the feedback, oldest first."""


class FeedbackFindings(DescribedModel):
    """Feedback that repeats or contradicts other feedback, finding by finding."""

    object: Literal["feedback.findings"] = "feedback.findings"
    total: int
    """Number of all findings."""
    data: list[FeedbackFinding]
    """The first of them: duplicates, then contradictions."""

    @classmethod
    def of(cls, found: list[FeedbackConflict], *, most: int) -> "FeedbackFindings":
        data = [
            FeedbackFinding(kind=one.kind, message=one.message, feedback_ids=list(one.feedback_ids))
            for one in found[:most]
        ]
        return cls(total=len(found), data=data)


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

    @classmethod
    def of(cls, removal: Removal) -> "EndUserRemoval":
        names = cls.model_fields.keys() - {"object", "deleted"}
        return cls(**{name: getattr(removal, name) for name in names})
