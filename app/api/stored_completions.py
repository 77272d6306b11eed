"""Routes of stored chat completions."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse
from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from app.api.schemas.common import Order, Page, object_page
from app.api.schemas.stored_completions import (
    ChatCompletionDeleted,
    StoredChatCompletion,
    StoredChatMessage,
    UpdateChatCompletion,
    shown_completion,
)
from app.api.support.dependencies import After, Limit, Services
from app.api.support.errors import responses
from app.domain.chat.stored_completions import StoredCompletion
from app.domain.faults.values import unknown_cursor
from app.web.query_check import metadata_pairs

router = APIRouter(prefix="/v1/chat/completions", tags=["Chat"])


def _no_text(sent: str) -> str:
    if sent:
        raise PydanticCustomError("metadata", "pairs are sent as 'metadata[key]=value'")
    return sent


def _reply_of(model: Any, *statuses: int) -> dict[int | str, dict[str, Any]]:
    """Returns the replies of a route that passes an engine's reply on."""
    return {**responses(*statuses), 200: {"model": model, "description": "Successful Response"}}


@router.get(
    "",
    operation_id="listChatCompletions",
    responses=_reply_of(Page[StoredChatCompletion]),
    response_class=JSONResponse,
)
async def list_chat_completions(
    request: Request,
    services: Services,
    after: After = None,
    limit: Limit = 20,
    order: Order = "asc",
    model: Annotated[
        str | None, Query(max_length=256, description="Only completions of this model")
    ] = None,
    metadata: Annotated[
        str | None,
        Query(description="Pairs are sent as `metadata[key]=value`"),
        BeforeValidator(_no_text),
    ] = None,
) -> JSONResponse:
    """Lists the chat completions that were stored; `metadata[key]=value` selects those with that
    pair.
    """
    del metadata  # `metadata_pairs` reads the pairs
    found, has_more = await services.stored_completions().page(
        after=after,
        limit=limit,
        descending=order == "desc",
        model=model,
        metadata=metadata_pairs(request),
    )
    return JSONResponse(
        {
            "object": "list",
            "data": [shown_completion(one) for one in found],
            "has_more": has_more,
            "first_id": found[0].id if found else None,
            "last_id": found[-1].id if found else None,
        }
    )


@router.get(
    "/{completion_id}",
    operation_id="getChatCompletion",
    responses=_reply_of(StoredChatCompletion, 404),
    response_class=JSONResponse,
)
async def get_chat_completion(completion_id: str, services: Services) -> JSONResponse:
    """Returns a stored chat completion."""
    return _shown(await services.stored_completions().get(completion_id))


@router.post(
    "/{completion_id}",
    operation_id="updateChatCompletion",
    responses=_reply_of(StoredChatCompletion, 404),
    response_class=JSONResponse,
)
async def update_chat_completion(
    completion_id: str, body: UpdateChatCompletion, services: Services
) -> JSONResponse:
    """Replaces the metadata of a stored chat completion; nothing else of it can change."""
    return _shown(await services.stored_completions().label(completion_id, body.metadata))


@router.delete("/{completion_id}", operation_id="deleteChatCompletion", responses=responses(404))
async def delete_chat_completion(completion_id: str, services: Services) -> ChatCompletionDeleted:
    """Deletes a stored chat completion and the feedback about it. Files that were built from the
    feedback stay.
    """
    await services.stored_completions().delete(completion_id)
    return ChatCompletionDeleted(id=completion_id)


@router.get(
    "/{completion_id}/messages",
    operation_id="getChatCompletionMessages",
    responses=responses(404),
)
async def list_chat_completion_messages(
    completion_id: str,
    services: Services,
    after: After = None,
    limit: Limit = 20,
    order: Order = "asc",
) -> Page[StoredChatMessage]:
    """Lists the messages that a stored chat completion answered."""
    messages = StoredChatMessage.all_of(await services.stored_completions().get(completion_id))
    if order == "desc":
        messages.reverse()
    if after is not None:
        ids = [message.id for message in messages]
        if after not in ids:
            raise unknown_cursor(after)
        messages = messages[ids.index(after) + 1 :]
    return object_page(messages[:limit], has_more=len(messages) > limit)


def _shown(stored: StoredCompletion) -> JSONResponse:
    return JSONResponse(shown_completion(stored))
