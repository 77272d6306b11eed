"""Route of a page's live stream: notifies the page of a job that there is news, without content.

The page then requests its new part, as it does every few seconds without a stream.
"""

from typing import Annotated

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.sse import format_sse_event

from app.dashboard.refusals import PageRoute
from app.dashboard.rendering.pages import HEADERS
from app.dashboard.visitors import Streaming, signed_in
from app.domain.jobs.streams import LAST_EVENT_ID
from app.web.event_stream import event_stream

router = APIRouter(include_in_schema=False, route_class=PageRoute)
_Id = Annotated[str | None, Query(max_length=128)]
_LastId = Annotated[str | None, Header(alias=LAST_EVENT_ID, max_length=128)]


@router.get("/jobs/{job_id}/stream")
async def stream(
    request: Request,
    job_id: str,
    visitor: Streaming,
    after: _Id = None,
    last_event_id: _LastId = None,
) -> Response:
    """Sends `news` for each event behind `after` and each change of the job's state. Answers 204,
    after which a browser does not connect again, for a job that has ended.
    """
    opened = await visitor.services.streams().open(
        job_id, after=after, last_event_id=last_event_id, with_points=False
    )
    if opened is None:
        return Response(status_code=204, headers=dict(HEADERS))
    return event_stream(
        request,
        opened.items(lambda: signed_in(request)),
        end=opened.end,
        of_event=lambda item: format_sse_event(id=item.event.id, event="news", data_str="{}"),
        of_job=lambda _: format_sse_event(event="news", data_str="{}"),
        headers=HEADERS,
    )
