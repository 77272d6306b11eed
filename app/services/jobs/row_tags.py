"""Reads the tags of a job's held-out rows from its file."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from app.domain.data.row_tags import tags_of
from app.domain.errors import NotFound
from app.domain.jobs.jobs import MAX_VALID_EXAMPLES, Job
from app.domain.texts.strict_json import strict_loads
from app.services.files.files import FileService
from app.services.files.rows import FileLine, RowsTooFar, rows_at

_MAX_READ_BYTES: Final = 64 * 1024 * 1024
"""Bytes that are read at most, because a person waits for the page."""


@dataclass(frozen=True, slots=True)
class RowTags:
    by_row: Mapping[int, list[str]] = field(default_factory=dict)
    """Rows with at least one tag."""
    unread: str = ""
    """The reason why the rows could not be read."""


class RowTagService:
    def __init__(self, files: FileService) -> None:
        self._files = files

    async def tags(self, job: Job, name: str) -> RowTags:
        """Returns the values of the field `name` of each held-out row."""
        if job.validation_file is None:
            return RowTags(unread="The job has no file of held-out rows.")
        try:
            _, chunks = await self._files.content(job.validation_file)
            rows = await rows_at(chunks, range(MAX_VALID_EXAMPLES), max_bytes=_MAX_READ_BYTES)
        except NotFound as error:
            return RowTags(unread=error.message)
        except RowsTooFar:
            return RowTags(unread="The file of held-out rows is too large to be read for a page.")
        return RowTags(await asyncio.to_thread(_tags, rows, name))


def _tags(rows: Mapping[int, FileLine], name: str) -> dict[int, list[str]]:
    found = {}
    for index, line in rows.items():
        try:
            row = strict_loads(line.content.decode(), most=None)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict) and (tags := tags_of(row, name)):
            found[index] = tags
    return found
