"""A collector of feedback on stored answers, and what it builds."""

from collections.abc import Iterator
from typing import Any

from agent_rft.arguments import body as body_of
from agent_rft.defaults import default_client
from agent_rft.replies import Reply
from agent_rft.synchronous.client import AgentRFT
from agent_rft_client.api.feedback import (
    create_feedback,
    create_feedback_build,
    delete_end_user_data,
    delete_feedback,
    list_feedback,
    list_feedback_findings,
)
from agent_rft_client.models.create_feedback import CreateFeedback
from agent_rft_client.models.create_feedback_build import CreateFeedbackBuild
from agent_rft_client.models.deleted import Deleted
from agent_rft_client.models.end_user_removal import EndUserRemoval
from agent_rft_client.models.feedback_build_object import FeedbackBuildObject
from agent_rft_client.models.feedback_findings import FeedbackFindings
from agent_rft_client.models.feedback_object import FeedbackObject


class FeedbackCollector:
    """Sends judgements of answers. `author` is your id of the person who judges.

    Answers are replies of `Student.chat(..., store=True)`, or ids of stored completions.
    """

    def __init__(self, author: str | None = None, *, client: AgentRFT | None = None) -> None:
        self._client, self.author = client or default_client(), author

    def thumbs_up(self, answer: Reply | str, **details: Any) -> FeedbackObject:
        """Says that an answer is good. `details` are `comment` and `end_user`."""
        return self._judge("thumbs", completion_id=_id(answer), rating="up", **details)

    def thumbs_down(self, answer: Reply | str, **details: Any) -> FeedbackObject:
        """Says that an answer is bad."""
        return self._judge("thumbs", completion_id=_id(answer), rating="down", **details)

    def correct(self, answer: Reply | str, correction: str, **details: Any) -> FeedbackObject:
        """Says what the answer should have been."""
        given = {"completion_id": _id(answer), "correction": correction}
        return self._judge("correction", **given, **details)

    def prefer(self, better: Reply | str, worse: Reply | str, **details: Any) -> FeedbackObject:
        """Says which of two answers to the same messages is better."""
        given = {"chosen_completion_id": _id(better), "rejected_completion_id": _id(worse)}
        return self._judge("preference", **given, **details)

    def _judge(self, kind: str, **given: Any) -> FeedbackObject:
        if self.author is not None:
            given.setdefault("author", self.author)
        body = body_of(CreateFeedback, {"type": kind, **given})
        return self._client.call(create_feedback.sync, FeedbackObject, body=body)

    def all(self, **filters: Any) -> Iterator[FeedbackObject]:
        """Yields the feedback of the project, newest first. `filters` are those of the call."""
        if "type" in filters:
            filters["type_"] = filters.pop("type")
        for body in self._client.pages(list_feedback.sync, FeedbackObject, **filters):
            yield body

    def findings(self) -> FeedbackFindings:
        """Returns what repeats or contradicts other feedback."""
        return self._client.call(list_feedback_findings.sync, FeedbackFindings)

    def build(
        self, name: str | None = None, *, method: str = "dpo", **options: Any
    ) -> FeedbackBuildObject:
        """Makes a curriculum from the feedback; with `dry_run=True` only says what it would be.

        `method` is `dpo` or `supervised`; `options` are those of the call.
        """
        parts = {"name": name} if name is not None else {}
        body = body_of(CreateFeedbackBuild, {"method": method, **parts, **options})
        call = create_feedback_build.sync
        return self._client.call(call, FeedbackBuildObject, body=body)

    def delete(self, feedback_id: str) -> None:
        self._client.call(delete_feedback.sync, Deleted, feedback_id)

    def forget(self, end_user: str) -> EndUserRemoval:
        """Removes the answers of an end user, the feedback on them, and the rows built from it."""
        return self._client.call(delete_end_user_data.sync, EndUserRemoval, end_user)


def _id(answer: object) -> str:
    if isinstance(answer, str):
        return answer
    if not isinstance(answer, Reply):
        raise TypeError(
            "an answer is a reply of chat(..., store=True), or its id; this is "
            f"{type(answer).__name__}"
        )
    if not answer.stored:
        raise ValueError("the service did not keep this answer: ask with chat(..., store=True)")
    return answer.id
