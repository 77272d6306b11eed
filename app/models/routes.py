"""Routes of models."""

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from app.http.dependencies import After, AnyPrincipal, Context, Downloading, Limit, Services
from app.http.error_replies import responses
from app.http.requests import metadata_pairs
from app.kit.downloads import IfRangeHeader, RangeHeader, download_replies, download_reply
from app.kit.faults import unknown_cursor
from app.kit.schemas import Deleted, Order, Page, object_page
from app.models.chat import StoredCompletion
from app.models.chat_schemas import ChatCompletionRequest
from app.models.models import CheckpointPermission
from app.models.reply_schemas import COMPLETION_REPLY, completion_reply
from app.models.schemas import (
    ChatCompletionDeleted,
    CreateModelExport,
    CreatePermissions,
    Model,
    ModelExportDeleted,
    ModelExportObject,
    ModelList,
    PermissionObject,
    StoredChatCompletion,
    StoredChatMessage,
    UpdateChatCompletion,
    shown_completion,
)
from app.wiring import permission_service

router = APIRouter(prefix="/v1/models", tags=["Models"])
_TAR: Final = "application/x-tar"
_ADAPTER_REPLIES: dict[int | str, dict[str, Any]] = {
    **responses(404, 416),
    **download_replies(
        _TAR,
        "A tar archive of `manifest.json` (base model, SHA-256 of each file), `README.md`, "
        "`adapter_config.json` and `adapter_model.safetensors`, as `peft` reads them.",
    ),
}


@router.get("", operation_id="listModels", responses=responses())
async def list_models(services: Services) -> ModelList:
    """Lists the base models, and the tuned models that the project may use."""
    return ModelList(
        data=[
            Model(id=model.name, created=model.created_at, owned_by=model.owned_by)
            for model in await services.models().all()
        ]
    )


# Before the route of a model, whose name may contain slashes.
@router.get(
    "/{model:path}/adapter",
    operation_id="downloadAdapter",
    responses=_ADAPTER_REPLIES,
    response_class=StreamingResponse,
)
async def download_adapter(
    model: str, services: Downloading, range_: RangeHeader = None, if_range: IfRangeHeader = None
) -> StreamingResponse:
    """Downloads the adapter of a tuned model or a checkpoint, by the name that chat takes.

    The archive is the same at each download, so `Range` with `If-Range` continues one. A base model
    answers 400 `base_model`; a model whose files are gone answers 404 `adapter_gone`.
    """
    archive = await services.adapters().archive(model)
    return download_reply(archive, _TAR, range_=range_, if_range=if_range)


@router.get("/{model:path}", operation_id="retrieveModel", responses=responses(404))
async def get_model(model: str, services: Services) -> Model:
    """Returns a base model or a tuned one."""
    served = await services.models().get(model)
    return Model(id=served.name, created=served.created_at, owned_by=served.owned_by)


@router.delete("/{model:path}", operation_id="deleteModel", responses=responses(404))
async def delete_model(model: str, services: Services) -> Deleted:
    """Deletes a tuned model: no call finds it any more. Base models cannot be deleted.

    A model that an unfinished job, eval run or export uses answers 400 `model_in_use` with their
    ids and the request that ends each kind.
    """
    await services.models().delete(model)
    return Deleted(id=model, object="model", deleted=True)


permissions_router = APIRouter(
    prefix="/v1/fine_tuning/checkpoints/{fine_tuned_model_checkpoint:path}/permissions",
    tags=["Fine-tuning"],
)


@permissions_router.get(
    "", operation_id="listFineTuningCheckpointPermissions", responses=responses(404)
)
async def list_permissions(
    fine_tuned_model_checkpoint: str,
    context: Context,
    principal: AnyPrincipal,
    project_id: Annotated[str | None, Query(max_length=128)] = None,
    after: After = None,
    limit: Limit = 10,
    order: Literal["ascending", "descending"] = "descending",
) -> Page[PermissionObject]:
    """Lists the projects that may use a checkpoint's model."""
    rows, has_more = await permission_service(context, principal).page(
        fine_tuned_model_checkpoint,
        project_id=project_id,
        after=after,
        limit=limit,
        descending=order == "descending",
    )
    return _page(rows, has_more=has_more)


@permissions_router.post(
    "", operation_id="createFineTuningCheckpointPermission", responses=responses(404)
)
async def create_permissions(
    fine_tuned_model_checkpoint: str,
    body: CreatePermissions,
    context: Context,
    principal: AnyPrincipal,
) -> Page[PermissionObject]:
    """Permits other projects of the organization to use a checkpoint's model."""
    permissions = permission_service(context, principal)
    rows = await permissions.grant(fine_tuned_model_checkpoint, body.project_ids)
    return _page(rows, has_more=False)


@permissions_router.delete(
    "/{permission_id}",
    operation_id="deleteFineTuningCheckpointPermission",
    responses=responses(404),
)
async def delete_permission(
    fine_tuned_model_checkpoint: str, permission_id: str, context: Context, principal: AnyPrincipal
) -> Deleted:
    """Revokes a project's permission."""
    permissions = permission_service(context, principal)
    await permissions.revoke(fine_tuned_model_checkpoint, permission_id)
    return Deleted(id=permission_id, object="checkpoint.permission", deleted=True)


def _page(rows: Sequence[CheckpointPermission], *, has_more: bool) -> Page[PermissionObject]:
    return object_page([PermissionObject.of(row) for row in rows], has_more=has_more)


exports_router = APIRouter(prefix="/v1/models/{model:path}/exports", tags=["Models"])
_CONTENT_REPLIES: dict[int | str, dict[str, Any]] = {
    **responses(404, 416),
    **download_replies(
        _TAR,
        "A tar archive of `manifest.json` (SHA-256 of each file), `README.md`, the model's "
        "configuration, its tokenizer and its weights in safetensors.",
    ),
}


@exports_router.post(
    "", operation_id="createModelExport", status_code=201, responses=responses(404)
)
async def create_export(
    model: str, services: Services, body: CreateModelExport | None = None
) -> ModelExportObject:
    """Starts an export of a tuned model or a checkpoint; a worker makes it in the background.

    Weights that cannot be merged answer 400 with the reason, too little disk space 503
    `insufficient_storage`. The export counts toward the project's stored bytes and expires.
    """
    kind = (body or CreateModelExport()).kind
    return ModelExportObject.of(await services.exports().create(model, kind))


@exports_router.get("", operation_id="listModelExports", responses=responses(404))
async def list_exports(
    model: str, services: Services, after: After = None, limit: Limit = 20
) -> Page[ModelExportObject]:
    """Lists the project's exports of a model, newest first."""
    rows, has_more = await services.exports().page(model, after=after, limit=limit)
    return object_page([ModelExportObject.of(row) for row in rows], has_more=has_more)


@exports_router.get("/{export_id}", operation_id="retrieveModelExport", responses=responses(404))
async def get_export(model: str, export_id: str, services: Services) -> ModelExportObject:
    """Returns an export with its state."""
    return ModelExportObject.of(await services.exports().get(model, export_id))


@exports_router.delete("/{export_id}", operation_id="deleteModelExport", responses=responses(404))
async def delete_export(model: str, export_id: str, services: Services) -> ModelExportDeleted:
    """Deletes an export; one that is not complete ends."""
    await services.exports().delete(model, export_id)
    return ModelExportDeleted(id=export_id)


@exports_router.get(
    "/{export_id}/content",
    operation_id="downloadModelExport",
    responses=_CONTENT_REPLIES,
    response_class=StreamingResponse,
)
async def download_export(
    model: str,
    export_id: str,
    services: Downloading,
    range_: RangeHeader = None,
    if_range: IfRangeHeader = None,
) -> StreamingResponse:
    """Downloads a completed export. The archive is the same at each download, so `Range` with
    `If-Range` continues one.
    """
    archive = await services.exports().archive(model, export_id)
    return download_reply(archive, _TAR, range_=range_, if_range=if_range)


chat_completions_router = APIRouter(prefix="/v1/chat/completions", tags=["Chat"])


@chat_completions_router.post(
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


stored_completions_router = APIRouter(prefix="/v1/chat/completions", tags=["Chat"])


def _no_text(sent: str) -> str:
    if sent:
        raise PydanticCustomError("metadata", "pairs are sent as 'metadata[key]=value'")
    return sent


def _reply_of(model: Any, *statuses: int) -> dict[int | str, dict[str, Any]]:
    return {**responses(*statuses), 200: {"model": model, "description": "Successful Response"}}


@stored_completions_router.get(
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


@stored_completions_router.get(
    "/{completion_id}",
    operation_id="getChatCompletion",
    responses=_reply_of(StoredChatCompletion, 404),
    response_class=JSONResponse,
)
async def get_chat_completion(completion_id: str, services: Services) -> JSONResponse:
    """Returns a stored chat completion."""
    return _shown(await services.stored_completions().get(completion_id))


@stored_completions_router.post(
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


@stored_completions_router.delete(
    "/{completion_id}", operation_id="deleteChatCompletion", responses=responses(404)
)
async def delete_chat_completion(completion_id: str, services: Services) -> ChatCompletionDeleted:
    """Deletes a stored chat completion and the feedback about it. Files that were built from the
    feedback stay.
    """
    await services.stored_completions().delete(completion_id)
    return ChatCompletionDeleted(id=completion_id)


@stored_completions_router.get(
    "/{completion_id}/messages", operation_id="getChatCompletionMessages", responses=responses(404)
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
