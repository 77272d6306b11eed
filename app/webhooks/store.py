"""Stores the webhook endpoints of a project, and lists the deliveries to them."""

from datetime import UTC
from typing import Any

from sqlalchemy import delete, func, insert, select, text, update

from app.kit.errors import InvalidRequest, NotFound, WrongState
from app.kit.sql import Keyset, ProjectRows, cut, from_row, unix
from app.webhooks.events import (
    MAX_ENDPOINTS,
    DeliveryError,
    DeliveryStatus,
    WebhookDelivery,
    WebhookEndpoint,
)
from app.webhooks.tables import WebhookDeliveryTable as Delivery
from app.webhooks.tables import WebhookEndpointTable as Table
from app.webhooks.tables import WebhookEventTable as Event

_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))")

_WITH_TYPE = select(Delivery, Event.type).join(
    Event, (Event.project_id == Delivery.project_id) & (Event.id == Delivery.event_id)
)
_SUBSCRIBE = text("""
    UPDATE webhook_endpoints SET subscribed_at = (
        SELECT coalesce(jsonb_object_agg(type, CASE
            WHEN subscribed_at ? type AND NOT :anew THEN subscribed_at -> type
            ELSE to_jsonb(extract(epoch FROM clock_timestamp()))
        END), '{}')
        FROM unnest(event_types) AS type
    )
    WHERE id = :endpoint_id
""")


class WebhookEndpointStore(ProjectRows):
    async def insert(self, endpoint: WebhookEndpoint, *, secrets: bytes) -> None:
        await self._session.execute(_LOCK, {"name": f"webhook_endpoints/{self._project_id}"})
        count = await self._session.scalar(select(func.count()).select_from(Table))
        if (count or 0) >= MAX_ENDPOINTS:
            raise InvalidRequest(
                f"A project has at most {MAX_ENDPOINTS} webhook endpoints: delete one first.",
                code="webhook_endpoint_limit_reached",
            )
        await self._session.execute(
            insert(Table).values(
                id=endpoint.id,
                project_id=self._project_id,
                name=endpoint.name,
                url=endpoint.url,
                event_types=endpoint.event_types,
                subscribed_at={},
                secrets=secrets,
                secret_hint=endpoint.secret_hint,
                created_at=func.clock_timestamp(),
                updated_at=func.clock_timestamp(),
            )
        )
        await self._subscribe(endpoint.id, anew=True)

    async def get(self, endpoint_id: str) -> WebhookEndpoint:
        return to_endpoint(await self._row(endpoint_id))

    async def hold(self, endpoint_id: str) -> tuple[WebhookEndpoint, bytes]:
        row = await self._row(endpoint_id, lock=True)
        return to_endpoint(row), row.secrets

    async def secrets(self, endpoint_id: str) -> bytes:
        return (await self._row(endpoint_id)).secrets

    async def page(self, *, after: str | None, limit: int) -> tuple[list[WebhookEndpoint], bool]:
        page, more = await Keyset((Table.created_at, Table.id), descending=True).page(
            self._session, select(Table), after=after, cursor=[Table.id == after], limit=limit
        )
        return [to_endpoint(row) for row in page], more

    async def change(self, endpoint_id: str, values: dict[str, Any]) -> None:
        await self._session.execute(
            update(Table).where(Table.id == endpoint_id).values(updated_at=func.now(), **values)
        )
        if "event_types" in values:
            await self._subscribe(endpoint_id, anew=False)

    async def enable(self, endpoint_id: str) -> None:
        await self._session.execute(
            update(Table).where(Table.id == endpoint_id).values(disabled_at=None)
        )
        await self._subscribe(endpoint_id, anew=True)

    async def _subscribe(self, endpoint_id: str, *, anew: bool) -> None:
        """Sends events of each type from now on; a type with a time keeps it unless `anew`."""
        await self._session.execute(_SUBSCRIBE, {"endpoint_id": endpoint_id, "anew": anew})

    async def delete(self, endpoint_id: str) -> None:
        deleted_id = await self._session.scalar(
            delete(Table).where(Table.id == endpoint_id).returning(Table.id)
        )
        if deleted_id is None:
            raise _missing(endpoint_id)

    async def deliveries(
        self, endpoint_id: str, *, after: str | None, limit: int
    ) -> tuple[list[WebhookDelivery], bool]:
        query = _WITH_TYPE.where(
            Delivery.project_id == self._project_id, Delivery.endpoint_id == endpoint_id
        )
        query = await Keyset((Delivery.created_at, Delivery.id), descending=True).start_after(
            self._session,
            query,
            after=after,
            cursor=[Delivery.id == after, Delivery.endpoint_id == endpoint_id],
        )
        page, more = cut((await self._session.execute(query.limit(limit + 1))).all(), limit)
        return [_to_delivery(row, event_type) for row, event_type in page], more

    async def redeliver(self, endpoint_id: str, delivery_id: str) -> WebhookDelivery:
        of_endpoint = (
            Delivery.project_id == self._project_id,
            Delivery.id == delivery_id,
            Delivery.endpoint_id == endpoint_id,
        )
        ended = Delivery.status != DeliveryStatus.PENDING.value
        changed = await self._session.scalar(
            update(Delivery)
            .where(*of_endpoint, ended)
            .values(
                status=DeliveryStatus.PENDING.value,
                attempts=0,
                next_attempt_at=func.clock_timestamp(),
                finished_at=None,
            )
            .returning(Delivery.id)
        )
        query = _WITH_TYPE.where(*of_endpoint).execution_options(populate_existing=True)
        row = (await self._session.execute(query)).one_or_none()
        if row is None:
            raise NotFound(f"Could not find delivery: {delivery_id}", param="delivery_id")
        if changed is None:
            raise WrongState(
                f"Delivery {delivery_id} has not ended: its next attempt is due at "
                f"{row[0].next_attempt_at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}.",
                param="delivery_id",
            )
        return _to_delivery(*row)

    async def _row(self, endpoint_id: str, *, lock: bool = False) -> Table:
        query = select(Table).where(Table.id == endpoint_id)
        query = query.execution_options(populate_existing=True)
        row = await self._session.scalar(query.with_for_update(key_share=True) if lock else query)
        if row is None:
            raise _missing(endpoint_id)
        return row


def _missing(endpoint_id: str) -> NotFound:
    return NotFound(f"Could not find webhook endpoint: {endpoint_id}", param="webhook_endpoint_id")


def to_endpoint(row: Table) -> WebhookEndpoint:
    return from_row(WebhookEndpoint, row)


def _to_delivery(row: Delivery, event_type: str) -> WebhookDelivery:
    waits = row.status == DeliveryStatus.PENDING.value
    return from_row(
        WebhookDelivery,
        row,
        event_type=event_type,
        status=DeliveryStatus(row.status),
        last_error=None if row.last_error is None else DeliveryError(row.last_error),
        next_attempt_at=unix(row.next_attempt_at) if waits else None,
    )
