"""Routes of the chat with a student, and of the feedback on its answers.

A chat is addressed by the stored completion that it continues, so that no page has to carry it.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal, assert_never, get_args
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response

from app.http.requests import LONGEST_TEXT, text_of, unless_client_hangs_up
from app.kit.errors import InvalidRequest, RequestError
from app.kit.fields import Json
from app.models.chat import StoredCompletion
from app.models.models import STUDENT_PREFIX
from app.pages.examples import text_of_content
from app.pages.rendering import redirect
from app.pages.visitors import OwnForm, PageRoute, SignedIn, Visitor
from app.teaching.feedback.feedback import LONGEST_COMMENT, SentFeedback
from app.teaching.students.students import Student

router = APIRouter(include_in_schema=False, route_class=PageRoute, prefix="/teach/students/{name}")
_TOKENS: Final = 512
_AUTHOR: Final = "teaching pages"
ChatJudgement = Literal["up", "down", "correct", "first", "second"]
Id = Annotated[str, Query(max_length=128)]


@router.get("/chat")
async def chat_page(
    name: str, visitor: SignedIn, answer: Id = "", other: Id = "", thanks: Id = ""
) -> Response:
    student = await visitor.services.students().get(name)
    stored = [await _stored(visitor, each) for each in (answer, other) if each]
    said = stored[0].messages if stored else []
    return await _shown(visitor, student, said, stored, thanks=thanks, wants_two=bool(other))


@router.post("/chat")
async def ask(name: str, request: Request, visitor: SignedIn, form: OwnForm) -> Response:
    """Asks once, or twice to compare. The answers end with the browser's connection."""
    student = await visitor.services.students().get(name)
    prompt = text_of(form, "prompt", longest=LONGEST_TEXT)
    if not prompt.strip():
        raise InvalidRequest("The question is empty. Type one, and press Ask.", param="prompt")
    before = form.get("after", "")
    stored = await _stored(visitor, before) if before else None
    messages: list[Json] = []
    if stored is not None:
        messages = [*stored.messages, {"role": "assistant", "content": _answer(stored)}]
    wants_two = bool(form.get("two"))
    body = {
        "model": f"{STUDENT_PREFIX}{name}",
        "messages": [*messages, {"role": "user", "content": prompt}],
        "max_completion_tokens": _TOKENS,
        "temperature": 1.0,
        "stream": False,
        "store": True,
        "metadata": {"student": name},
    }
    try:
        ids = await unless_client_hangs_up(request, _ask(visitor, body, 2 if wants_two else 1))
    except RequestError as error:
        return await _shown(
            visitor, student, messages, (), refused=error, prompt=prompt, wants_two=wants_two
        )
    return _to(name, dict(zip(("answer", "other"), ids, strict=False)))


@router.post("/feedback")
async def judge(name: str, visitor: SignedIn, form: OwnForm) -> Response:
    await visitor.services.students().get(name)
    answer, other = form.get("answer", ""), form.get("other", "")
    judgement = next(
        (each for each in get_args(ChatJudgement) if each == form.get("judgement")), None
    )
    if judgement is None:
        raise InvalidRequest("Choose what you think of the answer: one of the buttons below it.")
    correction = text_of(form, "correction", longest=LONGEST_TEXT)
    kind, values = _values(judgement, answer, other, correction)
    comment = text_of(form, "comment", longest=LONGEST_COMMENT).strip() or None
    sent = SentFeedback(kind, values, comment=comment, author=_AUTHOR)
    await visitor.services.feedback().give(sent)
    kept = (other, "") if judgement == "second" else (answer, "" if judgement == "first" else other)
    shown = {"answer": kept[0], "other": kept[1], "thanks": kind}
    return _to(name, {key: value for key, value in shown.items() if value})


def _values(
    judgement: ChatJudgement, answer: str, other: str, correction: str
) -> tuple[Literal["thumbs", "correction", "preference"], dict[str, Any]]:
    match judgement:
        case "up" | "down":
            return "thumbs", {"completion_id": answer, "rating": judgement}
        case "correct":
            if not correction.strip():
                raise InvalidRequest("Type what the student should have answered.")
            return "correction", {"completion_id": answer, "correction": correction}
        case "first" | "second":
            chosen = (answer, other) if judgement == "first" else (other, answer)
            names = ("chosen_completion_id", "rejected_completion_id")
            return "preference", dict(zip(names, chosen, strict=True))
        case _:
            assert_never(judgement)


async def _ask(visitor: Visitor, body: dict[str, Any], times: int) -> list[str]:
    replies = await asyncio.gather(
        *(visitor.services.completions().chat(dict(body)) for _ in range(times))
    )
    return [str(reply["id"]) for reply in replies]


async def _stored(visitor: Visitor, completion_id: str) -> StoredCompletion:
    return await visitor.services.stored_completions().get(completion_id)


def _answer(stored: StoredCompletion) -> str:
    message: Mapping[str, Any] = stored.reply["choices"][0]["message"]
    return text_of_content(message.get("content"))


async def _shown(
    visitor: Visitor,
    student: Student,
    said: Sequence[Mapping[str, Any]],
    answers: Sequence[StoredCompletion],
    *,
    refused: RequestError | None = None,
    thanks: str = "",
    prompt: str = "",
    wants_two: bool,
) -> Response:
    return await visitor.page(
        "students/chat.html",
        lambda: {
            "said": [
                {"role": str(one.get("role")), "text": text_of_content(one.get("content"))}
                for one in said
            ],
            "answers": [(one.id, _answer(one), one.model) for one in answers],
        },
        status_code=200 if refused is None else refused.status_code,
        student=student,
        thanks=thanks,
        longest=LONGEST_TEXT,
        error="" if refused is None else refused.message,
        prompt=prompt,
        wants_two=wants_two,
    )


def _to(name: str, query: Mapping[str, str]) -> Response:
    return redirect(f"/teach/students/{name}/chat?{urlencode(query)}")
