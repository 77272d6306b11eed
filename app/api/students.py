"""Routes of students and their skills."""

from fastapi import APIRouter

from app.api.schemas.common import Page, object_page, page_with_cursors
from app.api.schemas.students import (
    CreateStudent,
    PromoteSkill,
    ProposeSkill,
    RollBackSkill,
    SkillObject,
    StudentDeleted,
    StudentObject,
)
from app.api.support.dependencies import After, Limit, Services
from app.api.support.errors import responses

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
    data = [StudentObject.of(row) for row in rows]
    return page_with_cursors(data, [row.name for row in rows], has_more=has_more)


@router.get("/{name}", operation_id="getStudent", responses=responses(404))
async def get_student(name: str, services: Services) -> StudentObject:
    """Returns a student."""
    return StudentObject.of(await services.students().get(name))


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
    return SkillObject.of(await services.students().propose(name, body.job))


@router.get("/{name}/skills", operation_id="listSkills", responses=responses(404))
async def list_skills(
    name: str, services: Services, after: After = None, limit: Limit = 20
) -> Page[SkillObject]:
    """Lists the skills of a student with the gate's decisions, newest first."""
    rows, has_more = await services.students().skills(name, after=after, limit=limit)
    return object_page([SkillObject.of(row) for row in rows], has_more=has_more)


@router.post("/{name}/promote", operation_id="promoteSkill", responses=responses(404))
async def promote_skill(name: str, body: PromoteSkill, services: Services) -> StudentObject:
    """Makes a skill current that passed the gate. Nothing overrules the gate."""
    return StudentObject.of(await services.students().promote(name, body.skill))


@router.post("/{name}/roll_back", operation_id="rollBackSkill", responses=responses(404))
async def roll_back_skill(name: str, body: RollBackSkill, services: Services) -> StudentObject:
    """Makes a skill current again that was current before, or the base model."""
    return StudentObject.of(await services.students().roll_back(name, body.skill))
