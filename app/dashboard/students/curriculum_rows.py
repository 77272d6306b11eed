"""Reads the rows of a registered curriculum for its page, its kind and the sets of the gate."""

import asyncio
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final

from app.dashboard.students.example_kinds import ExampleKind, question_of
from app.dashboard.students.examples import ExampleRemark, ReadExamples, read_lines
from app.dashboard.visitors import Visitor
from app.domain.errors import NotFound
from app.domain.registry.curricula import CurriculumSplit
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

    @property
    def remarks(self) -> list[ExampleRemark]:
        """Returns the remarks of both files, and those about the two together."""
        found = [*self.practised.remarks, *self.kept.remarks]
        asked = set(map(question_of, self.practised.rows))
        both = sum(question_of(row) in asked for row in self.kept.rows)
        if both:
            what = f"{both} questions of the tests are practised too, so that these measure memory."
            found.append(ExampleRemark("Tests", what, "Make the examples again here, all at once."))
        if not self.kept.rows:
            what = "No examples are kept for tests, so that nobody sees whether practice helps."
            found.append(
                ExampleRemark("Tests", what, "Make them again here, with twenty at least.")
            )
        if self.kind is None and not found:
            cure = "Practise with them through the API, with a grader of your own."
            found.append(ExampleRemark("All", "No recipe of these pages can rate them.", cure))
        return found


async def rows_of(visitor: Visitor, curriculum: RegisteredVersion) -> CurriculumRows:
    practised = await _read(visitor, curriculum, "training")
    return CurriculumRows(practised, await _read(visitor, curriculum, "validation"))


async def kept_rows(visitor: Visitor, curriculum: RegisteredVersion) -> list[dict[str, Any]]:
    """Returns the first held-out rows."""
    return (await _read(visitor, curriculum, "validation")).rows


async def _read(
    visitor: Visitor, curriculum: RegisteredVersion, split: CurriculumSplit
) -> ReadExamples:
    held = curriculum.definition.get(split)
    if held is None:
        return ReadExamples(None)
    try:
        _, chunks = await visitor.services.files().content(held["file_id"])
    except NotFound as gone:
        read = ReadExamples(None)
        read.remark("File", gone.message, "Upload the examples again, as new ones.")
        return read
    content = bytearray()
    async with aclosing(chunks):
        async for chunk in chunks:
            content += chunk
            if len(content) >= _MOST_BYTES:
                del content[content.rfind(b"\n") + 1 :]
                break
    return await asyncio.to_thread(read_lines, bytes(content))
