"""The pages of students: lessons, tests, what must not be forgotten, promotion, chat."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, assert_never, get_args
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response

from app.evals.data_sources import SampledSource
from app.evals.evals import EvalRunStatus, NewEval
from app.graders.definitions import read_grader
from app.http.requests import LONGEST_TEXT, text_of, unless_client_hangs_up
from app.kit.errors import InvalidRequest, NotFound, RequestError
from app.kit.fields import Json
from app.kit.texts import TOOL_NAME
from app.models.chat import StoredCompletion
from app.models.models import STUDENT_PREFIX
from app.pages.curricula import kept_rows, rows_of
from app.pages.examples import KINDS, ExampleKind, text_of_content
from app.pages.rendering import redirect
from app.pages.student_plans import STUDENT
from app.pages.student_progress import RIGHT, RightCount, headline, verdicts
from app.pages.visitors import OwnForm, PageRoute, SignedIn, Visitor
from app.settings import DEFAULT_MODEL, TOYS
from app.teaching.coach.sessions import OPEN_SESSIONS, CoachSession, CoachStatus, Phase
from app.teaching.feedback.feedback import LONGEST_COMMENT, SentFeedback
from app.teaching.recipes.recipes import PlanRecipe
from app.teaching.students.students import MAX_REGRESSION_EVALS, Skill, SkillStatus, Student

SAMPLES: Final = ("reasoning", "customer_support", "code_assistant")
"""Recipes whose sample questions can be asked without tools; `tiny-scholar` answers half of the
first one's right.
"""
_RATED: Final = (ExampleKind.WORDS, ExampleKind.NUMBER, ExampleKind.CODE)
_MOST: Final = 200
FROM_SAMPLE: Final = "sample:"


@dataclass(frozen=True, slots=True)
class KeptSet:
    name: str
    tally: RightCount | None
    """`None` until all of its questions were answered."""

    @property
    def sentence(self) -> str:
        if self.tally is None:
            return "Its questions are being asked for the first time."
        said = f"At first {self.tally.right} of {self.tally.rows} were answered right"
        return f"{said}." if self.tally.right else f"{said}, so that nothing can be lost here yet."


async def kept_sets(visitor: Visitor, student: Student, names: Mapping[str, str]) -> list[KeptSet]:
    found = list[KeptSet]()
    for each in student.regression_sets:
        tally = None
        with suppress(NotFound):
            run = await visitor.services.eval_runs().get(each.eval_id, each.run_id)
            if run.status is EvalRunStatus.COMPLETED:
                tally = RightCount(run.counts.passed, run.counts.total)
        found.append(KeptSet(names.get(each.eval_id, each.eval_id), tally))
    return found


async def keep(visitor: Visitor, name: str, source: str) -> Student:
    """Adds a set to those of a student: `sample:RECIPE`, or the id of a curriculum."""
    student = await visitor.services.students().get(name)
    known = [each.eval_id for each in student.regression_sets]
    if len(known) >= MAX_REGRESSION_EVALS:
        raise InvalidRequest(
            f"'{name}' must not forget {len(known)} things already, and more are not compared. "
            "Change the list with the API: POST /v1/students/NAME with 'regression_evals'."
        )
    recipe, title, rows = await _questions(visitor, source)
    grader = read_grader({**recipe.options["grader"], "pass_threshold": RIGHT})
    made = await visitor.services.evals().create(
        NewEval(title, {"type": "object"}, False, (grader,), None)
    )
    source_of_rows = SampledSource.model_validate(
        {
            "type": "completions",
            "source": {"type": "file_content", "content": [{"item": row} for row in rows]},
            "input_messages": {"type": "item_reference", "item_reference": "item.messages"},
            "model": f"{STUDENT_PREFIX}{name}",
            "sampling_params": {"max_completion_tokens": 256},
        }
    )
    await visitor.services.eval_runs().create(made.id, source_of_rows, name=title, metadata=None)
    return await visitor.services.students().update(name, {"regression_evals": [*known, made.id]})


async def _questions(visitor: Visitor, source: str) -> tuple[PlanRecipe, str, list[dict[str, Any]]]:
    recipes = visitor.services.recipes()
    if source.startswith(FROM_SAMPLE):
        recipe_id = source.removeprefix(FROM_SAMPLE)
        if recipe_id not in SAMPLES:
            raise NotFound("There is no such sample of questions.")
        recipe = await recipes.get(recipe_id)
        sample = recipe.sample_curriculum
        rows = [] if sample is None else list(sample.validation)
        return recipe, f"Sample: {recipe.name}", rows
    curriculum = await visitor.services.curricula().get(source)
    kind = (await rows_of(visitor, curriculum)).kind
    rows = await kept_rows(visitor, curriculum)
    if kind not in _RATED or not rows:
        raise InvalidRequest(
            f"“{curriculum.name}” cannot be kept: no question of its tests has a right answer that "
            "can be checked. Choose examples with words or numbers of a right answer."
        )
    recipe = await recipes.get(KINDS[kind].recipe)
    return recipe, curriculum.name, rows[:_MOST]


_NAME: Final = re.compile(TOOL_NAME)
router = APIRouter(include_in_schema=False, route_class=PageRoute, prefix="/teach")
_LISTED: Final = 50
_Verb = Literal["pause", "resume", "cancel"]
_PHASES: Final = {
    Phase.MEASURING: "It measures what the student can do.",
    Phase.PROMPTING: "It tries an instruction that is put before each question.",
    Phase.CHOOSING: "It chooses what to practise next.",
    Phase.TRAINING: "It lets the student practise.",
    Phase.GATING: "It compares the new version with the one that answers now.",
}


@router.get("")
async def students_page(visitor: SignedIn) -> Response:
    students, more = await visitor.services.students().page(after=None, limit=_LISTED)
    newest = [
        (await visitor.services.students().skills(student.name, after=None, limit=1))[0]
        for student in students
    ]
    models = await visitor.services.models().all()
    samples = await _samples(visitor)
    return await visitor.page(
        "students/students.html",
        lambda: {
            "listed": [
                (student, skills[0] if skills else None, headline(skills[0]) if skills else "")
                for student, skills in zip(students, newest, strict=True)
            ],
            # The toy that knows none of the samples of these pages comes last.
            "base_models": sorted(
                (model.name for model in models if model.tuned is None),
                key=lambda name: name == DEFAULT_MODEL,
            ),
            "toys": TOYS,
        },
        more=more,
        samples=samples,
    )


@router.post("/students")
async def make_student(visitor: SignedIn, form: OwnForm) -> Response:
    name = form.get("name", "").strip()
    if _NAME.match(name) is None:
        raise InvalidRequest(
            f"“{name:.80}” cannot be the name of a student: programs call it by its name. Use 1 to "
            "64 letters, digits, '_' and '-', such as support-clerk."
        )
    await visitor.services.students().create(name, form.get("base_model", ""), ())
    for recipe in SAMPLES:
        if form.get(f"keep-{recipe}"):
            await keep(visitor, name, f"{FROM_SAMPLE}{recipe}")
    return redirect(f"/teach/students/{name}")


@router.get("/students/{name}")
async def student_page(name: str, visitor: SignedIn) -> Response:
    student = await visitor.services.students().get(name)
    skills, more = await visitor.services.students().skills(name, after=None, limit=20)
    jobs, _ = await visitor.services.jobs().page(after=None, limit=10, metadata={STUDENT: name})
    names = await _eval_names(visitor, student, skills)
    kept = await kept_sets(visitor, student, names)
    curricula, _ = await visitor.services.curricula().page(after=None, limit=_LISTED)
    current = next((skill for skill in skills if skill.id == student.current_skill), None)
    samples = await _samples(visitor)
    sessions, _ = await visitor.services.coach_sessions().page(student=name, after=None, limit=1)
    coached = sessions[0] if sessions else None
    return await visitor.page(
        "students/student.html",
        lambda: {
            "coach_sentence": _coach_sentence(coached),
            "coach_verbs": [] if coached is None else _coach_verbs(coached.status),
            "skills": [
                (
                    skill,
                    headline(skill),
                    list(verdicts(skill, names)),
                    student.instructions_of(skill),
                )
                for skill in skills
            ],
            "is_waiting": any(skill.status is SkillStatus.RUNNING for skill in skills),
        },
        coached=coached,
        student=student,
        answers=current.model if current else student.base_model,
        examples_told=None if current is None else current.instructions,
        longest=LONGEST_TEXT,
        more=more,
        jobs=jobs,
        kept=kept,
        samples=samples,
        curricula=curricula,
    )


@router.post("/students/{name}/keep")
async def keep_set(name: str, visitor: SignedIn, form: OwnForm) -> Response:
    await keep(visitor, name, form.get("source", ""))
    return redirect(f"/teach/students/{name}")


@router.post("/students/{name}/instructions")
async def instruct(name: str, visitor: SignedIn, form: OwnForm) -> Response:
    """Instructs the version that answers, or brings back the instructions of its examples."""
    said = text_of(form, "instructions", longest=LONGEST_TEXT).strip()
    instructions = None if form.get("from") == "examples" else said
    await visitor.services.students().update(name, {"instructions": instructions})
    return redirect(f"/teach/students/{name}")


@router.post("/students/{name}/propose")
async def propose(name: str, visitor: SignedIn, form: OwnForm) -> Response:
    await visitor.services.students().propose(name, form.get("job", ""))
    return redirect(f"/teach/students/{name}")


@router.post("/students/{name}/promote")
async def promote(name: str, visitor: SignedIn, form: OwnForm) -> Response:
    await visitor.services.students().promote(name, form.get("skill", ""))
    return redirect(f"/teach/students/{name}")


@router.post("/students/{name}/coach/{session_id}/{verb}")
async def move_session(
    name: str, session_id: str, verb: _Verb, visitor: SignedIn, _: OwnForm
) -> Response:
    sessions = visitor.services.coach_sessions()
    if (await sessions.get(session_id)).student != name:
        raise NotFound("There is no such session of this student.")
    moves = {"pause": sessions.pause, "resume": sessions.resume, "cancel": sessions.cancel}
    await moves[verb](session_id)
    return redirect(f"/teach/students/{name}")


@router.post("/students/{name}/roll-back")
async def roll_back(name: str, visitor: SignedIn, form: OwnForm) -> Response:
    await visitor.services.students().roll_back(name, form.get("skill") or None)
    return redirect(f"/teach/students/{name}")


async def _eval_names(
    visitor: Visitor, student: Student, skills: Sequence[Skill]
) -> dict[str, str]:
    wanted = {each.eval_id for each in student.regression_sets}
    wanted |= {pair.eval_id for skill in skills for pair in skill.runs}
    names = dict[str, str]()
    for eval_id in sorted(wanted):
        with suppress(NotFound):
            names[eval_id] = (await visitor.services.evals().get(eval_id)).name
    return names


async def _samples(visitor: Visitor) -> list[tuple[str, str]]:
    recipes = visitor.services.recipes()
    return [(name, (await recipes.get(name)).name) for name in SAMPLES]


def _coach_verbs(status: CoachStatus) -> list[tuple[_Verb, str]]:
    if status not in OPEN_SESSIONS:
        return []
    running: tuple[_Verb, str] = ("pause", "Pause the Coach")
    paused: tuple[_Verb, str] = ("resume", "Resume the Coach")
    first = running if status is CoachStatus.RUNNING else paused
    return [first, ("cancel", "End the session")]


def _coach_sentence(session: CoachSession | None) -> str:
    if session is None:
        return ""
    if session.status is CoachStatus.RUNNING:
        return _PHASES[session.progress.phase]
    return session.reason or f"It is {session.status}."


chat_router = APIRouter(
    include_in_schema=False, route_class=PageRoute, prefix="/teach/students/{name}"
)
_VARIED: Final = 1.0
"""Temperature of a second answer, which shall differ from what the student says by itself."""
ChatJudgement = Literal["up", "down", "correct", "first", "second"]
Id = Annotated[str, Query(max_length=128)]


@chat_router.get("/chat")
async def chat_page(
    name: str, visitor: SignedIn, answer: Id = "", other: Id = "", thanks: Id = ""
) -> Response:
    student = await visitor.services.students().get(name)
    read = visitor.services.stored_completions().get
    stored = [await read(each) for each in (answer, other) if each]
    said = stored[0].messages if stored else []
    return await _shown(visitor, student, said, stored, thanks=thanks, wants_two=bool(other))


@chat_router.post("/chat")
async def ask(name: str, request: Request, visitor: SignedIn, form: OwnForm) -> Response:
    """Asks once, or twice to compare. The answers end with the browser's connection."""
    student = await visitor.services.students().get(name)
    prompt = text_of(form, "prompt", longest=LONGEST_TEXT)
    if not prompt.strip():
        raise InvalidRequest("The question is empty. Type one, and press Ask.", param="prompt")
    before = form.get("after", "")
    # A chat is addressed by the completion that it continues, so that no page has to carry it.
    stored = await visitor.services.stored_completions().get(before) if before else None
    messages: list[Json] = []
    if stored is not None:
        messages = [*stored.messages, {"role": "assistant", "content": _answer(stored)}]
    wants_two = bool(form.get("two"))
    body = {
        "model": f"{STUDENT_PREFIX}{name}",
        "messages": [*messages, {"role": "user", "content": prompt}],
        "max_completion_tokens": 512,
        "stream": False,
        "store": True,
        "metadata": {"student": name},
    }
    asked = [body, {**body, "temperature": _VARIED}] if wants_two else [body]
    try:
        ids = await unless_client_hangs_up(request, _ask(visitor, asked))
    except RequestError as error:
        return await _shown(
            visitor, student, messages, (), refused=error, prompt=prompt, wants_two=wants_two
        )
    return _to(name, dict(zip(("answer", "other"), ids, strict=False)))


@chat_router.post("/feedback")
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
    sent = SentFeedback(kind, values, comment=comment, author="teaching pages")
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


async def _ask(visitor: Visitor, bodies: Sequence[dict[str, Any]]) -> list[str]:
    replies = await asyncio.gather(*map(visitor.services.completions().chat, bodies))
    return [str(reply["id"]) for reply in replies]


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
