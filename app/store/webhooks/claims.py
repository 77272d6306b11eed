"""Leases of webhook deliveries, across all tenants.

One claim runs at a time, so that the bounds apply to all workers together. A delivery's attempts
are counted when their outcome is written, not when they are claimed.
"""

from dataclasses import dataclass
from typing import ClassVar

from sqlalchemy import column, func, select, text

from app.domain.events.webhooks import DeliveryStatus
from app.store.across_tenants import ClaimUnitOfWork
from app.store.database import Database
from app.store.leases.leases import Lease, LeasedRows, is_unleased
from app.store.schema.webhooks import WebhookDeliveryTable as Table

_ONE_CLAIM_AT_A_TIME = text("SELECT pg_advisory_xact_lock(hashtextextended('webhook_claims', 0))")
# `of_endpoint`, `of_project` and `of_organization` number the due deliveries of an endpoint, a
# project and an organization; the numbers begin after those in flight. Their order alternates
# between organizations, their projects and their endpoints. A claim reads no more deliveries of an
# endpoint than its limit leaves, so that its work does not grow with the backlog.
_CHOSEN = text("""
    WITH RECURSIVE waiting AS (
        (SELECT project_id, endpoint_id FROM webhook_deliveries WHERE status = 'pending'
         ORDER BY project_id, endpoint_id LIMIT 1)
        UNION ALL
        SELECT further.* FROM waiting CROSS JOIN LATERAL (
            SELECT project_id, endpoint_id FROM webhook_deliveries AS each
            WHERE status = 'pending' AND (each.project_id, each.endpoint_id)
                  > (waiting.project_id, waiting.endpoint_id)
            ORDER BY project_id, endpoint_id LIMIT 1
        ) AS further
    ), held AS MATERIALIZED (
        SELECT delivery.project_id, endpoint_id, organization_id, count(*) AS number
        FROM webhook_deliveries AS delivery
        JOIN projects AS project ON project.id = delivery.project_id
        WHERE status = 'pending' AND lease_until > now()
        GROUP BY delivery.project_id, endpoint_id, organization_id
    ), placed AS (
        SELECT waiting.project_id, due.id, due.next_attempt_at,
               coalesce(held.number, 0) + row_number() OVER (
                   PARTITION BY waiting.project_id, waiting.endpoint_id
                   ORDER BY due.next_attempt_at, due.id) AS of_endpoint
        FROM waiting LEFT JOIN held USING (project_id, endpoint_id)
        CROSS JOIN LATERAL (
            SELECT id, next_attempt_at FROM webhook_deliveries AS each
            WHERE each.project_id = waiting.project_id
                  AND each.endpoint_id = waiting.endpoint_id AND status = 'pending'
                  AND next_attempt_at <= now() AND (lease_until > now()) IS NOT TRUE
            ORDER BY next_attempt_at, id
            LIMIT greatest(:per_endpoint - coalesce(held.number, 0), 0)
        ) AS due
    ), counted AS (
        SELECT placed.*,
               (SELECT coalesce(sum(number), 0) FROM held
                WHERE held.project_id = placed.project_id)
               + row_number() OVER (PARTITION BY placed.project_id
                                    ORDER BY of_endpoint, next_attempt_at, id) AS of_project
        FROM placed
    ), shared AS (
        SELECT counted.project_id, counted.id, next_attempt_at,
               (SELECT coalesce(sum(number), 0) FROM held
                WHERE held.organization_id = project.organization_id)
               + row_number() OVER (PARTITION BY project.organization_id
                                    ORDER BY of_project, next_attempt_at, counted.id)
                   AS of_organization
        FROM counted JOIN projects AS project ON project.id = counted.project_id
        WHERE of_project <= :per_project
    )
    SELECT project_id, id FROM shared WHERE of_organization <= :per_organization
    ORDER BY of_organization, next_attempt_at, id
    LIMIT greatest(:total - (SELECT coalesce(sum(number), 0) FROM held), 0)
""")


@dataclass(frozen=True, slots=True)
class DeliveryLimits:
    """Limits on the number of deliveries that are sent at the same time."""

    total: int = 64
    per_organization: int = 32
    per_project: int = 16
    per_endpoint: int = 4


class LeasedDeliveries(LeasedRows):
    table: ClassVar[type[Table]] = Table
    open_states = (DeliveryStatus.PENDING.value,)

    async def is_due(self) -> bool:
        """Returns whether any delivery can be claimed."""
        delivery_id = await self._session.scalar(
            select(Table.id)
            .where(self._is_open(), Table.next_attempt_at <= func.now(), is_unleased(Table))
            .limit(1)
        )
        return delivery_id is not None

    async def claim_due(self, lease_s: float, bounds: DeliveryLimits) -> list[Lease]:
        """Claims due deliveries within the bounds, alternating between organizations, projects and
        endpoints.
        """
        if not await self.is_due():  # one row of an index; the choice reads each waiting endpoint
            return []
        await self._session.execute(_ONE_CLAIM_AT_A_TIME)
        chosen = _CHOSEN.bindparams(
            total=bounds.total,
            per_organization=bounds.per_organization,
            per_project=bounds.per_project,
            per_endpoint=bounds.per_endpoint,
        )
        return await self.claim_chosen(chosen.columns(column("project_id"), column("id")), lease_s)


def delivery_claims(database: Database) -> ClaimUnitOfWork[LeasedDeliveries]:
    """Returns a transaction that sees the deliveries of all tenants; only the worker's role gets
    any.
    """
    return ClaimUnitOfWork(database, LeasedDeliveries)
