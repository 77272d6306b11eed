"""Registered curricula; reads their files as a job would, in a process of its own."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

from typing_extensions import override

from app.curricula.curricula import (
    CURRICULUM_SPLITS,
    MADE_FROM,
    MAX_ROWS,
    CurriculumSplit,
    SplitFile,
    SplitInput,
)
from app.curricula.schemas import CurriculumTest, SplitTest, line_pairs
from app.database import Database
from app.files.datasets import OVERLAPPING_ROWS, Overlap, inspect_row, refuse_unreadable
from app.files.files import TRAINING, FileRow
from app.files.row_files import Inspections, RowFiles
from app.files.rows import MAX_TRAIN_EXAMPLES, MAX_VALID_EXAMPLES, is_blank
from app.files.service import FileService
from app.jobs.file_checks import FileRules, ReadFile, lines_of, read_file
from app.jobs.schemas import Fault
from app.jobs.supervised import MethodType
from app.kit.callers import Tenant
from app.kit.errors import InvalidRequest, NotFound, PreflightIssue, missing_parameter
from app.kit.fields import Json
from app.kit.objects import Objects
from app.tools.registry import LabelChanges, Noun, RegisteredVersion
from app.tools.registry_service import RegistryPorts, RegistryService

MAX_FAULTS: Final = 100
_MAX_ROWS: Final[dict[CurriculumSplit, int]] = {
    "training": MAX_TRAIN_EXAMPLES,
    "validation": MAX_VALID_EXAMPLES,
}


@dataclass(frozen=True, slots=True)
class SplitPath:
    split: CurriculumSplit
    file_id: str
    path: Path


def check_curriculum(
    paths: tuple[SplitPath, ...],
    job_tools: frozenset[str] | None,
    method: MethodType | None,
    tested: tuple[str, int],
) -> CurriculumTest:
    method = method or recognised_method(paths[0].path)
    files = {
        part.split: read_file(
            part.path, FileRules(f"{part.split}_file", method, job_tools, _MAX_ROWS[part.split])
        )
        for part in paths
    }
    overlap = Overlap(0, ())
    if "validation" in files:
        overlap = files["training"].prompts.overlap(files["validation"].prompts)
    splits = {
        part.split: SplitTest(
            file_id=part.file_id,
            rows=file.rows,
            faulty_rows=file.faulty_rows,
            duplicate_rows=file.prompts.repeats,
            duplicate_lines=line_pairs(file.prompts.repeated_lines),
            tools=dict(sorted(file.tools.items())),
        )
        for part, file in zip(paths, files.values(), strict=True)
    }
    faults = _faults(files, overlap)
    return CurriculumTest(
        curriculum_id=tested[0],
        version=tested[1],
        method=method,
        passed=all(fault.severity != "error" for fault in faults),
        training=splits["training"],
        validation=splits.get("validation"),
        overlapping_rows=overlap.rows,
        overlapping_lines=line_pairs(overlap.lines),
        faults=[Fault.of(fault) for fault in faults],
    )


def recognised_method(path: Path) -> MethodType:
    """Returns the kind of job that the first row is for, `reinforcement` if it fits no other."""
    with path.open("rb") as file:
        first = next((line for _, line in lines_of(file) if not is_blank(line)), b"")
    methods: tuple[MethodType, ...] = ("dpo", "reinforcement", "supervised")
    for method in methods:
        if not inspect_row(method, first, 1)[1]:
            return method
    return "dpo" if b'"preferred_output"' in first else "reinforcement"


def _faults(files: dict[CurriculumSplit, ReadFile], overlap: Overlap) -> list[PreflightIssue]:
    found = [issue for file in files.values() for issue in file.issues]
    in_rows = [issue for issue in found if issue.line is not None][:MAX_FAULTS]
    of_files = [issue for issue in found if issue.line is None]
    if overlap.rows:
        of_files.append(
            PreflightIssue("warning", OVERLAPPING_ROWS, overlap.warning, "validation_file")
        )
    return [*in_rows, *of_files]


@dataclass(frozen=True, slots=True)
class DataPorts:
    files: FileService
    row_files: RowFiles
    objects: Objects
    inspections: Inspections


class CurriculumService(RegistryService):
    noun: ClassVar[Noun] = Noun.CURRICULUM

    @override
    def __init__(
        self, database: Database, ports: RegistryPorts, tenant: Tenant, *, data: DataPorts
    ) -> None:
        super().__init__(database, ports, tenant)
        self._data = data

    async def create(
        self,
        name: str,
        sent: dict[CurriculumSplit, SplitInput],
        *,
        metadata: dict[str, str] | None,
        made_from: Json | None = None,
    ) -> RegisteredVersion:
        _check_sent(sent)
        if sent["training"] == SplitInput(None, None):
            raise missing_parameter("training_file")
        made: list[str] = []
        try:
            definition = await self._definition(sent, made)
            if made_from is not None:
                definition[MADE_FROM] = made_from
            return await self._insert(name, definition, metadata=metadata)
        except BaseException:
            await self._data.row_files.discard(made)
            raise

    async def update(
        self, curriculum_id: str, sent: dict[CurriculumSplit, SplitInput], labels: LabelChanges
    ) -> RegisteredVersion:
        """Inserts a new version. A missing split stays; an empty one is removed."""
        _check_sent(sent)
        if sent.get("training") == SplitInput(None, None):
            sent = {split: data for split, data in sent.items() if split != "training"}
        before = await self.get(curriculum_id)
        made: list[str] = []
        try:
            definition = {**before.definition, **await self._definition(sent, made)}
            if sent:
                definition.pop(MADE_FROM, None)
            return await self._append(before, definition, labels)
        except BaseException:
            await self._data.row_files.discard(made)
            raise

    async def test(
        self,
        curriculum_id: str,
        *,
        job_tools: frozenset[str] | None,
        method: MethodType | None = None,
    ) -> CurriculumTest:
        """Reads every row as a job of `method` would, by default of the one that fits."""
        registered = await self.get(curriculum_id)
        made_for = (registered.definition.get(MADE_FROM) or {}).get("method")
        async with AsyncExitStack() as stack:
            paths: list[SplitPath] = []
            for split in CURRICULUM_SPLITS:
                held = registered.definition.get(split)
                if held is not None:
                    row = await self._file(held["file_id"], f"{split}_file")
                    path = await stack.enter_async_context(
                        self._data.inspections.copy(row.object_key)
                    )
                    paths.append(SplitPath(split, row.id, path))
            return await self._data.inspections.run(
                self._tenant,
                check_curriculum,
                tuple(paths),
                job_tools,
                method or made_for,
                (registered.id, registered.version),
            )

    async def _definition(
        self, sent: dict[CurriculumSplit, SplitInput], made: list[str]
    ) -> dict[str, Any]:
        definition: dict[str, Any] = {}
        for split, data in sent.items():
            if data.rows is not None:
                await asyncio.to_thread(refuse_unreadable, data.rows, split)
                row = await self._data.row_files.write(data.rows, inline_name(split))
                made.append(row.id)
            elif data.file_id is not None:
                row = await self._file(data.file_id, f"{split}_file")
            else:
                definition[split] = None
                continue
            rows = await self._count(row, f"{split}_file")
            definition[split] = asdict(SplitFile(row.id, rows, row.bytes, row.sha256))
        return definition

    async def _file(self, file_id: str, param: str) -> FileRow:
        try:
            row = await self._data.files.get(file_id)
        except NotFound as error:
            raise InvalidRequest(
                f"{param} {file_id} does not exist.", param=param, code="file_not_found"
            ) from error
        if row.purpose != TRAINING:
            raise InvalidRequest(
                f"{param} {file_id} has purpose '{row.purpose}', but must have '{TRAINING}'.",
                param=param,
            )
        return row

    async def _count(self, row: FileRow, param: str) -> int:
        counter = RowCounter(limit=MAX_ROWS)
        try:
            async for block in self._data.objects.read(row.object_key):
                await asyncio.to_thread(counter.feed, block)
        except FileNotFoundError as error:
            raise InvalidRequest(
                f"The content of {param} {row.id} is gone: upload the file again.",
                param=param,
                code="file_not_found",
            ) from error
        counter.end()
        if counter.first_too_many is not None:
            raise InvalidRequest(
                f"Line {counter.first_too_many}: a curriculum may have at most {MAX_ROWS} rows.",
                param=param,
                code="too_many_rows",
            )
        return counter.rows


class RowCounter:
    def __init__(self, *, limit: int) -> None:
        self._limit = limit
        self.rows = 0
        self.first_too_many: int | None = None
        self._line = 1
        self._has_text = False

    def feed(self, block: bytes) -> None:
        *whole, rest = block.split(b"\n")
        for piece in whole:
            self._end_line(piece)
        self._has_text = self._has_text or not is_blank(rest)

    def end(self) -> None:
        self._end_line(b"")

    def _end_line(self, piece: bytes) -> None:
        if self._has_text or not is_blank(piece):
            self.rows += 1
            if self.rows == self._limit + 1:
                self.first_too_many = self._line
        self._line += 1
        self._has_text = False


def inline_name(split: CurriculumSplit) -> str:
    return f"curriculum-{split}.jsonl"


def _check_sent(sent: dict[CurriculumSplit, SplitInput]) -> None:
    for split, data in sent.items():
        if data.file_id is not None and data.rows is not None:
            raise InvalidRequest(
                f"Send '{split}_file' or the rows in '{split}', not both.",
                param=split,
                code="invalid_value",
            )
