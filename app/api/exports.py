"""Routes of exports of models. Mounted before the routes of models, whose names take slashes."""

from typing import Any, Final

from fastapi import APIRouter
from fastapi.responses import StreamingResponse

from app.api.schemas.common import Page, object_page
from app.api.schemas.exports import CreateModelExport, ModelExportDeleted, ModelExportObject
from app.api.support.dependencies import After, Downloading, Limit, Services
from app.api.support.downloads import (
    IfRangeHeader,
    RangeHeader,
    download_replies,
    download_reply,
)
from app.api.support.errors import responses

router = APIRouter(prefix="/v1/models/{model:path}/exports", tags=["Models"])
_TAR: Final = "application/x-tar"
_CONTENT_REPLIES: dict[int | str, dict[str, Any]] = {
    **responses(404, 416),
    **download_replies(
        _TAR,
        "A tar archive of `manifest.json` (SHA-256 of each file), `README.md`, the model's "
        "configuration, its tokenizer and its weights in safetensors.",
    ),
}


@router.post("", operation_id="createModelExport", status_code=201, responses=responses(404))
async def create_export(
    model: str, services: Services, body: CreateModelExport | None = None
) -> ModelExportObject:
    """Starts an export of a tuned model or a checkpoint; a worker makes it in the background.

    Weights that cannot be merged answer 400 with the reason, too little disk space 503
    `insufficient_storage`. The export counts toward the project's stored bytes and expires.
    """
    kind = (body or CreateModelExport()).kind
    return ModelExportObject.of(await services.exports().create(model, kind))


@router.get("", operation_id="listModelExports", responses=responses(404))
async def list_exports(
    model: str, services: Services, after: After = None, limit: Limit = 20
) -> Page[ModelExportObject]:
    """Lists the project's exports of a model, newest first."""
    rows, has_more = await services.exports().page(model, after=after, limit=limit)
    return object_page([ModelExportObject.of(row) for row in rows], has_more=has_more)


@router.get("/{export_id}", operation_id="retrieveModelExport", responses=responses(404))
async def get_export(model: str, export_id: str, services: Services) -> ModelExportObject:
    """Returns an export with its state."""
    return ModelExportObject.of(await services.exports().get(model, export_id))


@router.delete("/{export_id}", operation_id="deleteModelExport", responses=responses(404))
async def delete_export(model: str, export_id: str, services: Services) -> ModelExportDeleted:
    """Deletes an export; one that is not complete ends."""
    await services.exports().delete(model, export_id)
    return ModelExportDeleted(id=export_id)


@router.get(
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
