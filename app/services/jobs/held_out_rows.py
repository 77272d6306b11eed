"""Reads the held-out rows of a job from the file that the job reads.

Promises that a row has the index by which its rollouts name it, whatever rows stand around it.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from app.domain.data.example_counts import MAX_VALID_EXAMPLES
from app.domain.data.row_tags import tags_of
from app.domain.documents.json_object import Json
from app.domain.errors import NotFound
from app.domain.jobs.jobs import Job
from app.domain.texts.strict_json import strict_loads
from app.services.files.files import FileService
from app.services.files.rows import FileLine, RowsTooFar, rows_at

_MAX_READ_BYTES: Final = 64 * 1024 * 1024
"""Bytes that are read at most, because a person waits for the page."""


@dataclass(frozen=True, slots=True)
class HeldOutRows:
    by_index: Mapping[int, Json] = field(default_factory=dict)
    """The rows that are objects."""
    count: int = 0
    """Rows of the file, readable or not."""
    unread: str = ""
    """The reason why the rows could not be read."""

    def tags(self, name: str) -> dict[int, list[str]]:
        """Returns the values of the field `name` of each row that has one."""
        found = {index: tags_of(row, name) for index, row in self.by_index.items()}
        return {index: tags for index, tags in found.items() if tags}


class HeldOutRowService:
    def __init__(self, files: FileService) -> None:
        self._files = files

    async def rows(self, job: Job) -> HeldOutRows:
        if job.validation_file is None:
            return HeldOutRows(unread="The job has no file of held-out rows.")
        try:
            _, chunks = await self._files.content(job.validation_file)
            lines = await rows_at(chunks, range(MAX_VALID_EXAMPLES), max_bytes=_MAX_READ_BYTES)
        except NotFound as error:
            return HeldOutRows(unread=error.message)
        except RowsTooFar:
            return HeldOutRows(unread="The file of held-out rows is too large for a page.")
        return HeldOutRows(await asyncio.to_thread(_objects, lines), len(lines))


def _objects(lines: Mapping[int, FileLine]) -> dict[int, Json]:
    found = dict[int, Json]()
    for index, line in lines.items():
        try:
            row = strict_loads(line.content.decode(), most=None)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            found[index] = row
    return found
