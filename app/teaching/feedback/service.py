"""Feedback: takes it, lists it, finds what repeats or contradicts other feedback."""

import asyncio
import json
from dataclasses import replace
from typing import Any

from app.database import Database, UnitOfWork
from app.kit.callers import Tenant
from app.kit.errors import InvalidRequest, NotFound, WrongState, refused_value
from app.kit.fields import Json
from app.kit.ids import new_id
from app.kit.texts import Redaction, redacted_in
from app.models.chat import StoredCompletion
from app.teaching.feedback.builds import MOST_BYTES, MOST_FEEDBACK
from app.teaching.feedback.feedback import (
    Feedback,
    FeedbackFilter,
    Judgement,
    SentFeedback,
    check_offered,
    check_sent,
    message_of,
)
from app.teaching.feedback.rows import FeedbackFinding, find

_BATCH = 200


class FeedbackService:
    def __init__(self, database: Database, tenant: Tenant, *, redaction: Redaction) -> None:
        """`redaction` is applied to every text of feedback before it is stored."""
        self._database = database
        self._tenant = tenant
        self._redaction = redaction

    async def give(self, sent: SentFeedback) -> Feedback:
        """Stores feedback. Raises `InvalidRequest` for an answer that does not exist, and
        `QuotaExceeded`.
        """
        check_sent(sent)
        async with self._database.tenant(self._tenant) as unit:
            new = await self._about(unit, sent, self._texts_of(sent))
            size = len(json.dumps([new.comment, new.messages, new.tools, new.better, new.worse]))
            await unit.quotas.check_feedback(size)
            return await unit.feedback.insert(new, size=size)

    async def get(self, feedback_id: str) -> Feedback:
        async with self._database.tenant(self._tenant) as unit:
            return await unit.feedback.get(feedback_id)

    async def page(
        self, where: FeedbackFilter, *, after: str | None, limit: int
    ) -> tuple[list[Feedback], bool]:
        async with self._database.tenant(self._tenant) as unit:
            return await unit.feedback.page(where, after=after, limit=limit)

    async def delete(self, feedback_id: str) -> None:
        """Deletes one piece of feedback; rows that were built from it stay. Raises `NotFound`."""
        async with self._database.tenant(self._tenant) as unit:
            await unit.feedback.delete(feedback_id)

    async def findings(self, where: FeedbackFilter) -> list[FeedbackFinding]:
        """Returns what repeats or contradicts other feedback."""
        return await asyncio.to_thread(find, await self.judgements(where))

    async def judgements(self, where: FeedbackFilter) -> list[Judgement]:
        """Returns feedback with its prompts and answers, oldest first. Raises `WrongState` for more
        than one build reads.
        """
        found, size, last = list[Judgement](), 0, None
        while True:
            async with self._database.tenant(self._tenant) as unit:
                batch = await unit.feedback.judgements(where, after=last, limit=_BATCH)
            found += batch
            size += sum(_size(one) for one in batch)
            if len(found) > MOST_FEEDBACK or size > MOST_BYTES:
                raise WrongState(
                    f"There is more feedback than {MOST_FEEDBACK} pieces or {MOST_BYTES} bytes of "
                    "answers, which is the most that is read at once: send a later "
                    "'created_after'.",
                    param="created_after",
                    code="too_much_feedback",
                )
            if len(batch) < _BATCH:
                return found
            last = batch[-1].id

    def _texts_of(self, sent: SentFeedback) -> Feedback:
        """Returns new feedback with all that the call itself contains."""
        texts: dict[str, Any] = {name: sent.get(name) for name in ("messages", "tools")}
        texts["comment"] = sent.comment
        for name, role in (("correction", "better"), ("chosen", "better"), ("rejected", "worse")):
            if sent.get(name) is not None:
                texts[role] = message_of(sent.get(name))
        return Feedback(
            id=new_id("feedback_"),
            type=sent.type,
            author=sent.author,
            end_user=sent.end_user,
            rating=sent.get("rating"),
            **redacted_in(texts, self._redaction),
        )

    async def _about(self, unit: UnitOfWork, sent: SentFeedback, new: Feedback) -> Feedback:
        """Returns the feedback with the ids of the answers that it is about, which exist."""
        chosen = "completion_id" if sent.get("completion_id") else "chosen_completion_id"
        if sent.get("rollout_id") is not None:
            trace = await _rollout(unit, sent.get("rollout_id"))
            if trace.get("tools") is not None:
                _check_calls(new, trace["tools"])
            return replace(new, rollout_id=sent.get("rollout_id"))
        if sent.get(chosen) is None:
            return new
        own = await _completion(unit, sent.get(chosen), chosen)
        _check_calls(new, own.tools)
        new = replace(new, completion_id=own.id, end_user=new.end_user or own.end_user)
        if sent.get("rejected_completion_id") is None:
            return new
        param = "rejected_completion_id"
        other = await _completion(unit, sent.get(param), param)
        if (own.messages, own.tools) != (other.messages, other.tools):
            raise refused_value(param, "its messages and tools are not those of the chosen one")
        if _answer(own) == _answer(other):
            raise refused_value(param, "its answer is the chosen one: there is nothing to prefer")
        return replace(new, rejected_completion_id=other.id)


async def _completion(unit: UnitOfWork, completion_id: str, param: str) -> StoredCompletion:
    try:
        found = await unit.stored_completions.get(completion_id)
    except NotFound as error:
        raise InvalidRequest(
            f"{param} {completion_id} does not exist, or was not stored: send 'store': true with "
            "the chat.",
            param=param,
            code="completion_not_found",
        ) from error
    if len(found.reply["choices"]) != 1:
        raise refused_value(param, "it has several choices, and feedback is about one answer")
    return found


async def _rollout(unit: UnitOfWork, rollout_id: str) -> Json:
    """Returns the trace of a rollout that ends with an answer."""
    trace = await unit.feedback.rollout_trace(rollout_id)
    messages = trace["messages"]
    if not messages[:-1] or messages[-1].get("role") != "assistant":
        raise refused_value("rollout_id", "its last message is no answer of the model")
    return trace


def _check_calls(new: Feedback, tools: list[Json]) -> None:
    if new.type == "correction" and new.better is not None:
        check_offered("correction", new.better, tools)


def _answer(completion: StoredCompletion) -> Any:
    message = completion.reply["choices"][0]["message"]
    return message.get("content"), message.get("tool_calls")


def _size(one: Judgement) -> int:
    return len(json.dumps([one.prompt.messages, one.prompt.tools, one.answer, one.better]))
