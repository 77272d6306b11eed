"""Routes of evals."""

import asyncio
from typing import Annotated, Literal

from fastapi import APIRouter, Query

from app.evals.evals import EvalOrder, EvalRunStatus
from app.evals.schemas import (
    CreateEval,
    CreateEvalRun,
    EvalDeleted,
    EvalObject,
    EvalRunDeleted,
    EvalRunObject,
    OutputItemObject,
    UpdateEval,
)
from app.http.dependencies import After, Context, Limit, Services
from app.http.error_replies import responses
from app.kit.schemas import Order, Page, object_page

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


eval_runs_router = APIRouter(prefix="/v1/evals/{eval_id}/runs", tags=["Evals"])


@eval_runs_router.post("", operation_id="createEvalRun", status_code=201, responses=responses(404))
async def create_run(
    eval_id: str, body: CreateEvalRun, context: Context, services: Services
) -> EvalRunObject:
    """Starts a run: samples each item if a model is named, and grades it."""
    # Before a body is read that may hold thousands of rows or placeholders.
    await services.evals().get(eval_id)
    source = await asyncio.to_thread(body.to_source)
    run = await services.eval_runs().create(eval_id, source, name=body.name, metadata=body.metadata)
    return EvalRunObject.of(run, public_url=context.settings.public_url)


@eval_runs_router.get("", operation_id="getEvalRuns", responses=responses(404))
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


@eval_runs_router.get("/{run_id}", operation_id="getEvalRun", responses=responses(404))
async def get_run(eval_id: str, run_id: str, context: Context, services: Services) -> EvalRunObject:
    """Returns a run with its counts so far."""
    run = await services.eval_runs().get(eval_id, run_id)
    return EvalRunObject.of(run, public_url=context.settings.public_url)


@eval_runs_router.post("/{run_id}", operation_id="cancelEvalRun", responses=responses(404))
@eval_runs_router.post("/{run_id}/cancel", include_in_schema=False)
async def cancel_run(
    eval_id: str, run_id: str, context: Context, services: Services
) -> EvalRunObject:
    """Cancels a run: at the path in the hosted specification, and at the path of the Python SDK."""
    run = await services.eval_runs().cancel(eval_id, run_id)
    return EvalRunObject.of(run, public_url=context.settings.public_url)


@eval_runs_router.delete("/{run_id}", operation_id="deleteEvalRun", responses=responses(404))
async def delete_run(eval_id: str, run_id: str, services: Services) -> EvalRunDeleted:
    """Deletes a run with its output items."""
    await services.eval_runs().delete(eval_id, run_id)
    return EvalRunDeleted(run_id=run_id)


@eval_runs_router.get(
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


@eval_runs_router.get(
    "/{run_id}/output_items/{output_item_id}",
    operation_id="getEvalRunOutputItem",
    responses=responses(404),
)
async def get_output_item(
    eval_id: str, run_id: str, output_item_id: str, services: Services
) -> OutputItemObject:
    """Returns an output item: the sample, and the verdict of each criterion."""
    return OutputItemObject.of(await services.eval_runs().item(eval_id, run_id, output_item_id))
