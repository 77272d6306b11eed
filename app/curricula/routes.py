"""Routes of registered curricula."""

from fastapi import APIRouter, Request

from app.curricula.curricula import CurriculumOptions
from app.curricula.schemas import (
    CreateCurriculum,
    Curriculum,
    CurriculumPreview,
    CurriculumTest,
    PreviewCurriculum,
    RunCurriculumTest,
    UpdateCurriculum,
)
from app.http.dependencies import Services
from app.http.error_replies import responses
from app.http.requests import unless_client_hangs_up
from app.tools.registry_routes import add_registry_routes
from app.tools.schemas import label_changes, unread_keys
from app.wiring import Factory

router = APIRouter(prefix="/v1/curricula", tags=["Curricula"])


@router.post("", operation_id="createCurriculum", responses=responses())
async def create_curriculum(body: CreateCurriculum, services: Services) -> Curriculum:
    """Registers a curriculum, as version 1."""
    unread = unread_keys(body, Curriculum)
    if body.sources is not None:
        work = services.curriculum_maker().create(
            body.name, body.sources, CurriculumOptions.read(body), metadata=body.metadata
        )
        return Curriculum.of(await work, unread)
    created = await services.curricula().create(
        body.name, body.to_data(every=True), metadata=body.metadata
    )
    return Curriculum.of(created, unread)


# Before the routes of a curriculum.
@router.post("/preview", operation_id="previewCurriculum", responses=responses())
async def preview_curriculum(
    request: Request, body: PreviewCurriculum, services: Services
) -> CurriculumPreview:
    """Reads sources as `createCurriculum` would, and says what it would make of them: columns,
    first rows, findings and counts. Nothing is stored.
    """
    work = services.curriculum_maker().preview(body.sources, CurriculumOptions.read(body))
    return CurriculumPreview.of(await unless_client_hangs_up(request, work))


async def update_curriculum(
    curriculum_id: str, body: UpdateCurriculum, services: Services
) -> Curriculum:
    """Makes a new version; jobs and earlier versions do not change."""
    unread = unread_keys(body, Curriculum)
    updated = await services.curricula().update(
        curriculum_id, body.to_data(every=False), label_changes(body)
    )
    return Curriculum.of(updated, unread)


add_registry_routes(
    router,
    Curriculum,
    Curriculum.of,
    Factory.curricula,
    update_curriculum,
    nouns=("curriculum", "a curriculum", "curricula"),
    deleting=", but not its files.",
)


@router.post("/{curriculum_id}/test", operation_id="testCurriculum", responses=responses(404))
async def run_curriculum_test(
    request: Request, curriculum_id: str, services: Services, body: RunCurriculumTest | None = None
) -> CurriculumTest:
    """Reads every row as a job would, and reports every fault."""
    tools = None if body is None else frozenset(body.tools or ()) or None
    method = None if body is None else body.method
    work = services.curricula().test(curriculum_id, job_tools=tools, method=method)
    return await unless_client_hangs_up(request, work)
