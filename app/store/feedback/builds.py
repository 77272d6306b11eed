"""Builds of files from feedback as rows."""

from collections.abc import Collection, Sequence

from sqlalchemy import func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.documents.json_object import Json
from app.domain.errors import NotFound
from app.domain.feedback.builds import FeedbackBuild
from app.store.paging import Keyset
from app.store.schema.feedback import FeedbackBuildTable as Table
from app.store.times import unix


class FeedbackBuildStore:
    def __init__(self, session: AsyncSession, project_id: str) -> None:
        self._session = session
        self._project_id = project_id

    async def insert(
        self, build_id: str, report: Json, *, people: list[str], file_ids: Sequence[str]
    ) -> None:
        """Inserts a build whose files do not exist yet."""
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
        """Raises `NotFound`."""
        row = await self._session.scalar(select(Table).where(Table.id == build_id))
        if row is None:
            raise NotFound(f"No such feedback build: {build_id}", param="id")
        return _to_build(row)

    async def page(self, *, after: str | None, limit: int) -> tuple[list[FeedbackBuild], bool]:
        """Returns a page, newest first."""
        rows, more = await Keyset((Table.created_at, Table.id), descending=True).page(
            self._session, select(Table), after=after, cursor=[Table.id == after], limit=limit
        )
        return [_to_build(row) for row in rows], more

    async def removed_people(self, build_id: str) -> frozenset[str]:
        """Returns the people whose rows must go. Another removal waits for the end of the
        transaction.
        """
        row = await self._session.scalar(
            select(Table).where(Table.id == build_id).with_for_update()
        )
        return frozenset() if row is None else frozenset(row.removed_people)

    async def people(self, build_id: str, *, locked: bool = False) -> list[str]:
        """Returns the people whom no removal has named, sorted. A removal waits for the end of the
        transaction of a locked row.
        """
        query = select(Table).where(Table.id == build_id)
        row = await self._session.scalar(query.with_for_update() if locked else query)
        return [] if row is None else sorted(set(row.people).difference(row.removed_people))

    async def with_files(self, file_ids: Sequence[str]) -> list[FeedbackBuild]:
        """Returns the builds that any of these files belongs to."""
        rows = await self._session.scalars(
            select(Table).where(Table.file_ids.overlap(list(file_ids))).order_by(Table.id)
        )
        return [_to_build(row) for row in rows]

    async def note_jobs(
        self, build_id: str, jobs: Sequence[str], *, people: Collection[str]
    ) -> None:
        """Notes the jobs that read a file which will be deleted, with digests of the people in
        it.
        """
        row = await self._session.scalar(
            select(Table).where(Table.id == build_id).with_for_update()
        )
        noted: Json = {"jobs": list(jobs), "people": sorted(people)}
        if row is not None and noted not in row.learned:
            row.learned = [*row.learned, noted]
            await self._session.flush()

    async def jobs_of(self, person_digest: str) -> list[str]:
        """Returns the ids of the jobs that read deleted files with rows of a person, sorted."""
        learned = await self._session.scalars(
            select(Table.learned).where(Table.learned.contains([{"people": [person_digest]}]))
        )
        noted = [one for each in learned for one in each if person_digest in one["people"]]
        return sorted({job_id for one in noted for job_id in one["jobs"]})

    async def mark_removed(self, person: str) -> list[FeedbackBuild]:
        """Notes in each build with rows of a person that they must go. Returns all builds whose
        files may still have rows that must go.
        """
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
        row = await self._session.scalar(
            select(Table).where(Table.id == build.id).with_for_update()
        )
        if row is None:
            return []
        row.people = [one for one in row.people if one not in build.removed_people]
        row.removed_people = [one for one in row.removed_people if one not in build.removed_people]
        row.file_ids = [file_id for file_id in row.file_ids if file_id not in deleted]
        await self._session.flush()
        return [] if row.removed_people else row.file_ids


def _to_build(row: Table) -> FeedbackBuild:
    return FeedbackBuild(
        id=row.id,
        curriculum_id=row.curriculum_id,
        curriculum_version=row.curriculum_version,
        report=row.report,
        created_at=unix(row.created_at),
        removed_people=frozenset(row.removed_people),
        file_ids=tuple(row.file_ids),
    )
