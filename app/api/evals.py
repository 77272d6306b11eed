"""Routes of evals."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query

from app.api.schemas.common import Order, Page, object_page
from app.api.schemas.evals import CreateEval, EvalDeleted, EvalObject, UpdateEval
from app.api.support.dependencies import After, Limit, Services
from app.api.support.errors import responses
from app.domain.evals.evals import EvalOrder

router = APIRouter(prefix="/v1/evals", tags=["Evals"])


@router.post("", operation_id="createEval", status_code=201, responses=responses())
async def create_eval(body: CreateEval, services: Services) -> EvalObject:
    """Creates an eval: the form of its items, and the graders that score them."""
    spec = await asyncio.to_thread(body.to_spec)
    return EvalObject.of(await services.evals().create(spec))


@router.get("", operation_id="listEvals", responses=responses())
async def list_evals(
    services: Services,
    after: After = None,
    limit: Limit = 20,
    order: Order = "asc",
    order_by: Annotated[EvalOrder, Query(description="Time by which `order` sorts")] = "created_at",
) -> Page[EvalObject]:
    """Lists evals. Each reinforcement job has one, whose runs are its validations."""
    rows, has_more = await services.evals().page(
        after=after, limit=limit, descending=order == "desc", order_by=order_by
    )
    return object_page([EvalObject.of(row) for row in rows], has_more=has_more)


@router.get("/{eval_id}", operation_id="getEval", responses=responses(404))
async def get_eval(eval_id: str, services: Services) -> EvalObject:
    """Returns an eval."""
    return EvalObject.of(await services.evals().get(eval_id))


@router.post("/{eval_id}", operation_id="updateEval", responses=responses(404))
async def update_eval(eval_id: str, body: UpdateEval, services: Services) -> EvalObject:
    """Changes the name or the metadata of an eval."""
    return EvalObject.of(await services.evals().update(eval_id, body.changes()))


@router.delete("/{eval_id}", operation_id="deleteEval", responses=responses(404))
async def delete_eval(eval_id: str, services: Services) -> EvalDeleted:
    """Deletes an eval with its runs, unless it belongs to a job."""
    await services.evals().delete(eval_id)
    return EvalDeleted(eval_id=eval_id)
