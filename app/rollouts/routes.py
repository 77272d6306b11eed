"""Routes of a job's rollouts, training ones included, and of its paired report."""

from typing import Annotated, Any, Final

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse

from app.http.dependencies import Exporting, Services, StillValid
from app.http.error_replies import responses
from app.jobs.reply_schemas import Report
from app.kit.downloads import Table, table_replies, table_reply
from app.kit.schemas import Page, object_page
from app.rollouts.rollouts import RolloutRow
from app.rollouts.schemas import Rollout, RolloutExportQuery, RolloutQuery, RolloutTokens

router = APIRouter(prefix="/v1/fine_tuning/jobs/{job_id}", tags=["Fine-tuning"])
_TABLE: Final[Table[RolloutRow]] = Table(
    Rollout.of,
    {
        **dict.fromkeys(("id", "object", "fine_tuning_job_id", "split"), "text"),
        **dict.fromkeys(("step", "prompt_index", "sample_index"), "integer"),
        "trace_id": "text",
        **dict.fromkeys(("reward", "shaped_reward", "advantage"), "number"),
        **dict.fromkeys(("failure_class", "failure_message", "stop_reason"), "text"),
        **dict.fromkeys(
            (
                "policy_version",
                "prompt_tokens",
                "completion_tokens",
                "reasoning_tokens",
                "tool_calls",
            ),
            "integer",
        ),
        **dict.fromkeys(("components", "trace"), "json"),
        **dict.fromkeys(("started_at", "finished_at"), "number"),
    },
)
_EXPORT_REPLIES: dict[int | str, dict[str, Any]] = {
    **responses(404),
    **table_replies(
        "A file of rollouts, by split, step, row and sample. In Parquet, `components` and `trace` "
        "are texts of JSON."
    ),
}


@router.get("/rollouts", operation_id="listFineTuningJobRollouts", responses=responses(404))
async def list_rollouts(
    job_id: str, services: Services, query: Annotated[RolloutQuery, Query()]
) -> Page[Rollout]:
    """Lists the training and validation rollouts that meet every condition sent. An unknown
    parameter answers 400.
    """
    rows, has_more = await services.rollouts().page(
        job_id,
        query.to_filter(),
        after=query.after,
        limit=query.limit,
        order_by=query.order_by,
        descending=query.order == "desc",
    )
    return object_page([Rollout.of(row) for row in rows], has_more=has_more)


# Before the route of a rollout.
@router.get(
    "/rollouts/export",
    operation_id="exportFineTuningJobRollouts",
    responses=_EXPORT_REPLIES,
    response_class=StreamingResponse,
)
async def export_rollouts(
    job_id: str,
    exporter: Exporting,
    check: StillValid,
    query: Annotated[RolloutExportQuery, Query()],
) -> StreamingResponse:
    """Downloads the rollouts that meet every condition sent, with their traces, as one file.

    The file is written while it is sent: it may or may not contain rollouts that a running job adds
    meanwhile. A download that breaks off has no valid end.
    """
    batches = exporter.services.rollouts().export(job_id, query.to_filter(), check=check)
    return await table_reply(
        batches, _TABLE, query.format, turn=exporter.turn, filename=f"{job_id}-rollouts"
    )


@router.get(
    "/rollouts/{rollout_id}", operation_id="retrieveFineTuningJobRollout", responses=responses(404)
)
async def get_rollout(job_id: str, rollout_id: str, services: Services) -> Rollout:
    """Returns a rollout with its messages, calls and grades."""
    return Rollout.of(await services.rollouts().get(job_id, rollout_id))


@router.get(
    "/rollouts/{rollout_id}/tokens",
    operation_id="retrieveFineTuningJobRolloutTokens",
    responses=responses(404),
)
async def get_rollout_tokens(job_id: str, rollout_id: str, services: Services) -> RolloutTokens:
    """Returns the tokens that the policy sampled in a rollout, with their log-probs and ratios. A
    rollout that was written before tokens were stored answers 404.
    """
    record = await services.rollouts().tokens(job_id, rollout_id)
    return RolloutTokens.of(rollout_id, record)


ReportStep = Annotated[
    int | None,
    Query(
        ge=1,
        le=2**31 - 1,
        description="A validated step to compare with the start; absent: the published one",
    ),
]
SecondsLimit = Annotated[
    float | None,
    Query(
        gt=0,
        le=1e9,
        allow_inf_nan=False,
        description="Seconds of a rollout, of which the report has the share above; absent: the "
        "95th percentile before training",
    ),
]


@router.get(
    "/report",
    operation_id="retrieveFineTuningJobReport",
    responses=responses(404),
    response_model_exclude_unset=True,
)
async def get_report(
    job_id: str, services: Services, step: ReportStep = None, limit_s: SecondsLimit = None
) -> Report:
    """Compares the model that training started from with the published one, or with that of another
    validated step, on the held-out rows.
    """
    return Report.model_validate(
        await services.reports().report(job_id, step=step, limit_s=limit_s)
    )
