"""Deliveries across tenants, for the worker's role only: claim what is due; and the transaction of
the worker that holds one.

The same rules as for jobs: a lease in the row, a fence that rises with every claim. Claims follow
one another, so that the bounds hold over all workers together.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import Float, bindparam, delete, func, or_, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.sql.elements import ColumnElement
from typing_extensions import override

from app.domain.errors import LeaseLost
from app.domain.events.webhooks import DeliveryStatus, Outcome, WebhookEvent
from app.store.database import Database
from app.store.schema.webhooks import WebhookDeliveryTable as Table
from app.store.schema.webhooks import WebhookEndpointTable as Endpoint
from app.store.schema.webhooks import WebhookEventTable as Event
from app.store.times import unix
from app.store.unit_of_work import BaseUnitOfWork, Sessions

_PENDING = DeliveryStatus.PENDING.value
_ONE_CLAIM_AT_A_TIME = text("SELECT pg_advisory_xact_lock(hashtextextended('webhook_claims', 0))")
# `place` is the position among the due ones of an endpoint or a project behind those on their way.
_CLAIM = text("""
    WITH open AS (
        SELECT project_id, endpoint_id, id, next_attempt_at, lease_until > now() IS TRUE AS held
        FROM webhook_deliveries
        WHERE status = 'pending' AND next_attempt_at <= now()
    ), placed AS (
        SELECT project_id, id, next_attempt_at, held,
               row_number() OVER (PARTITION BY project_id, endpoint_id
                                  ORDER BY held DESC, next_attempt_at, id) AS of_endpoint
        FROM open
    ), counted AS (
        SELECT project_id, id, next_attempt_at, held, of_endpoint,
               row_number() OVER (PARTITION BY project_id
                                  ORDER BY held DESC, of_endpoint, next_attempt_at, id)
                   AS of_project
        FROM placed WHERE of_endpoint <= :per_endpoint
    ), chosen AS (
        SELECT project_id, id FROM counted WHERE NOT held AND of_project <= :per_project
        ORDER BY of_project, next_attempt_at, id
        LIMIT greatest(:total - (SELECT count(*) FROM open WHERE held), 0)
    ), locked AS (
        SELECT d.project_id, d.id FROM webhook_deliveries d JOIN chosen USING (project_id, id)
        FOR UPDATE OF d SKIP LOCKED
    )
    UPDATE webhook_deliveries d
    SET lease_until = now() + make_interval(secs => :lease_s), fence = d.fence + 1
    FROM locked WHERE d.project_id = locked.project_id AND d.id = locked.id
    RETURNING d.id, d.project_id, d.fence
""").bindparams(bindparam("lease_s", type_=Float))


@dataclass(frozen=True, slots=True)
class Bounds:
    """How many deliveries may be on their way at once."""

    total: int = 64
    per_project: int = 16
    per_endpoint: int = 4


@dataclass(frozen=True, slots=True)
class ClaimedDelivery:
    delivery_id: str
    project_id: str
    fence: int


@dataclass(frozen=True, slots=True)
class DeliveryAttempt:
    """What an attempt needs."""

    event: WebhookEvent
    endpoint_id: str
    url: str
    sealed: bytes
    attempts: int
    """That were made before."""


class DeliveryClaimUnitOfWork(BaseUnitOfWork):
    @override
    async def _open(self, session: AsyncSession) -> None:
        self.deliveries = DeliveryClaimStore(session)


def delivery_claims(database: Database) -> DeliveryClaimUnitOfWork:
    """A transaction that sees the deliveries of all tenants. Only the worker's role gets any."""
    return DeliveryClaimUnitOfWork(database.sessions, {"app.system": "on"})


class DeliveryClaimStore:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def is_due(self) -> bool:
        """Whether there is anything to claim."""
        found = await self._session.scalar(
            select(Table.id)
            .where(
                Table.status == _PENDING,
                Table.next_attempt_at <= func.now(),
                or_(Table.lease_until.is_(None), Table.lease_until < func.now()),
            )
            .limit(1)
        )
        return found is not None

    async def claim(self, lease_s: float, bounds: Bounds) -> list[ClaimedDelivery]:
        """Take what is due and within the bounds, the endpoints taking turns."""
        await self._session.execute(_ONE_CLAIM_AT_A_TIME)
        rows = await self._session.execute(
            _CLAIM,
            {
                "lease_s": lease_s,
                "total": bounds.total,
                "per_project": bounds.per_project,
                "per_endpoint": bounds.per_endpoint,
            },
        )
        return [ClaimedDelivery(row.id, row.project_id, row.fence) for row in rows]

    async def forget(self, limit: int, *, keep_s: float) -> int:
        """Remove old events with their deliveries. Returns how many events there were."""
        old = (
            select(Event.project_id, Event.id)
            .where(Event.created_at <= func.now() - timedelta(seconds=keep_s))
            .order_by(Event.created_at)
            .limit(limit)
            .cte()
        )
        gone = await self._session.scalars(
            delete(Event)
            .where(Event.project_id == old.c.project_id, Event.id == old.c.id)
            .returning(Event.id)
        )
        return len(gone.all())


class LeasedDeliveryUnitOfWork(BaseUnitOfWork):
    """A transaction of the worker that holds a delivery."""

    def __init__(self, sessions: Sessions, claimed: ClaimedDelivery) -> None:
        super().__init__(sessions, {"app.project": claimed.project_id})
        self._claimed = claimed

    @override
    async def _open(self, session: AsyncSession) -> None:
        self.delivery = LeasedDeliveryStore(session, self._claimed)


def held_delivery(database: Database, claimed: ClaimedDelivery) -> LeasedDeliveryUnitOfWork:
    return LeasedDeliveryUnitOfWork(database.sessions, claimed)


class LeasedDeliveryStore:
    """Every method raises `LeaseLost` once the delivery is gone or newly claimed."""

    def __init__(self, session: AsyncSession, claimed: ClaimedDelivery) -> None:
        self._session = session
        self._claimed = claimed

    async def parcel(self) -> DeliveryAttempt:
        of = Table.project_id == self._claimed.project_id
        row = (
            await self._session.execute(
                select(Table.attempts, Endpoint, Event)
                .join(Endpoint, of & (Endpoint.id == Table.endpoint_id))
                .join(Event, of & (Event.id == Table.event_id))
                .where(self._held())
            )
        ).one_or_none()
        if row is None:
            raise self._lost()
        attempts, endpoint, event = row
        return DeliveryAttempt(
            WebhookEvent(event.id, event.type, event.subject, unix(event.created_at)),
            endpoint.id,
            endpoint.url,
            endpoint.secrets,
            attempts,
        )

    async def delivered(self, endpoint_id: str, outcome: Outcome) -> None:
        await self._session.execute(
            update(Endpoint)
            .where(Endpoint.id == endpoint_id, Endpoint.last_failed_at.is_not(None))
            .values(last_failed_at=None)
        )
        await self._end(DeliveryStatus.DELIVERED, outcome)

    async def retry(self, outcome: Outcome, *, delay_s: float) -> None:
        """The attempt failed; another one follows."""
        await self._change(
            outcome,
            next_attempt_at=func.clock_timestamp() + timedelta(seconds=delay_s),
            lease_until=None,
        )

    async def give_up(self, endpoint_id: str, outcome: Outcome) -> None:
        await self._mark(endpoint_id, last_failed_at=func.now())
        await self._end(DeliveryStatus.FAILED, outcome)

    async def disable(self, endpoint_id: str, outcome: Outcome) -> None:
        """The receiver wants nothing any more: whatever still waits for it ends too."""
        await self._mark(endpoint_id, disabled_at=func.now(), last_failed_at=func.now())
        await self._end(DeliveryStatus.FAILED, outcome)
        await self._session.execute(
            update(Table)
            .where(Table.endpoint_id == endpoint_id, Table.status == _PENDING)
            .values(
                status=DeliveryStatus.FAILED.value,
                last_error="endpoint_disabled",
                finished_at=func.now(),
                lease_until=None,
            )
        )

    async def _mark(self, endpoint_id: str, **values: Any) -> None:
        """Before the delivery: a deletion locks the endpoint first, too."""
        await self._session.execute(
            update(Endpoint).where(Endpoint.id == endpoint_id).values(**values)
        )

    async def _end(self, status: DeliveryStatus, outcome: Outcome) -> None:
        await self._change(outcome, status=status.value, finished_at=func.now(), lease_until=None)

    async def _change(self, outcome: Outcome, **values: Any) -> None:
        found = await self._session.scalar(
            update(Table)
            .where(self._held())
            .values(
                attempts=Table.attempts + 1,
                last_status_code=outcome.status_code,
                last_error=outcome.error,
                **values,
            )
            .returning(Table.id)
        )
        if found is None:
            raise self._lost()

    def _held(self) -> ColumnElement[bool]:
        claimed = self._claimed
        return (
            (Table.project_id == claimed.project_id)
            & (Table.id == claimed.delivery_id)
            & (Table.fence == claimed.fence)
            & (Table.status == _PENDING)
        )

    def _lost(self) -> LeaseLost:
        return LeaseLost(f"{self._claimed.delivery_id} is not held at {self._claimed.fence}")
