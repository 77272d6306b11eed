"""Makes or previews a curriculum. Rows from feedback keep their people on record for removals."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from anyio import open_file

from app.curricula.curricula import (
    CURRICULUM_SPLITS,
    AnySource,
    CurriculumOptions,
    CurriculumSplit,
    SplitInput,
)
from app.curricula.service import CurriculumService, inline_name
from app.curricula.source_files import SourceCopier, SourceFiles
from app.curricula.source_rows import collect_rows
from app.curricula.split_files import CollectedRows, split_path
from app.database import Database
from app.files.hub_data_sets import HubLocation
from app.files.row_files import Inspections, RowFiles
from app.kit.callers import Tenant
from app.kit.errors import InvalidRequest, WrongState, refused_value
from app.kit.fields import Json
from app.kit.ids import new_id
from app.tools.registry import RegisteredVersion

_BLOCK_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class CurriculumMakerPorts:
    row_files: RowFiles
    inspections: Inspections
    curricula: CurriculumService
    hub: HubLocation


@dataclass(frozen=True, slots=True)
class CollectedCurriculum:
    collected: CollectedRows
    sources: SourceFiles
    directory: Path


class CurriculumMaker:
    def __init__(self, database: Database, ports: CurriculumMakerPorts, tenant: Tenant) -> None:
        self._database = database
        self._ports = ports
        self._tenant = tenant
        self._copier = SourceCopier(
            database,
            tenant,
            inspections=ports.inspections,
            curricula=ports.curricula,
            hub=ports.hub,
        )

    async def preview(
        self, sources: Sequence[AnySource], options: CurriculumOptions
    ) -> CollectedRows:
        """Returns what `create` would make of the first rows, with their faults; stores nothing."""
        async with self._collected(sources, options, preview=True) as curriculum:
            return curriculum.collected

    async def create(
        self,
        name: str,
        sources: Sequence[AnySource],
        options: CurriculumOptions,
        *,
        metadata: dict[str, str] | None,
    ) -> RegisteredVersion:
        """Stores the files and registers them. Raises `InvalidRequest` for the first error."""
        async with self._collected(sources, options) as curriculum:
            _refuse_errors(curriculum.collected)
            file_ids: dict[CurriculumSplit, str] = {
                part: new_id("file-") for part in CURRICULUM_SPLITS
            }
            build_id = await self._note_people(curriculum, options, list(file_ids.values()))
            stored: list[str] = []
            try:
                files = await self._store(curriculum, file_ids, stored)
                await self._check_people(build_id, curriculum)
                made = await self._ports.curricula.create(
                    name, files, metadata=metadata, made_from=_made_from(curriculum, options)
                )
            except BaseException:
                await self._ports.row_files.discard(stored)
                raise
        if build_id is not None:
            async with self._database.tenant(self._tenant) as unit:
                await unit.feedback_builds.set_curriculum(build_id, made.id, made.version)
        return made

    @asynccontextmanager
    async def _collected(
        self, sources: Sequence[AnySource], options: CurriculumOptions, *, preview: bool = False
    ) -> AsyncIterator[CollectedCurriculum]:
        inspections = self._ports.inspections
        async with AsyncExitStack() as stack:
            directory = await stack.enter_async_context(inspections.workspace())
            copied = await self._copier.copies(sources, directory, stack)
            if copied.feedback_files and options.method == "reinforcement":
                raise refused_value(
                    "method", "rows from feedback are for 'supervised' and 'dpo' jobs"
                )
            read = partial(collect_rows, preview=preview)
            collected = await inspections.run(
                self._tenant, read, tuple(copied.files), options, directory
            )
            yield CollectedCurriculum(collected, copied, directory)

    async def _store(
        self,
        curriculum: CollectedCurriculum,
        file_ids: dict[CurriculumSplit, str],
        stored: list[str],
    ) -> dict[CurriculumSplit, SplitInput]:
        counts = {
            "training": curriculum.collected.training_rows,
            "validation": curriculum.collected.validation_rows,
        }
        files: dict[CurriculumSplit, SplitInput] = {}
        for part in CURRICULUM_SPLITS:
            file_id = file_ids[part] if counts[part] else None
            if file_id is not None:
                blocks = _blocks(split_path(curriculum.directory, part))
                await self._ports.row_files.store(blocks, inline_name(part), file_id=file_id)
                stored.append(file_id)
            files[part] = SplitInput(file_id, None)
        return files

    async def _note_people(
        self, curriculum: CollectedCurriculum, options: CurriculumOptions, file_ids: list[str]
    ) -> str | None:
        """Notes the people in rows from feedback before a file has them. Returns the record."""
        if not curriculum.sources.feedback_files:
            return None
        build_id, people = new_id("fbuild_"), curriculum.collected.people
        report = _feedback_report(curriculum.collected, options)
        async with self._database.tenant(self._tenant) as unit:
            await unit.feedback_builds.insert(build_id, report, people=people, file_ids=file_ids)
        async with self._database.tenant(self._tenant) as unit:
            builds = await unit.feedback_builds.with_files(curriculum.sources.feedback_files)
        living = {file_id for build in builds for file_id in build.file_ids}
        removed = {person for build in builds for person in build.removed_people}
        if not living.issuperset(curriculum.sources.feedback_files) or removed.intersection(people):
            raise _changed()
        return build_id

    async def _check_people(self, build_id: str | None, curriculum: CollectedCurriculum) -> None:
        """Raises `WrongState` if somebody was removed while the files were written."""
        if build_id is None:
            return
        async with self._database.tenant(self._tenant) as unit:
            left = await unit.feedback_builds.people(build_id)
        if left != curriculum.collected.people:
            raise _changed()


def _changed() -> WrongState:
    return WrongState(
        "Feedback was removed while the curriculum was made from it: send the call again.",
        code="feedback_changed",
    )


def _refuse_errors(collected: CollectedRows) -> None:
    error = collected.findings.error
    if error is None:
        return
    more = f" {error.rows} rows have such a fault." if error.rows > 1 else ""
    raise InvalidRequest(
        f"{error.message}{more}",
        param="sources" if error.source is None else f"sources[{error.source}]",
        code=error.code,
    )


def _made_from(curriculum: CollectedCurriculum, options: CurriculumOptions) -> Json:
    return {
        **options.model_dump(mode="json"),
        **curriculum.collected.summary(),
        "sources": [
            {**described, **_pinned(curriculum.collected, number)}
            for number, described in enumerate(curriculum.sources.described)
        ],
    }


def _pinned(collected: CollectedRows, source: int) -> Json:
    found = {one.revision for one in collected.readings if one.source == source and one.revision}
    return {"revision": found.pop()} if found else {}


def _feedback_report(collected: CollectedRows, options: CurriculumOptions) -> Json:
    rows = collected.feedback_rows
    return {
        "method": options.method,
        "training_rows": collected.training_rows,
        "validation_rows": collected.validation_rows,
        "prompts": collected.prompts,
        "prompt_groups": collected.clusters,
        "alike_rows": collected.alike_rows,
        "sources": {
            kind: {"feedback": 0, "used": 0, "rows": rows[kind]}
            for kind in ("thumbs", "correction", "preference")
        },
        "dropped": [],
        "findings": {},
    }


async def _blocks(path: Path) -> AsyncIterator[bytes]:
    async with await open_file(path, "rb") as file:
        while block := await file.read(_BLOCK_BYTES):
            yield block
