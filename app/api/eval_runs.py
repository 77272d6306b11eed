"""Routes of runs of evals and of their output items."""

import asyncio
from typing import Annotated, Literal

from fastapi import APIRouter, Query

from app.api.schemas.common import Order, Page, object_page
from app.api.schemas.eval_runs import (
    CreateEvalRun,
    EvalRunDeleted,
    EvalRunObject,
    OutputItemObject,
)
from app.api.support.dependencies import After, Context, Limit, Services
from app.api.support.errors import responses
from app.domain.evals.evals import EvalRunStatus

router = APIRouter(prefix="/v1/evals/{eval_id}/runs", tags=["Evals"])


@router.post("", operation_id="createEvalRun", status_code=201, responses=responses(404))
async def create_run(
    eval_id: str, body: CreateEvalRun, context: Context, services: Services
) -> EvalRunObject:
    """Starts a run: samples each item if a model is named, and grades it."""
    # Before a body is read that may hold thousands of rows or placeholders.
    await services.evals().get(eval_id)
    source = await asyncio.to_thread(body.to_source)
    run = await services.eval_runs().create(eval_id, source, name=body.name, metadata=body.metadata)
    return EvalRunObject.of(run, public_url=context.settings.public_url)


@router.get("", operation_id="getEvalRuns", responses=responses(404))
async def list_runs(
    eval_id: str,
    context: Context,
    services: Services,
    after: After = None,
    limit: Limit = 20,
    order: Order = "asc",
    status: Annotated[EvalRunStatus | None, Query(description="Only runs in this state")] = None,
) -> Page[EvalRunObject]:
    """Lists the runs of an eval."""
    rows, has_more = await services.eval_runs().page(
        eval_id, status=status, after=after, limit=limit, descending=order == "desc"
    )
    url = context.settings.public_url
    return object_page([EvalRunObject.of(row, public_url=url) for row in rows], has_more=has_more)


@router.get("/{run_id}", operation_id="getEvalRun", responses=responses(404))
async def get_run(eval_id: str, run_id: str, context: Context, services: Services) -> EvalRunObject:
    """Returns a run with its counts so far."""
    run = await services.eval_runs().get(eval_id, run_id)
    return EvalRunObject.of(run, public_url=context.settings.public_url)


@router.post("/{run_id}", operation_id="cancelEvalRun", responses=responses(404))
@router.post("/{run_id}/cancel", include_in_schema=False)
async def cancel_run(
    eval_id: str, run_id: str, context: Context, services: Services
) -> EvalRunObject:
    """Cancels a run: at the path in the hosted specification, and at the path of the Python SDK."""
    run = await services.eval_runs().cancel(eval_id, run_id)
    return EvalRunObject.of(run, public_url=context.settings.public_url)


@router.delete("/{run_id}", operation_id="deleteEvalRun", responses=responses(404))
async def delete_run(eval_id: str, run_id: str, services: Services) -> EvalRunDeleted:
    """Deletes a run with its output items."""
    await services.eval_runs().delete(eval_id, run_id)
    return EvalRunDeleted(run_id=run_id)


@router.get(
    "/{run_id}/output_items", operation_id="getEvalRunOutputItems", responses=responses(404)
)
async def list_output_items(
    eval_id: str,
    run_id: str,
    services: Services,
    after: After = None,
    limit: Limit = 20,
    order: Order = "asc",
    status: Annotated[
        Literal["pass", "fail", "error"] | None, Query(description="Only items of this outcome")
    ] = None,
) -> Page[OutputItemObject]:
    """Lists the output items of a run, in the order of the items."""
    rows, has_more = await services.eval_runs().items(
        eval_id, run_id, status=status, after=after, limit=limit, descending=order == "desc"
    )
    return object_page([OutputItemObject.of(row) for row in rows], has_more=has_more)


@router.get(
    "/{run_id}/output_items/{output_item_id}",
    operation_id="getEvalRunOutputItem",
    responses=responses(404),
)
async def get_output_item(
    eval_id: str, run_id: str, output_item_id: str, services: Services
) -> OutputItemObject:
    """Returns an output item: the sample, and the verdict of each criterion."""
    return OutputItemObject.of(await services.eval_runs().item(eval_id, run_id, output_item_id))
