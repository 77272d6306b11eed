"""Removes everything that an end user said, and every row that was built from it.

Completions and feedback go first, in one transaction that also notes in each build whose rows must
go and withholds its files from new jobs. Files are rewritten after it; an interrupted call is
finished by the next one, for any end user of the project.
"""

from collections.abc import AsyncIterator

from app.domain.accounts.tenants import Tenant
from app.domain.data.files import FileRow
from app.domain.documents.json_object import Json
from app.domain.errors import NotFound, WrongState
from app.domain.feedback.builds import FeedbackBuild
from app.domain.feedback.removals import Removal, person_digest
from app.domain.feedback.rows import people_of
from app.domain.ids import new_id
from app.domain.registry.curricula import CURRICULUM_SPLITS, CurriculumSplit, SplitInput
from app.domain.registry.registered_objects import LabelChanges
from app.domain.texts.strict_json import strict_loads
from app.services.feedback.builds import BuildPorts
from app.store.database import Database
from app.store.unit_of_work import UnitOfWork

_UNCHANGED = LabelChanges(None, None, False)
_WITHHELD = "Rows of an end user are being removed from this file; no new job may read it."


class EndUserService:
    def __init__(self, database: Database, ports: BuildPorts, tenant: Tenant) -> None:
        self._database = database
        self._ports = ports
        self._tenant = tenant

    async def remove(self, end_user: str) -> Removal:
        """Removes an end user's data. Raises `WrongState`, and removes nothing, while a job that
        has not ended reads a file with them.
        """
        done = Removal()
        async with self._database.tenant(self._tenant) as unit:
            done.completions, done.feedback = await unit.feedback.remove_of(end_user)
            builds = await unit.feedback_builds.mark_removed(end_user)
            for build in builds:
                await _withhold(unit, build)
        for build in builds:
            await self._clean(build, done)
        digest = person_digest(self._tenant.project_id, end_user)
        async with self._database.tenant(self._tenant) as unit:
            done.jobs = sorted({*done.jobs, *await unit.feedback_builds.jobs_of(digest)})
        return done

    async def _clean(self, build: FeedbackBuild, done: Removal) -> None:
        """Replaces the files of a build by ones without the removed rows."""
        async with self._database.tenant(self._tenant) as unit:
            files = await unit.files.existing(build.file_ids)
        replaced: dict[str, str | None] = {}
        people: dict[str, set[str]] = {}
        for file in files:
            kept, dropped = await self._divided(file, build.removed_people)
            if dropped:
                replaced[file.id] = await self._rewritten(build, file, kept) if kept else None
                people[file.id] = set().union(*map(people_of, [*kept, *dropped]))
                done.rows += len(dropped)
        await self._replace(build, replaced, done)
        for file_id in replaced:
            done.jobs += await self._learned(build, file_id, people[file_id])
            await self._ports.files.delete(file_id)
            done.files.append(file_id)
        # The build forgets a file behind its last byte, so that an interrupted call is finished.
        deleted = await self._ports.files.purge([*build.file_ids, *replaced])
        async with self._database.tenant(self._tenant) as unit:
            await unit.files.release(await unit.feedback_builds.forget(build, deleted))

    async def _learned(self, build: FeedbackBuild, file_id: str, people: set[str]) -> list[str]:
        """Returns the jobs that read a file. The build keeps them with all people in it, as the
        next removal does not find the file any more.
        """
        digests = [person_digest(self._tenant.project_id, person) for person in people]
        async with self._database.tenant(self._tenant) as unit:
            jobs = await unit.jobs.with_file(file_id)
            if jobs:
                await unit.feedback_builds.note_jobs(build.id, jobs, people=digests)
        return jobs

    async def _rewritten(self, build: FeedbackBuild, file: FileRow, rows: list[Json]) -> str:
        """Returns the id of a file with these rows. The build notes it first, so that the
        next removal finds the file of an interrupted one.
        """
        file_id = new_id("file-")
        async with self._database.tenant(self._tenant) as unit:
            await unit.feedback_builds.add_file(build.id, file_id)
        await self._ports.row_files.write(
            *(rows, file.filename),
            file_id=file_id,
            within=lambda unit: _check_alone(unit, build),
        )
        return file_id

    async def _divided(
        self, file: FileRow, removed: frozenset[str]
    ) -> tuple[list[Json], list[Json]]:
        """Returns the rows without any of these people, and the others."""
        _, chunks = await self._ports.files.content(file.id)
        kept, dropped = list[Json](), list[Json]()
        async for line in _lines(chunks):
            row: Json = strict_loads(line.decode(), most=None)
            (kept if removed.isdisjoint(people_of(row)) else dropped).append(row)
        return kept, dropped

    async def _replace(
        self, build: FeedbackBuild, replaced: dict[str, str | None], done: Removal
    ) -> None:
        """Gives the curriculum of a build a version with the new files, if its newest version has
        the old ones.
        """
        if build.curriculum_id is None:
            return
        try:
            current = await self._ports.curricula.get(build.curriculum_id)
        except NotFound:
            return
        changes: dict[CurriculumSplit, SplitInput] = {}
        for split in CURRICULUM_SPLITS:
            file_id = (current.definition.get(split) or {}).get("file_id")
            if file_id in replaced:
                changes[split] = SplitInput(replaced[file_id], None)
        if not changes:
            return
        if changes.get("training") == SplitInput(None, None):
            await self._ports.curricula.delete(current.id)
        else:
            await self._ports.curricula.update(current.id, changes, _UNCHANGED)
        done.curricula.append(current.id)


async def _withhold(unit: UnitOfWork, build: FeedbackBuild) -> None:
    """Withholds the files of a build from new jobs. Raises `WrongState` if an unfinished job reads
    one.
    """
    files = await unit.files.lock(build.file_ids)
    await unit.files.withhold([file.id for file in files], _WITHHELD)
    for file in files:
        job_id = await unit.jobs.open_with_file(file.id)
        if job_id is not None:
            raise WrongState(
                f"Job {job_id}, which has not ended, reads file {file.id} with rows of this end "
                "user; nothing was removed. Wait for its end, or end it: POST "
                f"/v1/fine_tuning/jobs/{job_id}/cancel.",
                code="file_in_use",
            )


async def _check_alone(unit: UnitOfWork, build: FeedbackBuild) -> None:
    """Raises `WrongState` if another removal has named people of the build since it was read, or
    has finished it: the rows may have theirs.
    """
    if await unit.feedback_builds.removed_people(build.id) != build.removed_people:
        raise WrongState(
            "Another removal changed the same files at this moment: send this one again.",
            code="removal_changed",
        )


async def _lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    rest = b""
    async for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            if line.strip():
                yield line
    if rest.strip():
        yield rest
