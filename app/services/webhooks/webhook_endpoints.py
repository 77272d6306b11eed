"""Manages a project's webhook endpoints: addresses, types of events and signing secrets."""

import time
from collections.abc import Callable
from dataclasses import replace

from app.domain.accounts.tenants import Tenant
from app.domain.errors import EndpointRefused, InvalidRequest
from app.domain.events.webhooks import (
    EventType,
    SigningSecret,
    WebhookDelivery,
    WebhookEndpoint,
    WebhookEvent,
    new_secret,
    rotated,
    secret_hint,
)
from app.domain.ids import new_id
from app.gateways.egress.egress import Egress
from app.gateways.endpoints.webhooks import EndpointSecrets, send_event
from app.gateways.secrets import SecretBox
from app.store.database import Database


class WebhookEndpointService:
    def __init__(
        self,
        database: Database,
        egress: Egress,
        secret_box: SecretBox,
        tenant: Tenant,
        *,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._database = database
        self._egress = egress
        self._secrets = EndpointSecrets(secret_box, tenant.project_id)
        self._tenant = tenant
        self._now = now

    async def create(
        self, *, name: str, url: str, event_types: list[EventType]
    ) -> tuple[WebhookEndpoint, SigningSecret]:
        """Creates an endpoint; its secret is never shown again. Raises `InvalidRequest`."""
        await self._check_url(url)
        secret = new_secret()
        endpoint = WebhookEndpoint(
            id=new_id("whe_"),
            name=name,
            url=url,
            event_types=list(dict.fromkeys(event_types)),
            secret_hint=secret_hint(secret),
        )
        sealed = self._secrets.seal(endpoint.id, [secret])
        async with self._database.tenant(self._tenant) as unit:
            await unit.webhook_endpoints.insert(endpoint, secrets=sealed)
            return await unit.webhook_endpoints.get(endpoint.id), secret

    async def get(self, endpoint_id: str) -> WebhookEndpoint:
        async with self._database.tenant(self._tenant) as unit:
            return await unit.webhook_endpoints.get(endpoint_id)

    async def page(self, *, after: str | None, limit: int) -> tuple[list[WebhookEndpoint], bool]:
        async with self._database.tenant(self._tenant) as unit:
            return await unit.webhook_endpoints.page(after=after, limit=limit)

    async def update(
        self,
        endpoint_id: str,
        *,
        name: str | None,
        url: str | None,
        event_types: list[EventType] | None,
    ) -> WebhookEndpoint:
        """Changes all but `None`. An endpoint that was disabled is sent events again."""
        if url is not None:
            await self.get(endpoint_id)
            await self._check_url(url)
        async with self._database.tenant(self._tenant) as unit:
            before, _ = await unit.webhook_endpoints.hold(endpoint_id)
            types = before.event_types
            if event_types is not None:
                types = list(dict.fromkeys(event_types))
            after = replace(
                before,
                name=before.name if name is None else name,
                url=before.url if url is None else url,
                event_types=types,
            )
            if after != before:
                await unit.webhook_endpoints.change(
                    endpoint_id,
                    {"name": after.name, "url": after.url, "event_types": after.event_types},
                )
            if before.disabled_at is not None:
                await unit.webhook_endpoints.enable(endpoint_id)
            return await unit.webhook_endpoints.get(endpoint_id)

    async def delete(self, endpoint_id: str) -> None:
        """Deletes an endpoint with its deliveries, those of earlier events included."""
        async with self._database.tenant(self._tenant) as unit:
            await unit.webhook_endpoints.delete(endpoint_id)

    async def rotate(
        self, endpoint_id: str, *, keep_old: bool
    ) -> tuple[WebhookEndpoint, SigningSecret]:
        """Makes a new secret, shown once. Old ones sign beside it for a day more, or not at all."""
        secret = new_secret()
        async with self._database.tenant(self._tenant) as unit:
            _, sealed = await unit.webhook_endpoints.hold(endpoint_id)
            secrets = rotated(
                self._secrets.open(endpoint_id, sealed), secret, now=self._now(), keep_old=keep_old
            )
            await unit.webhook_endpoints.change(
                endpoint_id,
                {
                    "secrets": self._secrets.seal(endpoint_id, secrets),
                    "secret_hint": secret_hint(secret),
                },
            )
            return await unit.webhook_endpoints.get(endpoint_id), secret

    async def test(self, endpoint_id: str, event_type: EventType) -> int:
        """Sends a sample event once, without retries, and returns the status of the reply.
        Raises `InvalidRequest` when there was no answer.
        """
        async with self._database.tenant(self._tenant) as unit:
            endpoint = await unit.webhook_endpoints.get(endpoint_id)
            sealed = await unit.webhook_endpoints.secrets(endpoint_id)
        prefix = "evalrun_" if event_type.startswith("eval.") else "ftjob-"
        event = WebhookEvent(new_id("evt_"), event_type, f"{prefix}test", int(self._now()))
        secrets = self._secrets.open(endpoint_id, sealed)
        outcome = await send_event(self._egress, endpoint.url, event, secrets)
        if outcome.status_code is None:
            raise InvalidRequest(
                f"The endpoint gave no answer ({outcome.error}).",
                code="webhook_endpoint_unreachable",
            )
        return outcome.status_code

    async def deliveries(
        self, endpoint_id: str, *, after: str | None, limit: int
    ) -> tuple[list[WebhookDelivery], bool]:
        async with self._database.tenant(self._tenant) as unit:
            await unit.webhook_endpoints.get(endpoint_id)
            return await unit.webhook_endpoints.deliveries(endpoint_id, after=after, limit=limit)

    async def _check_url(self, url: str) -> None:
        try:
            await self._egress.check_url(url)
        except EndpointRefused as error:
            raise InvalidRequest(
                f"url is not allowed: {error}", param="url", code="endpoint_not_allowed"
            ) from error
