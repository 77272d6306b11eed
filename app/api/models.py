"""Routes of models."""

from typing import Any, Final

from fastapi import APIRouter
from fastapi.responses import StreamingResponse

from app.api.schemas.common import Deleted
from app.api.schemas.models import Model, ModelList
from app.api.support.dependencies import Downloading, Services
from app.api.support.downloads import (
    IfRangeHeader,
    RangeHeader,
    download_replies,
    download_reply,
)
from app.api.support.errors import responses

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
