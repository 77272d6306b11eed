"""Feedback as rows, alone and joined with the answers that it is about."""

from typing import Any, cast

from sqlalchemy import Select, delete, func, insert, or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from app.domain.documents.json_object import Json
from app.domain.errors import InvalidRequest, NotFound
from app.domain.feedback.feedback import Feedback, FeedbackFilter, FeedbackType, Rating
from app.domain.feedback.judgements import JudgedPrompt, Judgement, answer_of
from app.store.paging import Keyset
from app.store.schema.feedback import FeedbackTable as Table
from app.store.schema.rollouts import RolloutTable as Rollout
from app.store.schema.stored_completions import StoredCompletionTable as Completion
from app.store.storable import storable
from app.store.times import moment, unix

_Rejected = aliased(Completion)
_BY_TIME = (Table.created_at, Table.id)
_TEXTS = ("messages", "tools", "better", "worse")
_FILTERS = ("type", "author", "end_user", "completion_id", "rollout_id")


class FeedbackStore:
    def __init__(self, session: AsyncSession, project_id: str) -> None:
        self._session = session
        self._project_id = project_id

    async def insert(self, new: Feedback, *, size: int) -> Feedback:
        """Inserts feedback of `size` bytes. Returns it with its time."""
        content = {name: value for name in _TEXTS if (value := getattr(new, name)) is not None}
        inserted = await self._session.scalars(
            insert(Table)
            .values(
                id=new.id,
                project_id=self._project_id,
                type=new.type,
                author=storable(new.author),
                end_user=storable(new.end_user),
                comment=storable(new.comment),
                completion_id=new.completion_id,
                rejected_completion_id=new.rejected_completion_id,
                rollout_id=new.rollout_id,
                rating=new.rating,
                content=storable(content),
                bytes=size,
            )
            .returning(Table)
        )
        return _to_feedback(inserted.one())

    async def get(self, feedback_id: str) -> Feedback:
        """Raises `NotFound`."""
        row = await self._session.scalar(select(Table).where(Table.id == feedback_id))
        if row is None:
            raise _no_feedback(feedback_id)
        return _to_feedback(row)

    async def page(
        self, where: FeedbackFilter, *, after: str | None, limit: int
    ) -> tuple[list[Feedback], bool]:
        """Returns a page, newest first."""
        rows, more = await Keyset(_BY_TIME, descending=True).page(
            self._session,
            _filtered(select(Table), where),
            after=after,
            cursor=[Table.id == after],
            limit=limit,
        )
        return [_to_feedback(row) for row in rows], more

    async def delete(self, feedback_id: str) -> None:
        """Raises `NotFound`."""
        removed = await self._session.scalar(
            delete(Table).where(Table.id == feedback_id).returning(Table.id)
        )
        if removed is None:
            raise _no_feedback(feedback_id)

    async def existing(self, feedback_ids: list[str]) -> int:
        """Returns how many of these rows exist."""
        count = select(func.count()).select_from(Table).where(Table.id.in_(feedback_ids))
        return await self._session.scalar(count) or 0

    async def rollout_trace(self, rollout_id: str) -> Json:
        """Returns the messages and tools of a rollout. Raises `InvalidRequest` if there is none."""
        trace = await self._session.scalar(select(Rollout.trace).where(Rollout.id == rollout_id))
        if trace is None:
            raise InvalidRequest(
                f"rollout_id {rollout_id} does not exist.",
                param="rollout_id",
                code="rollout_not_found",
            )
        found: Json = trace
        return found

    async def judgements(
        self, where: FeedbackFilter, *, after: str | None, limit: int
    ) -> list[Judgement]:
        """Returns a batch of judgements, oldest first. Feedback about an answer that has no
        assistant message is left out.
        """
        query = (
            _filtered(select(Table, Completion, _Rejected, Rollout.trace), where)
            .outerjoin(
                Completion,
                (Completion.project_id == Table.project_id)
                & (Completion.id == Table.completion_id),
            )
            .outerjoin(
                _Rejected,
                (_Rejected.project_id == Table.project_id)
                & (_Rejected.id == Table.rejected_completion_id),
            )
            .outerjoin(
                Rollout,
                (Rollout.project_id == Table.project_id) & (Rollout.id == Table.rollout_id),
            )
        )
        query = await Keyset(_BY_TIME).start_after(
            self._session, query, after=after, cursor=[Table.id == after]
        )
        found = (await self._session.execute(query.limit(limit))).all()
        return [_to_judgement(row, own, other, trace) for row, own, other, trace in found]

    async def remove_of(self, person: str) -> tuple[int, int]:
        """Removes the completions of an end user, all feedback about them, and all feedback from
        or about the end user. Returns the numbers of removed completions and feedback.
        """
        own = select(Completion.id).where(Completion.end_user == person)
        feedback = await self._session.scalars(
            delete(Table)
            .where(
                or_(
                    Table.end_user == person,
                    Table.author == person,
                    Table.completion_id.in_(own),
                    Table.rejected_completion_id.in_(own),
                )
            )
            .returning(Table.id)
        )
        removed = len(feedback.all())
        completions = await self._session.scalars(
            delete(Completion).where(Completion.end_user == person).returning(Completion.id)
        )
        return len(completions.all()), removed


def _filtered(query: Select[*tuple[Any, ...]], where: FeedbackFilter) -> Any:
    """Returns the query with the conditions."""
    for name in _FILTERS:
        value = getattr(where, name)
        if value is not None:
            query = query.where(getattr(Table, name) == value)
    if where.created_after is not None:
        query = query.where(Table.created_at > moment(where.created_after))
    return query


def _to_feedback(row: Table) -> Feedback:
    content: dict[str, Any] = row.content
    return Feedback(
        id=row.id,
        type=cast("FeedbackType", row.type),
        author=row.author,
        end_user=row.end_user,
        comment=row.comment,
        created_at=unix(row.created_at),
        completion_id=row.completion_id,
        rejected_completion_id=row.rejected_completion_id,
        rollout_id=row.rollout_id,
        rating=cast("Rating | None", row.rating),
        **{name: content.get(name) for name in _TEXTS},
    )


def _to_judgement(
    row: Table, own: Completion | None, other: Completion | None, trace: Json | None
) -> Judgement:
    feedback = _to_feedback(row)
    prompt, answer = _judged(feedback, own, trace)
    better = feedback.better
    end_users = [row.end_user, *(one.end_user for one in (own, other) if one is not None)]
    if other is not None:
        answer, better = _reply_of(other), answer
    return Judgement(
        id=row.id,
        type=feedback.type,
        author=row.author,
        created_at=feedback.created_at,
        end_users=tuple(sorted({one for one in end_users if one is not None})),
        prompt=prompt,
        rating=feedback.rating,
        answer=answer_of(answer),
        better=None if better is None else answer_of(better),
    )


def _judged(
    feedback: Feedback, own: Completion | None, trace: Json | None
) -> tuple[JudgedPrompt, Json]:
    """Returns the prompt, and the answer that the feedback is about or that was rejected."""
    if own is not None:
        return JudgedPrompt(own.request["messages"], own.request["tools"]), _reply_of(own)
    if trace is not None:
        *before, answer = trace["messages"]
        return JudgedPrompt(before, trace.get("tools") or []), answer
    return JudgedPrompt(feedback.messages or [], feedback.tools or []), feedback.worse or {}


def _reply_of(completion: Completion) -> Json:
    message: Json = completion.reply["choices"][0]["message"]
    return message


def _no_feedback(feedback_id: str) -> NotFound:
    return NotFound(f"No such feedback: {feedback_id}", param="id", code="feedback_not_found")
