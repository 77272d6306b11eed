"""Routes of students and their skills."""

from functools import partial

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from app.http.dependencies import After, Limit, Services
from app.http.error_replies import responses
from app.jobs.reply_schemas import FineTuningJob
from app.kit.errors import InvalidRequest
from app.kit.schemas import Page, object_page
from app.models.models import STUDENT_PREFIX
from app.models.reply_schemas import COMPLETION_REPLY, completion_reply
from app.teaching.coach.schemas import CoachChoices, CoachSessionObject
from app.teaching.plans.routes import checked_plan
from app.teaching.students.schemas import (
    CreateStudent,
    ImproveStudent,
    PromoteSkill,
    ProposeSkill,
    RollBackSkill,
    SkillObject,
    StudentChat,
    StudentDeleted,
    StudentImprovement,
    StudentObject,
    UpdateStudent,
)

router = APIRouter(prefix="/v1/students", tags=["Students"])


@router.post("", operation_id="createStudent", status_code=201, responses=responses())
async def create_student(body: CreateStudent, services: Services) -> StudentObject:
    """Creates a student. Its base model answers `student:NAME` until a skill is promoted."""
    made = await services.students().create(body.name, body.base_model, body.regression_evals)
    return StudentObject.of(made)


@router.get("", operation_id="listStudents", responses=responses())
async def list_students(
    services: Services, after: After = None, limit: Limit = 20
) -> Page[StudentObject]:
    """Lists students, newest first; `after` is a name."""
    rows, has_more = await services.students().page(after=after, limit=limit)
    return object_page([StudentObject.of(row) for row in rows], has_more=has_more)


@router.get("/{name}", operation_id="getStudent", responses=responses(404))
async def get_student(name: str, services: Services) -> StudentObject:
    """Returns a student."""
    return StudentObject.of(await services.students().get(name))


@router.post("/{name}", operation_id="updateStudent", responses=responses(404))
async def update_student(name: str, body: UpdateStudent, services: Services) -> StudentObject:
    """Chooses the regression evals of the skills that are proposed from now on, or instructs the
    version that answers now.
    """
    return StudentObject.of(await services.students().update(name, body.changes()))


@router.delete("/{name}", operation_id="deleteStudent", responses=responses(404))
async def delete_student(name: str, services: Services) -> StudentDeleted:
    """Deletes a student with its history. Its jobs and models stay."""
    await services.students().delete(name)
    return StudentDeleted(name=name)


@router.post(
    "/{name}/skills", operation_id="proposeSkill", status_code=201, responses=responses(404)
)
async def propose_skill(name: str, body: ProposeSkill, services: Services) -> SkillObject:
    """Proposes the model of a succeeded job, and opens the gate for it: two runs of each
    regression eval, of the model that answers now and of the proposed one.
    """
    return SkillObject.read(await services.students().propose(name, body.job))


@router.get("/{name}/skills", operation_id="listSkills", responses=responses(404))
async def list_skills(
    name: str, services: Services, after: After = None, limit: Limit = 20
) -> Page[SkillObject]:
    """Lists the skills of a student with the gate's decisions, newest first."""
    rows, has_more = await services.students().skills(name, after=after, limit=limit)
    return object_page([SkillObject.read(row) for row in rows], has_more=has_more)


@router.post(
    "/{name}/improve", operation_id="improveStudent", status_code=201, responses=responses(404)
)
async def improve_student(
    name: str, body: ImproveStudent, request: Request, services: Services
) -> StudentImprovement:
    """Compiles an improvement plan and creates its job, which trains from the model that answers
    for the student now. Its tuned model answers for nobody until it is proposed and promoted. With
    `coach` it starts a Coach session, which makes such jobs, proposes and promotes.
    """
    await services.students().get(name)
    recipe = None if body.recipe is None else await services.recipes().usable(body.recipe)
    shown, call = await checked_plan(
        request,
        services,
        recipe=recipe,
        request_of=partial(body.request_for, f"{STUDENT_PREFIX}{name}"),
    )
    if body.coach is None:
        job = FineTuningJob.of(await services.job_creation().create(call))
        return StudentImprovement(student=name, job=job, coach_session=None, plan=shown)
    try:
        made = await services.coach_sessions().create(
            name, call, body.coach.options(recipe, body, param="coach."), metadata=body.metadata
        )
    except InvalidRequest as error:
        if error.param not in CoachChoices.model_fields:
            raise
        raise InvalidRequest(
            error.message, param=f"coach.{error.param}", code=error.code
        ) from error
    session = CoachSessionObject.of(made)
    return StudentImprovement(student=name, job=None, coach_session=session, plan=shown)


@router.post(
    "/{name}/chat",
    operation_id="chatWithStudent",
    responses={**responses(404), **COMPLETION_REPLY},
    response_class=JSONResponse,
)
async def chat_with_student(
    name: str, body: StudentChat, request: Request, services: Services
) -> Response:
    """Samples the version that answers for the student, as `POST /v1/chat/completions` does with
    the model `student:NAME`: with its instructions if `messages` have none, at temperature 0 unless
    another one is sent.
    """
    sent = body.sent_to(name)
    await services.students().get(name)
    return await completion_reply(request, services.completions(), sent)


@router.post("/{name}/promote", operation_id="promoteSkill", responses=responses(404))
async def promote_skill(name: str, body: PromoteSkill, services: Services) -> StudentObject:
    """Makes a skill current that passed the gate. Nothing overrules the gate."""
    return StudentObject.of(await services.students().promote(name, body.skill))


@router.post("/{name}/roll_back", operation_id="rollBackSkill", responses=responses(404))
async def roll_back_skill(name: str, body: RollBackSkill, services: Services) -> StudentObject:
    """Makes a skill current again that was current before, or the base model."""
    return StudentObject.of(await services.students().roll_back(name, body.skill))
