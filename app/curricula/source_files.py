"""Copies the files of a curriculum's sources into a directory of this machine."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, assert_never

from anyio import open_file

from app.curricula.curricula import (
    CURRICULUM_SPLITS,
    AnySource,
    BuildSource,
    CurriculumSource,
    CurriculumSplit,
    FileSource,
    HubSource,
    RolloutsSource,
    RowsSource,
)
from app.curricula.rollout_rows import RolloutFiles, split_of
from app.curricula.service import CurriculumService
from app.curricula.source_rows import CollectedSource, HubFiles, PlayedRollouts, TableFile
from app.curricula.split_files import description_of, refuse_path, rollout_line
from app.database import Database
from app.files.files import FileRow
from app.files.hub_data_sets import HubLocation
from app.files.row_files import Inspections, content_gone
from app.files.table_formats import SourceFile
from app.jobs.jobs import TERMINAL, Job
from app.kit.callers import Tenant
from app.kit.errors import InvalidRequest, NotFound, WrongState, refused_value
from app.kit.fields import Json
from app.rollouts.rollouts import RolloutCursor, RolloutFilter, RolloutRow

MOST_ROLLOUTS: Final = 200_000
_BATCH: Final = 100


@dataclass(slots=True)
class SourceFiles:
    files: list[CollectedSource] = field(default_factory=list)
    described: list[Json] = field(default_factory=list)
    feedback_files: list[str] = field(default_factory=list)


class SourceCopier:
    def __init__(
        self,
        database: Database,
        tenant: Tenant,
        *,
        inspections: Inspections,
        curricula: CurriculumService,
        hub: HubLocation,
    ) -> None:
        self._database = database
        self._tenant = tenant
        self._inspections = inspections
        self._curricula = curricula
        self._hub = hub

    async def copies(
        self, sources: Sequence[AnySource], directory: Path, stack: AsyncExitStack
    ) -> SourceFiles:
        """Returns local files, which live until `stack` closes. Raises `InvalidRequest`."""
        found = SourceFiles()
        for number, source in enumerate(sources):
            copier = _OneSourceCopier(self, number, directory, stack)
            match source:
                case FileSource():
                    await copier.file(source, found)
                case RowsSource():
                    await copier.rows(source, found)
                case CurriculumSource():
                    await copier.curriculum(source, found)
                case RolloutsSource():
                    await copier.rollouts(source, found)
                case BuildSource():
                    await copier.feedback(source, found)
                case HubSource():
                    found.files.append(HubFiles(number, source, self._hub))
                    found.described.append(description_of(source))
                case _:
                    assert_never(source)
        return found

    async def file(self, file_id: str, param: str) -> FileRow:
        refuse_path(file_id, param)
        async with self._database.tenant(self._tenant) as unit:
            found = await unit.files.existing([file_id])
        if not found:
            raise InvalidRequest(
                f"{param} {file_id} does not exist.", param=param, code="file_not_found"
            )
        return found[0]

    async def feedback_files(self, rows: Sequence[FileRow]) -> set[str]:
        ids = [row.id for row in rows]
        async with self._database.tenant(self._tenant) as unit:
            builds = await unit.feedback_builds.with_files(ids)
        return {file_id for build in builds for file_id in build.file_ids}.intersection(ids)

    async def build_files(self, build_id: str, param: str) -> list[FileRow]:
        try:
            async with self._database.tenant(self._tenant) as unit:
                build = await unit.feedback_builds.get(build_id)
                return await unit.files.existing(build.file_ids)
        except NotFound as error:
            raise InvalidRequest(
                f"{param} {build_id} does not exist.", param=param, code="build_not_found"
            ) from error

    async def parts(self, source: CurriculumSource, param: str) -> tuple[Json, list[FileRow]]:
        try:
            held = await self._curricula.get(source.curriculum_id, version=source.version)
        except NotFound as error:
            raise InvalidRequest(
                f"{param}: {error.message}", param=param, code="curriculum_not_found"
            ) from error
        ids = [part["file_id"] for each in CURRICULUM_SPLITS if (part := held.definition.get(each))]
        rows = [await self.file(file_id, param) for file_id in ids]
        return {"curriculum_id": held.id, "version": held.version}, rows

    async def job(self, job_id: str, param: str) -> Job:
        try:
            async with self._database.tenant(self._tenant) as unit:
                job = await unit.jobs.get(job_id)
        except NotFound as error:
            raise InvalidRequest(
                f"{param}: {error.message}", param=param, code="job_not_found"
            ) from error
        if job.status not in TERMINAL:
            raise WrongState(
                f"{param}: job {job_id} has not ended, and its rollouts still change.", param=param
            )
        return job

    async def batches(self, job_id: str, where: RolloutFilter) -> AsyncIterator[list[RolloutRow]]:
        cursor: RolloutCursor | None = None
        while True:
            async with self._database.tenant(self._tenant) as unit:
                batch = await unit.rollouts.batch(job_id, where, behind=cursor, limit=_BATCH)
            if not batch:
                return
            yield batch
            cursor = RolloutCursor.of(batch[-1])

    async def copy(self, row: FileRow, param: str, stack: AsyncExitStack) -> Path:
        gone = content_gone()
        gone.param = param
        return await stack.enter_async_context(self._inspections.copy(row.object_key, gone=gone))


@dataclass(frozen=True, slots=True)
class _OneSourceCopier:
    copier: SourceCopier
    number: int
    directory: Path
    stack: AsyncExitStack

    async def file(self, source: FileSource, found: SourceFiles) -> None:
        param = f"sources[{self.number}].file_id"
        row = await self.copier.file(source.file_id, param)
        file = SourceFile(
            await self.copier.copy(row, param, self.stack),
            row.filename,
            format=source.format,
            delimiter=source.delimiter,
            encoding=source.encoding,
            has_header=source.header,
        )
        table = TableFile(self.number, file, source.columns, source.limit)
        await self._add([row], [table], found)
        found.described.append(
            {**description_of(source), "filename": row.filename, "sha256": row.sha256}
        )

    async def rows(self, source: RowsSource, found: SourceFiles) -> None:
        path = self.directory / f"source-{self.number}.jsonl"
        async with await open_file(path, "wb") as out:
            for row in source.rows:
                text = json.dumps(row, ensure_ascii=False)
                await out.write(text.encode(errors="surrogatepass") + b"\n")
        file = SourceFile(path, "rows.jsonl", format="jsonl")
        found.files.append(TableFile(self.number, file, source.columns, source.limit))
        found.described.append({**description_of(source), "rows": len(source.rows)})

    async def curriculum(self, source: CurriculumSource, found: SourceFiles) -> None:
        param = f"sources[{self.number}].curriculum_id"
        version, rows = await self.copier.parts(source, param)
        await self._add(rows, await self._job_files(rows, param), found)
        found.described.append({"type": source.type, **version})

    async def feedback(self, source: BuildSource, found: SourceFiles) -> None:
        param = f"sources[{self.number}].build_id"
        rows = await self.copier.build_files(source.build_id, param)
        await self._add(rows, await self._job_files(rows, param), found)
        found.described.append(description_of(source))

    async def rollouts(self, source: RolloutsSource, found: SourceFiles) -> None:
        if source.split is not None and split_of(source.split) is None:
            reason = "evals alone have such rollouts, and jobs have none"
            raise refused_value(f"sources[{self.number}].split", reason)
        where = _where(source, f"sources[{self.number}]")
        param = f"sources[{self.number}].job_id"
        job = await self.copier.job(source.job_id, param)
        path, count = self.directory / f"rollouts-{self.number}.jsonl", 0
        async with await open_file(path, "wb") as out:
            async for batch in self.copier.batches(source.job_id, where):
                count += len(batch)
                if count > MOST_ROLLOUTS:
                    reason = f"more than {MOST_ROLLOUTS} rollouts meet the conditions; send more"
                    raise refused_value(f"sources[{self.number}]", reason)
                for rollout in batch:
                    await out.write(rollout_line(rollout))
        if count == 0:
            reason = f"no rollout of job {job.id} meets the conditions"
            raise refused_value(f"sources[{self.number}]", reason)
        files = RolloutFiles(path, await self._row_files(job, param))
        made = self.directory / f"source-{self.number}.jsonl"
        found.files.append(PlayedRollouts(self.number, files, made, f"{job.id}.jsonl"))
        found.described.append({**description_of(source), "rollouts": count})

    async def _row_files(self, job: Job, param: str) -> dict[CurriculumSplit, Path]:
        paths: dict[CurriculumSplit, Path] = {}
        parts: tuple[tuple[CurriculumSplit, str | None], ...] = (
            ("training", job.training_file), ("validation", job.validation_file),
        )  # fmt: skip
        for part, file_id in parts:
            if file_id is not None:
                row = await self.copier.file(file_id, param)
                paths[part] = await self.copier.copy(row, param, self.stack)
        return paths

    async def _job_files(self, rows: Sequence[FileRow], param: str) -> list[TableFile]:
        paths = [await self.copier.copy(row, param, self.stack) for row in rows]
        return [
            TableFile(self.number, SourceFile(path, row.filename, format="jsonl"))
            for row, path in zip(rows, paths, strict=True)
        ]

    async def _add(
        self, rows: Sequence[FileRow], files: Sequence[TableFile], found: SourceFiles
    ) -> None:
        of_feedback = await self.copier.feedback_files(rows)
        found.feedback_files += sorted(of_feedback)
        found.files += [
            replace(file, from_feedback=row.id in of_feedback)
            for row, file in zip(rows, files, strict=True)
        ]


def _where(source: RolloutsSource, root: str) -> RolloutFilter:
    where = RolloutFilter(
        split=source.split,
        step=source.step,
        min_reward=source.min_reward,
        max_reward=source.max_reward,
        stop_reason=source.stop_reason,
        failed=False,
    )
    try:
        where.check("step")
    except InvalidRequest as error:
        message = f"{root}: {error.message}"
        raise InvalidRequest(message, param=f"{root}.{error.param}", code=error.code) from error
    return where
