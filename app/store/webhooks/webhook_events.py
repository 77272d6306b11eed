"""Events of a project, written in the very transaction of what happened."""

from sqlalchemy import func, insert, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.events.webhooks import EventType
from app.domain.ids import new_id
from app.store.schema.webhooks import WebhookDeliveryTable as Delivery
from app.store.schema.webhooks import WebhookEndpointTable as Endpoint
from app.store.schema.webhooks import WebhookEventTable as Event

_WROTE = "webhook_events_written"


def wrote_events(session: AsyncSession) -> bool:
    """Whether the transaction leaves something to deliver."""
    return _WROTE in session.info


async def emit(session: AsyncSession, project_id: str, event_type: EventType, subject: str) -> None:
    """Note that `subject` came to its end, for each endpoint that wants to know; for none, nothing.

    The session's context must be the project. The endpoints found cannot be deleted before the
    transaction ends: a delivery without its endpoint would undo what happened.
    """
    wanted = await session.scalars(
        select(Endpoint.id)
        .where(
            Endpoint.project_id == project_id,
            Endpoint.disabled_at.is_(None),
            Endpoint.event_types.contains([event_type]),
        )
        .order_by(Endpoint.id)
        .with_for_update(read=True, key_share=True)
    )
    endpoints = list(wanted)
    if not endpoints:
        return
    session.info[_WROTE] = True
    event_id = new_id("evt_")
    await session.execute(
        insert(Event).values(id=event_id, project_id=project_id, type=event_type, subject=subject)
    )
    await session.execute(
        insert(Delivery),
        [
            {
                "id": new_id("whdlv_"),
                "project_id": project_id,
                "endpoint_id": endpoint_id,
                "event_id": event_id,
            }
            for endpoint_id in endpoints
        ],
    )


async def set_tenant(session: AsyncSession, project_id: str) -> None:
    """Let a transaction that looks across tenants write as one of them."""
    await session.execute(select(func.set_config("app.project", project_id, True)))
