"""Routes of an organization's usage and costs. For admin keys only."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Depends, Query
from fastapi.responses import StreamingResponse

from app.accounts.audit import AuditEntry, AuditEventType, AuditFilter
from app.accounts.usage import WIDTHS_S, BucketWidth, UsagePage, UsageQuery
from app.accounts.usage_schemas import (
    AuditLogEntry,
    CompletionsUsage,
    CostsPageObject,
    CostsResult,
    FineTuningUsage,
    UsageBucketObject,
    UsagePageObject,
    buckets_of,
    page_of,
)
from app.http.dependencies import Administered, After, Limit, StillValid
from app.http.error_replies import responses
from app.http.requests import BracketedLists
from app.kit.downloads import Table, table_reply
from app.kit.errors import refused_value
from app.kit.schemas import Page, object_page

router = APIRouter(prefix="/v1/organization", tags=["Usage"], route_class=BracketedLists)
_LAST_MOMENT: Final = 32_503_680_000
_LIMITS: Final[Mapping[BucketWidth, tuple[int, int]]] = {
    "1m": (60, 1440),
    "1h": (24, 168),
    "1d": (7, 31),
}
"""Buckets of a page by their width: the default and the most, as in the hosted API."""
_MOST_DAYS_OF_COSTS: Final = 180
_Id = Annotated[str, Query(min_length=1, max_length=256)]


def _ids(text: str) -> Any:
    return Query(max_length=100, description=f"Only usage of these {text}")


StartTime = Annotated[
    int, Query(ge=0, le=_LAST_MOMENT, description="Unix seconds at which the usage begins")
]
EndTime = Annotated[
    int | None,
    Query(ge=1, le=_LAST_MOMENT, description="Unix seconds before which it ends; absent: now"),
]
Width = Annotated[BucketWidth, Query(description="Width of a bucket")]
Buckets = Annotated[
    int | None,
    Query(
        ge=1,
        description="Buckets of a page: of `1m` 60, at most 1,440; of `1h` 24, at most 168; "
        "of `1d` 7, at most 31",
    ),
]
PageText = Annotated[str | None, Query(max_length=64, description="`next_page` of the page before")]


@dataclass(frozen=True, slots=True)
class _UsageRequest:
    query: UsageQuery
    page: str | None
    limit: int


def _usage_request(
    *,
    start_time: StartTime,
    end_time: EndTime = None,
    bucket_width: Width = "1d",
    project_ids: Annotated[list[_Id] | None, _ids("projects")] = None,
    api_key_ids: Annotated[list[_Id] | None, _ids("API keys")] = None,
    models: Annotated[list[_Id] | None, _ids("models")] = None,
    limit: Buckets = None,
    page: PageText = None,
) -> _UsageRequest:
    query = replace(
        _span(start_time, end_time, bucket_width),
        project_ids=tuple(project_ids or ()),
        key_ids=tuple(api_key_ids or ()),
        models=tuple(models or ()),
    )
    return _UsageRequest(query, page, _size(limit, bucket_width))


def _span(start_s: int, end_s: int | None, width: BucketWidth) -> UsageQuery:
    seconds = WIDTHS_S[width]
    whole = (int(time.time()) // seconds + 1) * seconds
    end = whole if end_s is None else end_s
    if end <= start_s and end_s is not None:
        raise refused_value("end_time", "it must be after 'start_time'")
    return UsageQuery(kind=None, start_s=start_s, end_s=end, width=width)


def _size(limit: int | None, width: BucketWidth) -> int:
    usual, most = _LIMITS[width]
    if limit is not None and limit > most:
        raise refused_value("limit", f"it must be at most {most} for buckets of '{width}'")
    return usual if limit is None else limit


def _grouped(text: str) -> Any:
    return Query(description=f"A result for each {text}; repeated for several")


Asked = Annotated[_UsageRequest, Depends(_usage_request)]


async def _found(services: Administered, asked: _UsageRequest, **narrowed: Any) -> UsagePage:
    """Returns a page of the records that `narrowed`, further fields of the query, leaves."""
    query = replace(asked.query, **narrowed)
    return await services.usage().page(query, page=asked.page, limit=asked.limit)


@router.get("/usage/completions", operation_id="usage-completions", responses=responses())
async def completions_usage(
    services: Administered,
    asked: Asked,
    group_by: Annotated[
        list[Literal["project_id", "api_key_id", "model"]] | None,
        _grouped("project, API key or model"),
    ] = None,
) -> UsagePageObject[CompletionsUsage]:
    """Shows what chat completions used, in buckets of time.

    A chat is shown some seconds after its reply.
    """
    found = await _found(services, asked, kind="completions", group_by=_names(group_by))
    return page_of(found, CompletionsUsage.of, UsageBucketObject[CompletionsUsage])


@router.get("/usage/fine_tuning", operation_id="usageFineTuning", responses=responses())
async def fine_tuning_usage(
    services: Administered,
    asked: Asked,
    job_ids: Annotated[list[_Id] | None, _ids("jobs")] = None,
    group_by: Annotated[
        list[Literal["project_id", "api_key_id", "model", "job_id"]] | None,
        _grouped("project, API key, model or job"),
    ] = None,
) -> UsagePageObject[FineTuningUsage]:
    """Shows what training runs used, in buckets of time. A step counts when it is committed."""
    jobs = tuple(job_ids or ())
    found = await _found(
        services, asked, kind="fine_tuning", job_ids=jobs, group_by=_names(group_by)
    )
    return page_of(found, FineTuningUsage.of, UsageBucketObject[FineTuningUsage])


@router.get("/costs", operation_id="usage-costs", responses=responses())
async def costs(
    *,
    services: Administered,
    start_time: StartTime,
    end_time: EndTime = None,
    bucket_width: Annotated[Literal["1d"], Query(description="Width of a bucket")] = "1d",
    project_ids: Annotated[list[_Id] | None, _ids("projects")] = None,
    api_key_ids: Annotated[list[_Id] | None, _ids("API keys")] = None,
    group_by: Annotated[
        list[Literal["project_id", "line_item", "api_key_id"]] | None,
        _grouped("project, line item or API key"),
    ] = None,
    limit: Annotated[int, Query(ge=1, le=_MOST_DAYS_OF_COSTS, description="Buckets of a page")] = 7,
    page: PageText = None,
) -> CostsPageObject:
    """Shows costs by day, at the prices that were configured when something was used."""
    query = replace(
        _span(start_time, end_time, bucket_width),
        project_ids=tuple(project_ids or ()),
        key_ids=tuple(api_key_ids or ()),
        group_by=_names(group_by),
        in_money=True,
    )
    service = services.usage()
    found = await service.page(query, page=page, limit=limit)
    return CostsPageObject(
        data=buckets_of(found, CostsResult.of, UsageBucketObject[CostsResult]),
        has_more=found.next_page is not None,
        next_page=found.next_page,
        unpriced=service.unpriced,
    )


def _names(sent: Sequence[Any] | None) -> tuple[Any, ...]:
    return tuple(sent or ())


audit_logs_router = APIRouter(prefix="/v1/organization/audit_logs", tags=["Administration"])
_LONGEST: Final = 128
_TABLE: Final[Table[AuditEntry]] = Table(to_wire=AuditLogEntry.of, columns={})

_IdLogs = Annotated[str, Query(min_length=1, max_length=_LONGEST)]


def _moment(bound: str, text: str) -> Any:
    alias = f"effective_at[{bound}]"
    return Query(alias=alias, ge=0, le=_LAST_MOMENT, description=f"Entries {text} (Unix seconds)")


def _ids_logs(name: str, text: str) -> Any:
    return Query(alias=f"{name}[]", max_length=100, description=text)


def _filter(
    *,
    after_s: Annotated[int | None, _moment("gt", "after this time")] = None,
    from_s: Annotated[int | None, _moment("gte", "at this time or after it")] = None,
    before_s: Annotated[int | None, _moment("lt", "before this time")] = None,
    until_s: Annotated[int | None, _moment("lte", "at this time or before it")] = None,
    event_types: Annotated[
        list[AuditEventType] | None, _ids_logs("event_types", "Kinds of changes")
    ] = None,
    actor_ids: Annotated[
        list[_IdLogs] | None, _ids_logs("actor_ids", "Ids of API keys or of service accounts")
    ] = None,
    project_ids: Annotated[
        list[_IdLogs] | None, _ids_logs("project_ids", "Ids of projects")
    ] = None,
    resource_ids: Annotated[
        list[_IdLogs] | None, _ids_logs("resource_ids", "Ids of what was changed")
    ] = None,
) -> AuditFilter:
    return AuditFilter(
        after_s=after_s,
        from_s=from_s,
        before_s=before_s,
        until_s=until_s,
        event_types=_names(event_types),
        actor_ids=_names(actor_ids),
        project_ids=_names(project_ids),
        resource_ids=_names(resource_ids),
    )


EntryConditions = Annotated[AuditFilter, Depends(_filter)]


@audit_logs_router.get(
    "", operation_id="list-audit-logs", responses=responses(), response_model_exclude_none=True
)
async def list_audit_logs(
    services: Administered,
    conditions: EntryConditions,
    after: After = None,
    before: Annotated[
        str | None,
        Query(max_length=_LONGEST, description="Id of the first object of the following page"),
    ] = None,
    limit: Limit = 20,
) -> Page[AuditLogEntry]:
    """Lists changes of keys, projects, jobs, files and all other objects, newest first.

    An entry exists exactly if its change was committed.
    """
    entries, has_more = await services.audit_logs().page(
        conditions, after=after, before=before, limit=limit
    )
    return object_page([AuditLogEntry.of(entry) for entry in entries], has_more=has_more)


@audit_logs_router.get(
    "/export",
    operation_id="exportAuditLogs",
    responses={
        **responses(),
        200: {
            "description": "An entry in each line, newest first.",
            "content": {"application/jsonl": {"schema": {"type": "string", "format": "binary"}}},
        },
    },
    response_class=StreamingResponse,
)
async def export_audit_logs(
    services: Administered, conditions: EntryConditions, check: StillValid
) -> StreamingResponse:
    """Downloads all entries that meet every condition sent, as JSON Lines."""
    batches = services.audit_logs().batches(conditions, check=check)
    return await table_reply(
        batches, _TABLE, "jsonl", turn=services.export_turn, filename="audit_logs"
    )
