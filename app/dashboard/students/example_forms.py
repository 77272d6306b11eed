"""Reads the form of examples, which may have a file and many cells.

Promises the checks of all other forms: this site sent it, and it has the session's token.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import Depends, Request
from starlette.datastructures import UploadFile

from app.dashboard.students.example_kinds import KINDS, TYPED, ExampleKind
from app.dashboard.visitors import SignedIn, check_form_token, check_site
from app.domain.errors import InvalidRequest

MOST_LINES: Final = 200
_LINES: Final = 8
_MORE: Final = 10
_OTHERS: Final = 12
_WIDEST: Final = 4
_FORMS: Final = ("multipart/form-data", "application/x-www-form-urlencoded")
_MOST_BYTES: Final = 4 * 1024 * 1024
"""Bytes of one field, of which the pasted text is the largest."""


@dataclass(frozen=True, slots=True)
class SentExamples:
    """The form as it was sent, so that the page can show it again."""

    name: str = ""
    kind: ExampleKind = ExampleKind.WORDS
    instructions: str = ""
    pasted: str = ""
    cells: Sequence[Mapping[str, str]] = ({},) * _LINES
    content: bytes = b""
    filename: str = ""
    wants_more: bool = False

    @property
    def lines(self) -> list[Mapping[str, str]]:
        """Returns the lines of the form, with empty ones to type in."""
        count = len(self.cells) + (_MORE if self.wants_more else 0)
        return [*self.cells, *({},) * (min(count, MOST_LINES) - len(self.cells))]


def kind_named(name: str) -> ExampleKind:
    """Returns a kind that can be typed. Raises `InvalidRequest`."""
    found = next((kind for kind in TYPED if kind.value == name), None)
    if found is None:
        raise InvalidRequest("There is no such kind of examples. Choose one of the page.")
    return found


async def _sent_examples(request: Request, visitor: SignedIn) -> SentExamples:
    check_site(request)
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type not in _FORMS:
        raise InvalidRequest(f"The form of examples is sent as '{_FORMS[0]}'.")
    fields, content, filename = dict[str, str](), b"", ""
    async with request.form(
        max_files=1, max_fields=_WIDEST * MOST_LINES + _OTHERS, max_part_size=_MOST_BYTES
    ) as form:
        for name, value in form.items():
            if isinstance(value, UploadFile):
                content, filename = await value.read(), value.filename or ""
            else:
                fields[name] = value
    if any("\x00" in value for value in fields.values()):
        raise InvalidRequest("NUL is not allowed in a form.")
    check_form_token(fields, visitor.owner)
    return _read(fields, content, filename)


def _read(fields: Mapping[str, str], content: bytes, filename: str) -> SentExamples:
    kind = kind_named(fields.get("kind", ExampleKind.WORDS.value))
    names = [column.name for column in KINDS[kind].columns]
    sent = fields.get("lines", "")
    count = int(sent) if sent.isdecimal() and len(sent) <= 3 else _LINES  # noqa: PLR2004 - digits of the most lines
    cells = [
        {name: fields.get(f"{name}-{line}", "") for name in names}
        for line in range(1, min(count, MOST_LINES) + 1)
    ]
    return SentExamples(
        name=fields.get("name", "").strip()[:64],
        kind=kind,
        instructions=fields.get("instructions", "").replace("\r\n", "\n"),
        pasted=fields.get("pasted", "").replace("\r\n", "\n"),
        cells=cells,
        content=content,
        filename=filename,
        wants_more=fields.get("more") is not None,
    )


ExamplesForm = Annotated[SentExamples, Depends(_sent_examples)]
