"""Routes of feedback, of the files built from it, and of the removal of an end user's data."""

from typing import Annotated, Final

from fastapi import APIRouter, Path, Query

from app.http.dependencies import After, Limit, Services
from app.http.error_replies import responses
from app.http.requests import register_path_texts
from app.kit.schemas import Deleted, Page, object_page, page_with_cursors
from app.teaching.feedback.feedback import LONGEST_NAME, FeedbackFilter, FeedbackType
from app.teaching.feedback.schemas import (
    CreateFeedback,
    CreateFeedbackBuild,
    EndUserRemoval,
    FeedbackBuildObject,
    FeedbackFindings,
    FeedbackObject,
)

register_path_texts()
router = APIRouter(prefix="/v1/feedback", tags=["Feedback"])
_MOST_FINDINGS: Final = 1000
_Name = Annotated[str | None, Query(max_length=LONGEST_NAME)]
_CreatedAfter = Annotated[
    int | None, Query(ge=0, le=2**31 - 1, description="Unix seconds: only later feedback")
]


@router.post("", operation_id="createFeedback", responses=responses())
async def create_feedback(body: CreateFeedback, services: Services) -> FeedbackObject:
    """Stores a judgement of an answer: thumbs, a correction, or a preference."""
    return FeedbackObject.read(await services.feedback().give(body.to_sent()))


@router.get("", operation_id="listFeedback", responses=responses())
async def list_feedback(
    services: Services,
    after: After = None,
    limit: Limit = 20,
    feedback_type: Annotated[
        FeedbackType | None, Query(alias="type", description="Only feedback of this type")
    ] = None,
    author: _Name = None,
    end_user: _Name = None,
    completion_id: _Name = None,
    rollout_id: _Name = None,
) -> Page[FeedbackObject]:
    """Lists feedback, newest first."""
    where = FeedbackFilter(
        type=feedback_type,
        author=author,
        end_user=end_user,
        completion_id=completion_id,
        rollout_id=rollout_id,
    )
    found, has_more = await services.feedback().page(where, after=after, limit=limit)
    return object_page([FeedbackObject.read(one) for one in found], has_more=has_more)


@router.get("/findings", operation_id="listFeedbackFindings", responses=responses())
async def list_feedback_findings(
    services: Services, created_after: _CreatedAfter = None
) -> FeedbackFindings:
    """Finds feedback that repeats or contradicts other feedback. A build drops it, or the majority
    of thumbs decides.
    """
    where = FeedbackFilter(created_after=created_after)
    found = await services.feedback().findings(where)
    return FeedbackFindings(total=len(found), data=found[:_MOST_FINDINGS])


@router.post("/builds", operation_id="createFeedbackBuild", responses=responses(404))
async def create_feedback_build(
    body: CreateFeedbackBuild, services: Services
) -> FeedbackBuildObject:
    """Builds the files of a job from feedback, as a version of a curriculum. With `dry_run` it only
    says what they would contain.
    """
    request = body.to_request()
    if body.dry_run:
        return FeedbackBuildObject.planned(await services.feedback_builds().plan(request))
    return FeedbackBuildObject.of(await services.feedback_builds().build(request))


@router.get("/builds", operation_id="listFeedbackBuilds", responses=responses())
async def list_feedback_builds(
    services: Services, after: After = None, limit: Limit = 20
) -> Page[FeedbackBuildObject]:
    """Lists builds, newest first."""
    found, has_more = await services.feedback_builds().page(after=after, limit=limit)
    shown = [FeedbackBuildObject.of(one) for one in found]
    return page_with_cursors(shown, [one.id for one in found], has_more=has_more)


@router.get("/builds/{build_id}", operation_id="retrieveFeedbackBuild", responses=responses(404))
async def get_feedback_build(build_id: str, services: Services) -> FeedbackBuildObject:
    """Returns a build with its report."""
    return FeedbackBuildObject.of(await services.feedback_builds().get(build_id))


@router.delete(
    "/end_users/{end_user_id:text}", operation_id="deleteEndUserData", responses=responses(404)
)
async def delete_end_user_data(
    end_user_id: Annotated[str, Path(min_length=1, max_length=LONGEST_NAME)], services: Services
) -> EndUserRemoval:
    """Removes the stored completions of an end user, all feedback by or about them, and the rows
    that were built from it. An end user without any data is removed as well.
    """
    return await services.end_users().remove(end_user_id)


@router.get("/{feedback_id}", operation_id="retrieveFeedback", responses=responses(404))
async def get_feedback(feedback_id: str, services: Services) -> FeedbackObject:
    """Returns feedback."""
    return FeedbackObject.read(await services.feedback().get(feedback_id))


@router.delete("/{feedback_id}", operation_id="deleteFeedback", responses=responses(404))
async def delete_feedback(feedback_id: str, services: Services) -> Deleted:
    """Deletes feedback. Rows that were built from it stay in their files."""
    await services.feedback().delete(feedback_id)
    return Deleted(id=feedback_id, object="feedback", deleted=True)
