"""Builds files and a curriculum from feedback.

The row of a build exists before its files and names them and the people in them, so that a removal
finds the files. The row of a file is written only while no removal has named one of these people,
also by a process that is killed after it; and the build looks again once its files are written, so
that feedback which was removed in between stays in no file.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from app.domain.accounts.tenants import Tenant
from app.domain.data.example_counts import MIN_EXAMPLES
from app.domain.documents.json_object import Json
from app.domain.errors import InvalidRequest, NotFound, WrongState
from app.domain.feedback.build_requests import BuildRequest
from app.domain.feedback.builds import Assembly, FeedbackBuild, assemble, file_name
from app.domain.feedback.feedback import FeedbackFilter
from app.domain.feedback.findings import find
from app.domain.feedback.judgements import Judgement
from app.domain.feedback.rows import BuiltRow
from app.domain.ids import new_id
from app.domain.registry.curricula import CURRICULUM_SPLITS, CurriculumSplit, SplitInput
from app.domain.registry.registered_objects import LabelChanges, RegisteredVersion
from app.services.feedback.feedback import FeedbackService
from app.services.files.files import FileService
from app.services.files.row_files import RowFiles
from app.services.registry.curricula import CurriculumService
from app.store.database import Database
from app.store.unit_of_work import UnitOfWork

_UNCHANGED: Final = LabelChanges(None, None, False)


@dataclass(frozen=True, slots=True)
class BuildPorts:
    feedback: FeedbackService
    files: FileService
    row_files: RowFiles
    curricula: CurriculumService


class FeedbackBuildService:
    def __init__(self, database: Database, ports: BuildPorts, tenant: Tenant) -> None:
        self._database = database
        self._ports = ports
        self._tenant = tenant

    async def get(self, build_id: str) -> FeedbackBuild:
        """Raises `NotFound`."""
        async with self._database.tenant(self._tenant) as unit:
            return await unit.feedback_builds.get(build_id)

    async def page(self, *, after: str | None, limit: int) -> tuple[list[FeedbackBuild], bool]:
        async with self._database.tenant(self._tenant) as unit:
            return await unit.feedback_builds.page(after=after, limit=limit)

    async def plan(self, request: BuildRequest) -> Json:
        """Returns the report of a build, and stores nothing. Raises as `build` does for a
        curriculum that cannot get the files.
        """
        await self._check_curriculum(request)
        return (await self._assembly(request)).report

    async def build(self, request: BuildRequest) -> FeedbackBuild:
        """Makes the files and the curriculum. Raises `InvalidRequest` for too few rows, and
        `WrongState` for feedback that is removed meanwhile.
        """
        await self._check_curriculum(request)
        assembly = await self._assembly(request)
        _check_enough(assembly)
        build_id = new_id("fbuild_")
        file_ids: dict[CurriculumSplit, str] = {part: new_id("file-") for part in CURRICULUM_SPLITS}
        async with self._database.tenant(self._tenant) as unit:
            await unit.feedback_builds.insert(
                *(build_id, assembly.report),
                people=assembly.people,
                file_ids=list(file_ids.values()),
            )
        made: list[str] = []
        try:
            files = await self._files(build_id, file_ids, assembly, made)
            await self._check_unchanged(assembly)
            curriculum = await self._register(request, files)
        except BaseException:
            await self._ports.row_files.discard(made)
            raise
        async with self._database.tenant(self._tenant) as unit:
            await unit.feedback_builds.set_curriculum(build_id, curriculum.id, curriculum.version)
            return await unit.feedback_builds.get(build_id)

    async def _check_curriculum(self, request: BuildRequest) -> None:
        """Raises `NotFound` for an unknown curriculum, `InvalidRequest` for a name that is
        taken.
        """
        if request.curriculum_id is not None:
            try:
                await self._ports.curricula.get(request.curriculum_id)
            except NotFound as error:
                raise NotFound(error.message, param="curriculum_id", code=error.code) from error
        if request.name is not None:
            await self._ports.curricula.check_name(request.name)

    async def _assembly(self, request: BuildRequest) -> Assembly:
        where = FeedbackFilter(created_after=request.created_after)
        judgements = await self._ports.feedback.judgements(where)
        return await asyncio.to_thread(_assembled, judgements, request)

    async def _files(
        self,
        build_id: str,
        file_ids: dict[CurriculumSplit, str],
        assembly: Assembly,
        made: list[str],
    ) -> dict[CurriculumSplit, SplitInput]:
        """Writes the files. Adds their ids to `made`."""
        rows: dict[CurriculumSplit, Sequence[BuiltRow]] = {
            "training": assembly.training,
            "validation": assembly.validation,
        }
        files: dict[CurriculumSplit, SplitInput] = {}
        for split, built in rows.items():
            file_id = None
            if built:
                file_id, name = file_ids[split], file_name(build_id, split)
                rows_of_part = [row.row for row in built]
                await self._ports.row_files.write(
                    *(rows_of_part, name),
                    file_id=file_id,
                    within=lambda unit: _check_people(unit, build_id, assembly),
                )
                made.append(file_id)
            files[split] = SplitInput(file_id, None)
        return files

    async def _check_unchanged(self, assembly: Assembly) -> None:
        used = assembly.feedback_ids
        async with self._database.tenant(self._tenant) as unit:
            left = await unit.feedback.existing(used)
        if left != len(used):
            raise _changed()

    async def _register(
        self, request: BuildRequest, files: dict[CurriculumSplit, SplitInput]
    ) -> RegisteredVersion:
        if request.curriculum_id is not None:
            return await self._ports.curricula.update(request.curriculum_id, files, _UNCHANGED)
        name = request.name or ""
        return await self._ports.curricula.create(name, files, metadata=None)


def _assembled(judgements: Sequence[Judgement], request: BuildRequest) -> Assembly:
    return assemble(
        judgements,
        find(judgements),
        request.options,
        validation_share=request.validation_share,
    )


async def _check_people(unit: UnitOfWork, build_id: str, assembly: Assembly) -> None:
    """Raises `WrongState` once somebody in the files was removed. A removal that comes later waits
    for the file's row, and finds it.
    """
    if await unit.feedback_builds.people(build_id, locked=True) != sorted(set(assembly.people)):
        raise _changed()


def _changed() -> WrongState:
    return WrongState(
        "Feedback was removed while its files were built: send the build again.",
        code="feedback_changed",
    )


def _check_enough(assembly: Assembly) -> None:
    rows = len(assembly.training)
    if rows < MIN_EXAMPLES:
        raise InvalidRequest(
            f"The feedback makes {rows} rows to train, and a job needs {MIN_EXAMPLES}: collect "
            "more, or send 'dry_run': true to see what was dropped and why.",
            code="too_few_rows",
        )
