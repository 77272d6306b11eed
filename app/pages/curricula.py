"""The pages that make examples and show curricula."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Request, Response
from starlette.datastructures import UploadFile

from app.curricula.curricula import CurriculumOptions, CurriculumSplit, RowsSource, SplitOptions
from app.kit.errors import InvalidRequest, NotFound, RequestError
from app.pages.examples import (
    KINDS,
    TYPED,
    ExampleKind,
    ExampleRemark,
    ReadExamples,
    question_of,
    read_file,
    read_lines,
    read_typed,
    topics_of,
    wanted_of,
    worse_of,
)
from app.pages.rendering import redirect
from app.pages.visitors import OwnForm, PageRoute, SignedIn, Visitor, check_form_token, check_site
from app.teaching.feedback.rows import BuildOptions, BuildRequest
from app.tools.registry import RegisteredVersion

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
        count = len(self.cells) + (_MORE if self.wants_more else 0)
        return [*self.cells, *({},) * (min(count, MOST_LINES) - len(self.cells))]


def kind_named(name: str) -> ExampleKind:
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


_MOST_BYTES_ROWS: Final = 2 * 1024 * 1024
"""Bytes of a file that a page reads; a person looks at the first examples only."""


@dataclass(frozen=True, slots=True)
class CurriculumRows:
    practised: ReadExamples
    kept: ReadExamples
    """Held-out rows; empty without a validation file."""

    @property
    def kind(self) -> ExampleKind | None:
        return self.practised.kind or self.kept.kind

    @property
    def remarks(self) -> list[ExampleRemark]:
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
    practised = await _read_rows(visitor, curriculum, "training")
    return CurriculumRows(practised, await _read_rows(visitor, curriculum, "validation"))


async def kept_rows(visitor: Visitor, curriculum: RegisteredVersion) -> list[dict[str, Any]]:
    return (await _read_rows(visitor, curriculum, "validation")).rows


async def _read_rows(
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
            if len(content) >= _MOST_BYTES_ROWS:
                del content[content.rfind(b"\n") + 1 :]
                break
    return await asyncio.to_thread(read_lines, bytes(content))


router = APIRouter(include_in_schema=False, route_class=PageRoute, prefix="/teach/examples")
_LISTED: Final = 100
_SHOWN: Final = 10
_SHARE: Final = 0.3
"""Share of held-out rows: the gate needs many, because few make a wide interval."""
_NAMELESS: Final = ExampleRemark(
    "Name", "The examples have no name.", "Name them after the task, such as “Refunds”."
)
_TOO_ALIKE: Final = ExampleRemark(
    "All",
    "The questions are too much alike to keep some for tests.",
    "Ask about other things, too: questions that are nearly the same count as one.",
)


@router.get("")
async def examples_page(visitor: SignedIn, kind: str = "words") -> Response:
    return await _form(visitor, SentExamples(kind=kind_named(kind)), ())


@router.post("")
async def make_examples(visitor: SignedIn, sent: ExamplesForm) -> Response:
    if sent.wants_more:
        return await _form(visitor, sent, ())
    read = await asyncio.to_thread(_read_sent, sent)
    remarks = list(read.remarks) if sent.name else [_NAMELESS, *read.remarks]
    if read.kind is None or not read.is_usable or not sent.name:
        return await _form(visitor, sent, remarks, read=read)
    options = CurriculumOptions(
        method=KINDS[read.kind].method, split=SplitOptions(validation_share=_SHARE)
    )
    sources = [RowsSource(type="rows", rows=read.rows)]
    maker = visitor.services.curriculum_maker()
    try:
        found = await maker.preview(sources, options)
        if found.validation_rows == 0 and found.findings.error is None:
            return await _form(visitor, sent, [_TOO_ALIKE], read=read)
        made = await maker.create(sent.name, sources, options, metadata=None)
    except InvalidRequest as refused:
        cure = "Change it, and press the button again."
        return await _form(visitor, sent, [ExampleRemark("Name", refused.message, cure)], read=read)
    return _to(made.id)


@router.post("/from-feedback")
async def make_from_feedback(visitor: SignedIn, form: OwnForm) -> Response:
    name = form.get("name", "").strip()[:64]
    options = BuildOptions("dpo", corrections_as_pairs=True)
    request = BuildRequest(options, _SHARE, None, name or "Feedback", None)
    try:
        built = await visitor.services.feedback_builds().build(request)
    except RequestError as refused:
        cure = "Judge more answers in the chat: two answers to a question, of which one is better."
        remark = ExampleRemark("Feedback", refused.message, cure)
        return await _form(visitor, SentExamples(), [remark])
    return _to(str(built.curriculum_id))


@router.get("/{curriculum_id}")
async def curriculum_page(curriculum_id: str, visitor: SignedIn) -> Response:
    curriculum = await visitor.services.curricula().get(curriculum_id)
    rows = await rows_of(visitor, curriculum)
    students, _ = await visitor.services.students().page(after=None, limit=_LISTED)
    counts = {
        split: (curriculum.definition.get(split) or {}).get("rows", 0)
        for split in ("training", "validation")
    }
    return await visitor.page(
        "students/curriculum.html",
        lambda: {"shown": [_shown(row) for row in rows.practised.rows[:_SHOWN]]},
        curriculum=curriculum,
        kind=None if rows.kind is None else KINDS[rows.kind],
        counts=counts,
        remarks=rows.remarks,
        students=students,
    )


def _read_sent(sent: SentExamples) -> ReadExamples:
    if sent.content:
        return read_file(sent.content, sent.filename, sent.kind, sent.instructions)
    return read_typed(sent.kind, sent.cells, sent.pasted, sent.instructions)


def _shown(row: dict[str, Any]) -> dict[str, str]:
    return {
        "question": question_of(row),
        "wanted": wanted_of(row),
        "worse": worse_of(row),
        "topic": ", ".join(topics_of(row)),
    }


async def _form(
    visitor: Visitor,
    sent: SentExamples,
    remarks: list[ExampleRemark] | tuple[()],
    *,
    read: ReadExamples | None = None,
) -> Response:
    curricula, more = await visitor.services.curricula().page(after=None, limit=_LISTED)
    return await visitor.page(
        "students/curricula.html",
        lambda: {
            "kinds": [(kind, KINDS[kind]) for kind in TYPED],
            "shown": [] if read is None else [_shown(row) for row in read.rows[:_SHOWN]],
        },
        status_code=400 if remarks else 200,
        sent=sent,
        columns=KINDS[sent.kind].columns,
        remarks=remarks,
        curricula=curricula,
        more=more,
    )


def _to(curriculum_id: str) -> Response:
    return redirect(f"/teach/examples/{curriculum_id}")
