"""Routes of examples: a form to type, paste or upload them, and the page of a curriculum."""

import asyncio
from typing import Any, Final

from fastapi import APIRouter, Response
from fastapi.responses import RedirectResponse

from app.dashboard.refusals import PageRoute
from app.dashboard.rendering.pages import HEADERS, page
from app.dashboard.students.curriculum_rows import rows_of
from app.dashboard.students.example_forms import (
    ExamplesForm,
    SentExamples,
    kind_named,
)
from app.dashboard.students.example_kinds import (
    KINDS,
    TYPED,
    question_of,
    topics_of,
    wanted_of,
    worse_of,
)
from app.dashboard.students.examples import (
    ExampleRemark,
    ReadExamples,
    read_file,
    read_typed,
)
from app.dashboard.visitors import OwnForm, SignedIn, Visitor
from app.domain.curricula.sources import CurriculumOptions, RowsSource, SplitOptions
from app.domain.errors import InvalidRequest, RequestError
from app.domain.feedback.build_requests import BuildRequest
from app.domain.feedback.rows import BuildOptions

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
    """Makes a curriculum, or shows the form again with the remarks. Nothing is stored while one
    of them is an error.
    """
    if sent.wants_more:
        return await _form(visitor, sent, ())
    read = await asyncio.to_thread(_read, sent)
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
    """Makes a curriculum of pairs from all feedback of the project."""
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
    """Shows the first examples, what is wrong with them, and the students to teach."""
    curriculum = await visitor.services.curricula().get(curriculum_id)
    rows = await rows_of(visitor, curriculum)
    students, _ = await visitor.services.students().page(after=None, limit=_LISTED)
    counts = {
        split: (curriculum.definition.get(split) or {}).get("rows", 0)
        for split in ("training", "validation")
    }
    return await visitor.on_thread(
        lambda: page(
            "students/curriculum.html",
            form_token=visitor.form_token,
            curriculum=curriculum,
            kind=None if rows.kind is None else KINDS[rows.kind],
            counts=counts,
            remarks=rows.remarks,
            shown=[_shown(row) for row in rows.practised.rows[:_SHOWN]],
            students=students,
        )
    )


def _read(sent: SentExamples) -> ReadExamples:
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
    return await visitor.on_thread(
        lambda: page(
            "students/curricula.html",
            400 if remarks else 200,
            form_token=visitor.form_token,
            sent=sent,
            kinds=[(kind, KINDS[kind]) for kind in TYPED],
            columns=KINDS[sent.kind].columns,
            remarks=remarks,
            shown=[] if read is None else [_shown(row) for row in read.rows[:_SHOWN]],
            curricula=curricula,
            more=more,
        )
    )


def _to(curriculum_id: str) -> Response:
    path = f"/teach/examples/{curriculum_id}"
    return RedirectResponse(path, status_code=303, headers=dict(HEADERS))
