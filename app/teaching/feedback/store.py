"""Feedback and its builds into files, as rows."""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Select, delete, func, insert, or_, select, update
from sqlalchemy.orm import aliased

from app.kit.errors import InvalidRequest, NotFound
from app.kit.fields import Json
from app.kit.sql import Keyset, ProjectRows, from_row, moment, storable
from app.models.tables import StoredCompletionTable as Completion
from app.rollouts.tables import RolloutTable as Rollout
from app.rollouts.trajectory import chat_messages
from app.teaching.feedback.feedback import (
    Feedback,
    FeedbackFilter,
    JudgedPrompt,
    Judgement,
    answer_of,
)
from app.teaching.feedback.rows import FeedbackBuild
from app.teaching.feedback.tables import FeedbackBuildTable as Table
from app.teaching.feedback.tables import FeedbackTable as TableFeedback


class FeedbackBuildStore(ProjectRows):
    async def insert(
        self, build_id: str, report: Json, *, people: list[str], file_ids: Sequence[str]
    ) -> None:
        await self._session.execute(
            insert(Table).values(
                id=build_id,
                project_id=self._project_id,
                report=report,
                people=people,
                file_ids=list(file_ids),
            )
        )

    async def set_curriculum(self, build_id: str, curriculum_id: str, version: int) -> None:
        await self._session.execute(
            update(Table)
            .where(Table.id == build_id)
            .values(curriculum_id=curriculum_id, curriculum_version=version)
        )

    async def add_file(self, build_id: str, file_id: str) -> None:
        """Notes a file that replaces another one of the build, before it exists."""
        await self._session.execute(
            update(Table)
            .where(Table.id == build_id)
            .values(file_ids=func.array_append(Table.file_ids, file_id))
        )

    async def get(self, build_id: str) -> FeedbackBuild:
        row = await self._session.scalar(select(Table).where(Table.id == build_id))
        if row is None:
            raise NotFound(f"No such feedback build: {build_id}", param="id")
        return _to_build(row)

    async def page(self, *, after: str | None, limit: int) -> tuple[list[FeedbackBuild], bool]:
        rows, more = await Keyset((Table.created_at, Table.id), descending=True).page(
            self._session, select(Table), after=after, cursor=[Table.id == after], limit=limit
        )
        return [_to_build(row) for row in rows], more

    async def removed_people(self, build_id: str) -> frozenset[str]:
        row = await self._locked(build_id)
        return frozenset() if row is None else frozenset(row.removed_people)

    async def people(self, build_id: str) -> list[str]:
        """Returns the people whom no removal has named, sorted. Locks out further removals."""
        row = await self._locked(build_id)
        return [] if row is None else sorted(set(row.people).difference(row.removed_people))

    async def with_files(self, file_ids: Sequence[str]) -> list[FeedbackBuild]:
        rows = await self._session.scalars(
            select(Table).where(Table.file_ids.overlap(list(file_ids))).order_by(Table.id)
        )
        return [_to_build(row) for row in rows]

    async def note_jobs(
        self, build_id: str, jobs: Sequence[str], *, people: Collection[str]
    ) -> None:
        """Notes the jobs that read a file to be deleted, with digests of the people in it."""
        row = await self._locked(build_id)
        noted: Json = {"jobs": list(jobs), "people": sorted(people)}
        if row is not None and noted not in row.learned:
            row.learned = [*row.learned, noted]
            await self._session.flush()

    async def jobs_of(self, person_digest: str) -> list[str]:
        learned = await self._session.scalars(
            select(Table.learned).where(Table.learned.contains([{"people": [person_digest]}]))
        )
        noted = [one for each in learned for one in each if person_digest in one["people"]]
        return sorted({job_id for one in noted for job_id in one["jobs"]})

    async def mark_removed(self, person: str) -> list[FeedbackBuild]:
        """Notes that a person's rows must go. Returns all builds that may still have such rows."""
        await self._session.execute(
            update(Table)
            .where(Table.people.contains([person]))
            .values(removed_people=func.array_append(Table.removed_people, person))
        )
        rows = await self._session.scalars(
            select(Table).where(func.cardinality(Table.removed_people) > 0).order_by(Table.id)
        )
        return [_to_build(row) for row in rows]

    async def forget(self, build: FeedbackBuild, deleted: Collection[str]) -> list[str]:
        """Removes the people that `build` names as removed, and the ids of deleted files: the files
        that are left have none of their rows. Returns the ids of these files, unless rows of
        others must still go from them.
        """
        row = await self._locked(build.id)
        if row is None:
            return []
        row.people = [one for one in row.people if one not in build.removed_people]
        row.removed_people = [one for one in row.removed_people if one not in build.removed_people]
        row.file_ids = [file_id for file_id in row.file_ids if file_id not in deleted]
        await self._session.flush()
        return [] if row.removed_people else row.file_ids

    async def _locked(self, build_id: str) -> Table | None:
        return await self._session.scalar(
            select(Table).where(Table.id == build_id).with_for_update()
        )


def _to_build(row: Table) -> FeedbackBuild:
    return from_row(
        FeedbackBuild,
        row,
        removed_people=frozenset(row.removed_people),
        file_ids=tuple(row.file_ids),
    )


_Rejected = aliased(Completion)
_BY_TIME = (TableFeedback.created_at, TableFeedback.id)
_TEXTS = ("messages", "tools", "better", "worse")
_COLUMNS = (
    *("id", "type", "author", "end_user", "comment", "completion_id", "rejected_completion_id"),
    *("rollout_id", "rating"),
)
_FILTERS = ("type", "author", "end_user", "completion_id", "rollout_id")


class FeedbackStore(ProjectRows):
    async def insert(self, new: Feedback, *, size: int) -> Feedback:
        content = {name: value for name in _TEXTS if (value := getattr(new, name)) is not None}
        inserted = await self._session.scalars(
            insert(TableFeedback)
            .values(
                **{name: storable(getattr(new, name)) for name in _COLUMNS},
                project_id=self._project_id,
                content=storable(content),
                bytes=size,
            )
            .returning(TableFeedback)
        )
        return _to_feedback(inserted.one())

    async def get(self, feedback_id: str) -> Feedback:
        row = await self._session.scalar(
            select(TableFeedback).where(TableFeedback.id == feedback_id)
        )
        if row is None:
            raise _no_feedback(feedback_id)
        return _to_feedback(row)

    async def page(
        self, where: FeedbackFilter, *, after: str | None, limit: int
    ) -> tuple[list[Feedback], bool]:
        rows, more = await Keyset(_BY_TIME, descending=True).page(
            self._session,
            _filtered(select(TableFeedback), where),
            after=after,
            cursor=[TableFeedback.id == after],
            limit=limit,
        )
        return [_to_feedback(row) for row in rows], more

    async def delete(self, feedback_id: str) -> None:
        removed = await self._session.scalar(
            delete(TableFeedback).where(TableFeedback.id == feedback_id).returning(TableFeedback.id)
        )
        if removed is None:
            raise _no_feedback(feedback_id)

    async def existing(self, feedback_ids: list[str]) -> int:
        count = select(func.count(TableFeedback.id)).where(TableFeedback.id.in_(feedback_ids))
        return await self._session.scalar(count) or 0

    async def rollout_trace(self, rollout_id: str) -> Json:
        trace: Json | None = await self._session.scalar(
            select(Rollout.trace).where(Rollout.id == rollout_id)
        )
        if trace is None:
            raise InvalidRequest(
                f"rollout_id {rollout_id} does not exist.",
                param="rollout_id",
                code="rollout_not_found",
            )
        return trace

    async def judgements(
        self, where: FeedbackFilter, *, after: str | None, limit: int
    ) -> list[Judgement]:
        """Returns a batch, oldest first, without feedback about an answer with no message."""
        query = (
            _filtered(select(TableFeedback, Completion, _Rejected, Rollout.trace), where)
            .outerjoin(
                Completion,
                (Completion.project_id == TableFeedback.project_id)
                & (Completion.id == TableFeedback.completion_id),
            )
            .outerjoin(
                _Rejected,
                (_Rejected.project_id == TableFeedback.project_id)
                & (_Rejected.id == TableFeedback.rejected_completion_id),
            )
            .outerjoin(
                Rollout,
                (Rollout.project_id == TableFeedback.project_id)
                & (Rollout.id == TableFeedback.rollout_id),
            )
        )
        query = await Keyset(_BY_TIME).start_after(
            self._session, query, after=after, cursor=[TableFeedback.id == after]
        )
        found = (await self._session.execute(query.limit(limit))).all()
        return [_to_judgement(row, own, other, trace) for row, own, other, trace in found]

    async def remove_of(self, person: str) -> tuple[int, int]:
        """Returns the numbers of removed completions and feedback."""
        own = select(Completion.id).where(Completion.end_user == person)
        feedback = await self._session.scalars(
            delete(TableFeedback)
            .where(
                or_(
                    TableFeedback.end_user == person,
                    TableFeedback.author == person,
                    TableFeedback.completion_id.in_(own),
                    TableFeedback.rejected_completion_id.in_(own),
                )
            )
            .returning(TableFeedback.id)
        )
        removed = len(feedback.all())
        completions = await self._session.scalars(
            delete(Completion).where(Completion.end_user == person).returning(Completion.id)
        )
        return len(completions.all()), removed


def _filtered(query: Select[*tuple[Any, ...]], where: FeedbackFilter) -> Any:
    for name in _FILTERS:
        value = getattr(where, name)
        if value is not None:
            query = query.where(getattr(TableFeedback, name) == value)
    if where.created_after is not None:
        query = query.where(TableFeedback.created_at > moment(where.created_after))
    return query


def _to_feedback(row: TableFeedback) -> Feedback:
    return from_row(Feedback, row, **{name: row.content.get(name) for name in _TEXTS})


def _to_judgement(
    row: TableFeedback, own: Completion | None, other: Completion | None, trace: Json | None
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
        *before, answer = chat_messages(trace["messages"])
        return JudgedPrompt(before, trace.get("tools") or []), answer
    return JudgedPrompt(feedback.messages or [], feedback.tools or []), feedback.worse or {}


def _reply_of(completion: Completion) -> Json:
    message: Json = completion.reply["choices"][0]["message"]
    return message


def _no_feedback(feedback_id: str) -> NotFound:
    return NotFound(f"No such feedback: {feedback_id}", param="id", code="feedback_not_found")
