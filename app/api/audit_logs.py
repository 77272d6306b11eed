"""Routes of an organization's audit log. For admin keys only."""

from collections.abc import Sequence
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Query
from fastapi.responses import StreamingResponse

from app.api.schemas.audit_logs import AuditLogEntry
from app.api.schemas.common import Page, object_page
from app.api.support.dependencies import Administered, After, Limit, StillValid
from app.api.support.errors import responses
from app.api.support.tables import Table, table_reply
from app.domain.accounts.audit_logs import AuditEntry, AuditEventType, AuditFilter

router = APIRouter(prefix="/v1/organization/audit_logs", tags=["Administration"])
_LAST_MOMENT: Final = 32_503_680_000
_LONGEST: Final = 128
_TABLE: Final[Table[AuditEntry]] = Table(to_wire=AuditLogEntry.of, columns={})

_Id = Annotated[str, Query(min_length=1, max_length=_LONGEST)]


def _moment(bound: str, text: str) -> Any:
    alias = f"effective_at[{bound}]"
    return Query(alias=alias, ge=0, le=_LAST_MOMENT, description=f"Entries {text} (Unix seconds)")


def _ids(name: str, text: str) -> Any:
    return Query(alias=f"{name}[]", max_length=100, description=text)


def _filter(
    *,
    after_s: Annotated[int | None, _moment("gt", "after this time")] = None,
    from_s: Annotated[int | None, _moment("gte", "at this time or after it")] = None,
    before_s: Annotated[int | None, _moment("lt", "before this time")] = None,
    until_s: Annotated[int | None, _moment("lte", "at this time or before it")] = None,
    event_types: Annotated[
        list[AuditEventType] | None, _ids("event_types", "Kinds of changes")
    ] = None,
    actor_ids: Annotated[
        list[_Id] | None, _ids("actor_ids", "Ids of API keys or of service accounts")
    ] = None,
    project_ids: Annotated[list[_Id] | None, _ids("project_ids", "Ids of projects")] = None,
    resource_ids: Annotated[
        list[_Id] | None, _ids("resource_ids", "Ids of what was changed")
    ] = None,
) -> AuditFilter:
    return AuditFilter(
        after_s=after_s,
        from_s=from_s,
        before_s=before_s,
        until_s=until_s,
        event_types=_values(event_types),
        actor_ids=_values(actor_ids),
        project_ids=_values(project_ids),
        resource_ids=_values(resource_ids),
    )


def _values(sent: Sequence[str] | None) -> tuple[str, ...]:
    return tuple(sent or ())


EntryConditions = Annotated[AuditFilter, Depends(_filter)]


@router.get(
    "",
    operation_id="list-audit-logs",
    responses=responses(),
    response_model_exclude_none=True,
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


@router.get(
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
