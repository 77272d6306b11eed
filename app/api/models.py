"""Routes of models."""

from fastapi import APIRouter

from app.api.schemas.common import Deleted
from app.api.schemas.models import Model, ModelList
from app.api.support.dependencies import Services
from app.api.support.errors import responses

router = APIRouter(prefix="/v1/models", tags=["Models"])


@router.get("", operation_id="listModels", responses=responses())
async def list_models(services: Services) -> ModelList:
    return ModelList(
        data=[
            Model(id=model.name, created=model.created_at, owned_by=model.owned_by)
            for model in await services.models().all()
        ]
    )


@router.get("/{model:path}", operation_id="retrieveModel", responses=responses(404))
async def get_model(model: str, services: Services) -> Model:
    served = await services.models().get(model)
    return Model(id=served.name, created=served.created_at, owned_by=served.owned_by)


@router.delete("/{model:path}", operation_id="deleteModel", responses=responses(404))
async def delete_model(model: str, services: Services) -> Deleted:
    await services.models().delete(model)
    return Deleted(id=model, object="model", deleted=True)
