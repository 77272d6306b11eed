"""Reads the rows of a registered curriculum for its page, its kind and the sets of the gate."""

import asyncio
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final

from app.dashboard.students.examples import ReadExamples, read_lines
from app.dashboard.students.kinds import ExampleKind
from app.dashboard.visitors import Visitor
from app.domain.errors import NotFound
from app.domain.registry.curricula import CurriculumPart
from app.domain.registry.registered_objects import RegisteredVersion

_MOST_BYTES: Final = 2 * 1024 * 1024
"""Bytes of a file that a page reads; a person looks at the first examples only."""


@dataclass(frozen=True, slots=True)
class CurriculumRows:
    """The first rows of a curriculum."""

    practised: ReadExamples
    kept: ReadExamples
    """Held-out rows; empty without a validation file."""

    @property
    def kind(self) -> ExampleKind | None:
        return self.practised.kind or self.kept.kind


async def rows_of(visitor: Visitor, curriculum: RegisteredVersion) -> CurriculumRows:
    practised = await _read(visitor, curriculum, "training")
    return CurriculumRows(practised, await _read(visitor, curriculum, "validation"))


async def kept_rows(visitor: Visitor, curriculum: RegisteredVersion) -> list[dict[str, Any]]:
    """Returns the first held-out rows."""
    return (await _read(visitor, curriculum, "validation")).rows


async def _read(
    visitor: Visitor, curriculum: RegisteredVersion, split: CurriculumPart
) -> ReadExamples:
    held = curriculum.definition.get(split)
    if held is None:
        return ReadExamples(None)
    try:
        _, chunks = await visitor.services.files().content(held["file_id"])
    except NotFound as gone:
        read = ReadExamples(None)
        read.find("File", gone.message, "Upload the examples again, as new ones.")
        return read
    content = bytearray()
    async with aclosing(chunks):
        async for chunk in chunks:
            content += chunk
            if len(content) >= _MOST_BYTES:
                del content[content.rfind(b"\n") + 1 :]
                break
    return await asyncio.to_thread(read_lines, bytes(content))
