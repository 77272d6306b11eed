"""Routes of chat completions."""

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from app.api.schemas.chat_completions import ChatCompletionRequest
from app.api.schemas.chat_replies import COMPLETION_REPLY
from app.api.support.dependencies import Services
from app.api.support.errors import responses
from app.web.completion_replies import completion_reply

router = APIRouter(prefix="/v1/chat/completions", tags=["Chat"])


@router.post(
    "",
    operation_id="createChatCompletion",
    responses={**responses(404), **COMPLETION_REPLY},
    response_class=JSONResponse,
)
async def create_chat_completion(
    body: ChatCompletionRequest, request: Request, services: Services
) -> Response:
    """Samples a model. With `stream` the answer is sent in chunks; the last one is followed by
    `data: [DONE]`.
    """
    return await completion_reply(request, services.completions(), body.sent())
