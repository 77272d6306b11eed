"""Deliveries as rows: made from committed events, claimed, and set to their next attempt.

Works across tenants, for the worker's role only.
"""

from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any, ClassVar, Final

from sqlalchemy import Float, Select, column, func, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.sql.elements import ColumnElement
from typing_extensions import override

from app.accounts.tables import ProjectTable as Project
from app.across_tenants import ClaimUnitOfWork, set_tenant
from app.database import Database
from app.events.store import CommittedEvent
from app.kit.ids import new_id
from app.kit.leases import Lease, LeasedRows, is_held, is_unleased, lease_lost
from app.kit.sql import SessionRows, unix
from app.kit.transactions import BaseUnitOfWork, Sessions
from app.webhooks.events import AttemptOutcome, DeliveryError, DeliveryStatus, WebhookEvent
from app.webhooks.tables import WebhookDeliveryTable as Table
from app.webhooks.tables import WebhookEndpointTable as Endpoint
from app.webhooks.tables import WebhookEventTable as Event


class WebhookFanOut(SessionRows):
    async def fan_out(self, event: CommittedEvent) -> None:
        """Writes the event's deliveries; none when no endpoint is subscribed to it.

        The endpoints are locked against deletion until the transaction ends: a delivery without its
        endpoint would roll back the whole batch.
        """
        await set_tenant(self._session, event.project_id)
        endpoint_ids = (await self._session.scalars(_subscribed(event))).all()
        if not endpoint_ids:
            return
        await self._session.execute(
            insert(Event)
            .values(
                id=event.id,
                project_id=event.project_id,
                type=event.type,
                subject=event.subject,
                created_at=func.to_timestamp(event.created_at),
            )
            .on_conflict_do_nothing()
        )
        await self._session.execute(
            insert(Table).on_conflict_do_nothing(),
            [
                {
                    "id": new_id("whdlv_"),
                    "project_id": event.project_id,
                    "endpoint_id": endpoint_id,
                    "event_id": event.id,
                }
                for endpoint_id in endpoint_ids
            ],
        )


def _subscribed(event: CommittedEvent) -> Select[str]:
    return (
        select(Endpoint.id)
        .where(
            Endpoint.project_id == event.project_id,
            Endpoint.disabled_at.is_(None),
            Endpoint.event_types.contains([event.type]),
            Endpoint.subscribed_at[event.type].astext.cast(Float) <= event.created_at,
        )
        .order_by(Endpoint.id)
        .with_for_update(read=True, key_share=True)
    )


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
    total: int = 64
    per_organization: int = 32
    per_project: int = 16
    per_endpoint: int = 4


class LeasedDeliveries(LeasedRows):
    table: ClassVar[type[Table]] = Table
    open_states = (DeliveryStatus.PENDING.value,)

    async def is_due(self) -> bool:
        delivery_id = await self._session.scalar(
            select(Table.id)
            .where(self._is_open(), Table.next_attempt_at <= func.now(), is_unleased(Table))
            .limit(1)
        )
        return delivery_id is not None

    async def claim_due(self, lease_s: float, bounds: DeliveryLimits) -> list[Lease]:
        """Alternates between organizations, projects and endpoints."""
        if not await self.is_due():  # one row of an index; the choice reads each waiting endpoint
            return []
        await self._session.execute(_ONE_CLAIM_AT_A_TIME)
        chosen = _CHOSEN.bindparams(**asdict(bounds))
        return await self.claim_chosen(chosen.columns(column("project_id"), column("id")), lease_s)


def delivery_claims(database: Database) -> ClaimUnitOfWork[LeasedDeliveries]:
    return ClaimUnitOfWork(database, LeasedDeliveries)


_PENDING: Final = DeliveryStatus.PENDING.value


@dataclass(frozen=True, slots=True)
class DeliveryAttempt:
    organization_id: str
    event: WebhookEvent
    endpoint_id: str
    shown_url: str
    sealed: bytes
    """The endpoint's sealed credentials: its signing secrets and its whole URL."""
    earlier_attempts: int


class LeasedDeliveryUnitOfWork(BaseUnitOfWork):
    def __init__(self, sessions: Sessions, lease: Lease) -> None:
        super().__init__(sessions, {"app.project": lease.project_id})
        self._lease = lease

    @override
    async def _open(self, session: AsyncSession) -> None:
        self.delivery = LeasedDeliveryStore(session, self._lease)


def leased_delivery(database: Database, lease: Lease) -> LeasedDeliveryUnitOfWork:
    return LeasedDeliveryUnitOfWork(database.sessions, lease)


class LeasedDeliveryStore:
    """Every method raises `LeaseLost` when the delivery was deleted, ended or claimed again."""

    def __init__(self, session: AsyncSession, lease: Lease) -> None:
        self._session = session
        self._lease = lease

    async def attempt(self) -> DeliveryAttempt:
        in_project = Table.project_id == self._lease.project_id
        row = (
            await self._session.execute(
                select(Table.attempts, Endpoint, Event, Project.organization_id)
                .join(Endpoint, in_project & (Endpoint.id == Table.endpoint_id))
                .join(Event, in_project & (Event.id == Table.event_id))
                .join(Project, Project.id == Table.project_id)
                .where(self._is_held())
            )
        ).one_or_none()
        if row is None:
            raise lease_lost(self._lease)
        attempts, endpoint, event, organization_id = row
        return DeliveryAttempt(
            organization_id,
            WebhookEvent(event.id, event.type, event.subject, unix(event.created_at)),
            endpoint.id,
            endpoint.url,
            endpoint.secrets,
            attempts,
        )

    async def mark_delivered(self, endpoint_id: str, outcome: AttemptOutcome) -> None:
        await self._session.execute(
            update(Endpoint)
            .where(Endpoint.id == endpoint_id, Endpoint.last_failed_at.is_not(None))
            .values(last_failed_at=None)
        )
        await self._end(DeliveryStatus.DELIVERED, outcome)

    async def mark_for_retry(self, outcome: AttemptOutcome, *, delay_s: float) -> None:
        """Writes a failed attempt and ends the lease; the next attempt is due after the delay."""
        await self._change(
            outcome,
            next_attempt_at=func.clock_timestamp() + timedelta(seconds=delay_s),
            lease_until=None,
        )

    async def mark_failed(self, endpoint_id: str, outcome: AttemptOutcome) -> None:
        await self._mark_endpoint(endpoint_id, last_failed_at=func.now())
        await self._end(DeliveryStatus.FAILED, outcome)

    async def disable_endpoint(self, endpoint_id: str, outcome: AttemptOutcome) -> None:
        """Disables an endpoint that answered 410 Gone, and ends all its pending deliveries."""
        await self._mark_endpoint(endpoint_id, disabled_at=func.now(), last_failed_at=func.now())
        await self._end(DeliveryStatus.FAILED, outcome)
        await self._session.execute(
            update(Table)
            .where(Table.endpoint_id == endpoint_id, Table.status == _PENDING)
            .values(
                status=DeliveryStatus.FAILED.value,
                last_error=DeliveryError.ENDPOINT_DISABLED.value,
                finished_at=func.now(),
                lease_until=None,
            )
        )

    async def _mark_endpoint(self, endpoint_id: str, **values: Any) -> None:
        """Runs before the delivery changes: a deletion locks the endpoint first, too."""
        await self._session.execute(
            update(Endpoint).where(Endpoint.id == endpoint_id).values(**values)
        )

    async def _end(self, status: DeliveryStatus, outcome: AttemptOutcome) -> None:
        await self._change(outcome, status=status.value, finished_at=func.now(), lease_until=None)

    async def _change(self, outcome: AttemptOutcome, **values: Any) -> None:
        delivery_id = await self._session.scalar(
            update(Table)
            .where(self._is_held())
            .values(
                attempts=Table.attempts + 1,
                last_status_code=outcome.status_code,
                last_error=None if outcome.error is None else outcome.error.value,
                **values,
            )
            .returning(Table.id)
        )
        if delivery_id is None:
            raise lease_lost(self._lease)

    def _is_held(self) -> ColumnElement[bool]:
        return is_held(Table, self._lease, states=[_PENDING])
