"""Rows of a stored completion, of feedback about it, and of a build from it."""

from app.database import UnitOfWork
from app.models.chat import StoredCompletion
from app.teaching.feedback.feedback import Feedback


def a_completion() -> StoredCompletion:
    reply = {"choices": [{"message": {"role": "assistant", "content": "a"}}]}
    return StoredCompletion("chatcmpl-1", "m", "ann", None, [], [], reply)


def a_feedback() -> Feedback:
    return Feedback(
        "feedback_1", "thumbs", "bob", "ann", None, completion_id="chatcmpl-1", rating="up"
    )


async def insert_feedback(unit: UnitOfWork) -> None:
    """Inserts one row of each kind."""
    await unit.stored_completions.insert(a_completion(), size=1)
    await unit.feedback.insert(a_feedback(), size=1)
    await unit.feedback_builds.insert("fbuild_1", {}, people=["ann"], file_ids=["file-1"])
