"""Routes of chat completions."""

from typing import Any

from fastapi import APIRouter
from fastapi.responses import StreamingResponse

from app.api.dependencies import Services
from app.api.errors import responses
from app.api.schemas.completions import ChatCompletionRequest

router = APIRouter(prefix="/v1/chat/completions", tags=["Chat"])


@router.post(
    "",
    operation_id="createChatCompletion",
    responses=responses(404),
    response_model=dict[str, Any],
)
async def create_chat_completion(
    body: ChatCompletionRequest, services: Services
) -> dict[str, Any] | StreamingResponse:
    request = body.model_dump(mode="json", exclude_unset=True)
    if body.stream:
        chunks = await services.completions().chat_stream(request)
        return StreamingResponse(chunks, media_type="text/event-stream")
    return await services.completions().chat(request)
