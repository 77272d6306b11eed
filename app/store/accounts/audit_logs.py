"""Reads the audit log of an organization. Triggers write it; see `migrations/audited.py`."""

from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.accounts.audit_logs import AuditEntry, AuditFilter
from app.domain.faults.values import unknown_cursor
from app.store.paging import cut
from app.store.schema.audit_logs import AuditLogTable as Table
from app.store.schema.keys import ApiKeyTable as Key
from app.store.schema.projects import ProjectTable as Project
from app.store.times import unix


class AuditLogStore:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def page(
        self,
        organization_id: str,
        wanted: AuditFilter,
        *,
        after: str | None = None,
        before: str | None = None,
        limit: int,
    ) -> tuple[list[AuditEntry], bool]:
        """Returns a page, newest first, and whether more entries follow in its direction: older
        ones, or with `before` newer ones. Raises `InvalidRequest` for an unknown cursor.
        """
        query = _matching(organization_id, wanted)
        if after is not None:
            query = query.where(Table.seq < await self._number(organization_id, after, "after"))
        if before is not None:
            query = query.where(Table.seq > await self._number(organization_id, before, "before"))
        upwards = before is not None and after is None
        query = query.order_by(Table.seq if upwards else Table.seq.desc())
        rows, more = cut((await self._session.execute(query.limit(limit + 1))).all(), limit)
        return [_to_entry(row) for row in (reversed(rows) if upwards else rows)], more

    async def _number(self, organization_id: str, entry_id: str, param: str) -> int:
        number = await self._session.scalar(
            select(Table.seq).where(Table.organization_id == organization_id, Table.id == entry_id)
        )
        if number is None:
            raise unknown_cursor(entry_id, param)
        return number


def _matching(organization_id: str, wanted: AuditFilter) -> Select[*tuple[Any, ...]]:
    query = (
        select(Table, Project.name, Key.service_account_id)
        .outerjoin(Project, Project.id == Table.project_id)
        .outerjoin(Key, Key.id == Table.actor_id)
        .where(Table.organization_id == organization_id)
    )
    moment = Table.effective_at
    if wanted.after_s is not None:
        # Entries show whole seconds, so these are what is compared.
        query = query.where(moment >= func.to_timestamp(int(wanted.after_s) + 1))
    if wanted.from_s is not None:
        query = query.where(moment >= func.to_timestamp(wanted.from_s))
    if wanted.before_s is not None:
        query = query.where(moment < func.to_timestamp(wanted.before_s))
    if wanted.until_s is not None:
        query = query.where(moment < func.to_timestamp(int(wanted.until_s) + 1))
    if wanted.event_types:
        query = query.where(Table.type.in_(wanted.event_types))
    if wanted.actor_ids:
        query = query.where(
            Table.actor_id.in_(wanted.actor_ids) | Key.service_account_id.in_(wanted.actor_ids)
        )
    if wanted.project_ids:
        query = query.where(Table.project_id.in_(wanted.project_ids))
    if wanted.resource_ids:
        query = query.where(Table.resource_id.in_(wanted.resource_ids))
    return query


def _to_entry(row: Any) -> AuditEntry:
    entry, project_name, service_account_id = row
    return AuditEntry(
        id=entry.id,
        type=entry.type,
        effective_at=unix(entry.effective_at),
        actor_kind=entry.actor_kind,
        actor_id=entry.actor_id,
        service_account_id=service_account_id,
        address=entry.address,
        project_id=entry.project_id,
        project_name=project_name,
        resource_id=entry.resource_id,
        details=entry.details,
    )
