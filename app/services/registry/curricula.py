"""Registered curricula: the files of jobs under one name, counted, hashed and tested.

Inline rows become files of the project, so that a job reads them like any other file.
"""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from typing_extensions import override

from app.domain.accounts.tenants import Tenant
from app.domain.data.chat_rows import is_blank
from app.domain.data.files import FileRow
from app.domain.data.row_formats import refuse_unreadable
from app.domain.documents.json_object import Json
from app.domain.errors import InvalidRequest, NotFound, missing_parameter
from app.domain.methods.supervised import MethodType
from app.domain.registry.curricula import (
    CURRICULUM_SPLITS,
    MADE_FROM,
    MAX_ROWS,
    CurriculumReport,
    CurriculumSplit,
    SplitFile,
    SplitInput,
)
from app.domain.registry.registered_objects import LabelChanges, Noun, RegisteredVersion
from app.gateways.objects import Objects
from app.services.files.files import FileService
from app.services.files.inspections import Inspections
from app.services.files.row_files import PURPOSE, RowFiles
from app.services.registry.curriculum_check import SplitPath, check_curriculum
from app.services.registry.registered_objects import RegistryPorts, RegistryService
from app.store.database import Database


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
        """Creates a curriculum. `made_from` describes the sources of files that the service made.
        Raises `InvalidRequest` for a file that is invalid, has too many rows, or is missing.
        """
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
        self,
        curriculum_id: str,
        sent: dict[CurriculumSplit, SplitInput],
        labels: LabelChanges,
    ) -> RegisteredVersion:
        """Inserts a new version. A split that is missing in `sent` stays; an empty one is
        removed.
        """
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
    ) -> tuple[RegisteredVersion, CurriculumReport]:
        """Reads every row as a job of `method` would, by default of the kind that the rows were
        made for, else of the one that fits. Without `job_tools` rows may offer any tool.
        """
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
            report = await self._data.inspections.run(
                self._tenant, check_curriculum, tuple(paths), job_tools, method or made_for
            )
        return registered, report

    async def _definition(
        self, sent: dict[CurriculumSplit, SplitInput], made: list[str]
    ) -> dict[str, Any]:
        """Returns the definition by split. Adds the ids of files that it writes to `made`."""
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
        if row.purpose != PURPOSE:
            raise InvalidRequest(
                f"{param} {file_id} has purpose '{row.purpose}', but must have '{PURPOSE}'.",
                param=param,
            )
        return row

    async def _count(self, row: FileRow, param: str) -> int:
        """Counts the lines that are not blank. Raises `InvalidRequest` at the first line beyond the
        limit.
        """
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
    """Counts rows in the blocks of a file; keeps only the state of one unfinished line."""

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
    """Returns the file name for inline rows."""
    return f"curriculum-{split}.jsonl"


def _check_sent(sent: dict[CurriculumSplit, SplitInput]) -> None:
    for split, data in sent.items():
        if data.file_id is not None and data.rows is not None:
            raise InvalidRequest(
                f"Send '{split}_file' or the rows in '{split}', not both.",
                param=split,
                code="invalid_value",
            )
