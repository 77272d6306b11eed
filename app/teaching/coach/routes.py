"""Routes of the Coach: its sessions and their logbooks."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Request

from app.http.dependencies import After, Limit, Services
from app.http.error_replies import responses
from app.kit.errors import NotFound
from app.kit.schemas import Page, object_page
from app.models.models import STUDENT_PREFIX
from app.teaching.coach.schemas import CoachEntry, CoachSessionObject, CreateCoachSession
from app.teaching.plans.routes import checked_plan

router = APIRouter(prefix="/v1/coach_sessions", tags=["Coach"])
_AfterNumber = Annotated[
    int, Query(ge=0, le=2**31 - 1, description="Number of the entry behind which the page begins")
]


@router.post("", operation_id="createCoachSession", status_code=201, responses=responses(404))
async def create_coach_session(
    body: CreateCoachSession, request: Request, services: Services
) -> CoachSessionObject:
    """Makes a session: it measures the student, tries prompts, trains what it expects to gain most
    from, and sends each result through the gate. Its jobs are compiled from the improvement plan.
    """
    name = body.student_name
    try:
        await services.students().get(name)
    except NotFound as error:
        raise NotFound(error.message, param="student", code=error.code) from error
    recipe = None if body.recipe is None else await services.recipes().usable(body.recipe)
    plan, call = await checked_plan(
        request,
        services,
        recipe=recipe,
        request_of=partial(body.request_for, f"{STUDENT_PREFIX}{name}"),
    )
    session = await services.coach_sessions().create(
        name, call, body.options(recipe, body), metadata=body.metadata
    )
    return CoachSessionObject.of(session).model_copy(update={"warnings": plan.warnings or None})


@router.get("", operation_id="listCoachSessions", responses=responses())
async def list_coach_sessions(
    services: Services,
    after: After = None,
    limit: Limit = 20,
    student: Annotated[
        str | None, Query(max_length=256, description="Only sessions of this student")
    ] = None,
) -> Page[CoachSessionObject]:
    """Lists sessions, newest first."""
    rows, has_more = await services.coach_sessions().page(student=student, after=after, limit=limit)
    return object_page([CoachSessionObject.of(row) for row in rows], has_more=has_more)


@router.get("/{session_id}", operation_id="getCoachSession", responses=responses(404))
async def get_coach_session(session_id: str, services: Services) -> CoachSessionObject:
    """Returns a session with its findings."""
    return CoachSessionObject.of(await services.coach_sessions().get(session_id))


@router.get("/{session_id}/logbook", operation_id="listCoachEntries", responses=responses(404))
async def list_coach_entries(
    session_id: str, services: Services, after: _AfterNumber = 0, limit: Limit = 20
) -> Page[CoachEntry]:
    """Lists the logbook in its order; `after` is the number of an entry."""
    entries, has_more = await services.coach_sessions().logbook(
        session_id, after=after, limit=limit
    )
    return object_page([CoachEntry.of(entry) for entry in entries], has_more=has_more)


@router.post("/{session_id}/pause", operation_id="pauseCoachSession", responses=responses(404))
async def pause_coach_session(session_id: str, services: Services) -> CoachSessionObject:
    """Lets a session take no further step. A job that runs continues to its end."""
    return CoachSessionObject.of(await services.coach_sessions().pause(session_id))


@router.post("/{session_id}/resume", operation_id="resumeCoachSession", responses=responses(404))
async def resume_coach_session(session_id: str, services: Services) -> CoachSessionObject:
    """Continues a paused session where it was."""
    return CoachSessionObject.of(await services.coach_sessions().resume(session_id))


@router.post("/{session_id}/cancel", operation_id="cancelCoachSession", responses=responses(404))
async def cancel_coach_session(session_id: str, services: Services) -> CoachSessionObject:
    """Ends a session, and cancels the job or the gate that it waits for. Skills that became current
    stay.
    """
    return CoachSessionObject.of(await services.coach_sessions().cancel(session_id))
