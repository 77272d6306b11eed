"""Makes webhook deliveries from committed events: one for each endpoint subscribed to the event.

Owns the choice of endpoints: those that are enabled and subscribed to the event's type, both when
the event happened and when it is read. Promises one delivery for each event and endpoint, however
often the event is read. Works across tenants, for the worker's role only.
"""

from sqlalchemy import Float, Select, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.events.log import CommittedEvent
from app.domain.ids import new_id
from app.store.across_tenants import set_tenant
from app.store.schema.webhooks import WebhookDeliveryTable as Delivery
from app.store.schema.webhooks import WebhookEndpointTable as Endpoint
from app.store.schema.webhooks import WebhookEventTable as Event


class WebhookFanOut:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

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
            insert(Delivery).on_conflict_do_nothing(),
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
