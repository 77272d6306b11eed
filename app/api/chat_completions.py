"""Routes of chat completions."""

from typing import Any, Final

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse

from app.api.schemas.chat_completions import ChatCompletionRequest
from app.api.schemas.chat_replies import CHUNK_SCHEMA, ChatCompletion
from app.api.support.dependencies import Services
from app.api.support.errors import responses
from app.services.models.chat_completions import ChatCompletionService
from app.web.hang_up import unless_client_hangs_up

router = APIRouter(prefix="/v1/chat/completions", tags=["Chat"])
COMPLETIONS: Final[dict[int | str, dict[str, Any]]] = {
    **responses(404),
    200: {
        "model": ChatCompletion,
        "description": "A completion; with `stream`, its chunks as server-sent events.",
        "content": {
            "text/event-stream": {"schema": CHUNK_SCHEMA},
        },
    },
}


@router.post(
    "", operation_id="createChatCompletion", responses=COMPLETIONS, response_class=JSONResponse
)
async def create_chat_completion(
    body: ChatCompletionRequest, request: Request, services: Services
) -> Response:
    """Samples a model. With `stream` the answer is sent in chunks; the last one is followed by
    `data: [DONE]`.
    """
    return await completed(request, services.completions(), body.sent())


async def completed(
    request: Request, completions: ChatCompletionService, sent: dict[str, Any]
) -> Response:
    """Returns the completion of a sent body, or the stream of its chunks."""
    if sent.get("stream"):
        chunks = await unless_client_hangs_up(request, completions.chat_stream(sent))
        return StreamingResponse(chunks, media_type="text/event-stream")
    return JSONResponse(await unless_client_hangs_up(request, completions.chat(sent)))
