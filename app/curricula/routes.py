"""Routes of registered curricula."""

from fastapi import APIRouter, Request

from app.curricula.schemas import (
    CreateCurriculum,
    Curriculum,
    CurriculumPreview,
    CurriculumTest,
    PreviewCurriculum,
    RunCurriculumTest,
    UpdateCurriculum,
)
from app.http.dependencies import After, Limit, Services
from app.http.error_replies import responses
from app.http.requests import unless_client_hangs_up
from app.kit.schemas import Deleted, Page
from app.tools.registry_pages import AfterVersion, objects_page, versions_page
from app.tools.schemas import Version, label_changes, unread_keys

router = APIRouter(prefix="/v1/curricula", tags=["Curricula"])


@router.post("", operation_id="createCurriculum", responses=responses())
async def create_curriculum(body: CreateCurriculum, services: Services) -> Curriculum:
    """Registers a curriculum, as version 1."""
    unread = unread_keys(body, Curriculum)
    if body.sources is not None:
        work = services.curriculum_maker().create(
            body.name, body.sources, body.to_options(), metadata=body.metadata
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
    work = services.curriculum_maker().preview(body.sources, body.to_options())
    return CurriculumPreview.of(await unless_client_hangs_up(request, work))


@router.get("", operation_id="listCurricula", responses=responses())
async def list_curricula(
    services: Services, after: After = None, limit: Limit = 20
) -> Page[Curriculum]:
    """Lists objects, newest first, each in its newest version."""
    return objects_page(Curriculum.of, await services.curricula().page(after=after, limit=limit))


@router.get("/{curriculum_id}", operation_id="retrieveCurriculum", responses=responses(404))
async def get_curriculum(
    curriculum_id: str, services: Services, version: Version = None
) -> Curriculum:
    """Returns a curriculum, in its newest version unless `version` is sent."""
    return Curriculum.of(await services.curricula().get(curriculum_id, version=version))


@router.get(
    "/{curriculum_id}/versions", operation_id="listCurriculumVersions", responses=responses(404)
)
async def list_curriculum_versions(
    curriculum_id: str, services: Services, after: AfterVersion = None, limit: Limit = 20
) -> Page[Curriculum]:
    """Lists versions, newest first."""
    found = await services.curricula().versions(curriculum_id, before=after, limit=limit)
    return versions_page(Curriculum.of, found)


@router.post("/{curriculum_id}", operation_id="updateCurriculum", responses=responses(404))
async def update_curriculum(
    curriculum_id: str, body: UpdateCurriculum, services: Services
) -> Curriculum:
    """Makes a new version; jobs and earlier versions do not change."""
    unread = unread_keys(body, Curriculum)
    updated = await services.curricula().update(
        curriculum_id, body.to_data(every=False), label_changes(body)
    )
    return Curriculum.of(updated, unread)


@router.delete("/{curriculum_id}", operation_id="deleteCurriculum", responses=responses(404))
async def delete_curriculum(curriculum_id: str, services: Services) -> Deleted:
    """Deletes a curriculum, but not its files."""
    await services.curricula().delete(curriculum_id)
    return Deleted(id=curriculum_id, object="curriculum", deleted=True)


@router.post("/{curriculum_id}/test", operation_id="testCurriculum", responses=responses(404))
async def run_curriculum_test(
    request: Request, curriculum_id: str, services: Services, body: RunCurriculumTest | None = None
) -> CurriculumTest:
    """Reads every row as a job would, and reports every fault."""
    tools = None if body is None else frozenset(body.tools or ()) or None
    method = None if body is None else body.method
    work = services.curricula().test(curriculum_id, job_tools=tools, method=method)
    registered, report = await unless_client_hangs_up(request, work)
    return CurriculumTest.of(registered, report)
