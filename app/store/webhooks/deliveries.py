"""The transaction of the worker that has the lease on a webhook delivery."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.sql.elements import ColumnElement
from typing_extensions import override

from app.domain.events.webhooks import AttemptOutcome, DeliveryError, DeliveryStatus, WebhookEvent
from app.store.database import Database
from app.store.leases.leases import Lease, is_held, lease_lost
from app.store.schema.projects import ProjectTable as Project
from app.store.schema.webhooks import WebhookDeliveryTable as Table
from app.store.schema.webhooks import WebhookEndpointTable as Endpoint
from app.store.schema.webhooks import WebhookEventTable as Event
from app.store.times import unix
from app.store.transactions.base_unit import BaseUnitOfWork, Sessions

_PENDING: Final = DeliveryStatus.PENDING.value


@dataclass(frozen=True, slots=True)
class DeliveryAttempt:
    """The data for one attempt to deliver an event."""

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
        """Writes the last failed attempt, after which no other follows."""
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
        """Marks the endpoint. Must run before the delivery changes: a deletion locks the endpoint
        first, too.
        """
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
