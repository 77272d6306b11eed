"""Webhook endpoints, and the secret that signs the service's calls to tools and graders."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from app.database import Database
from app.kit.callers import Tenant
from app.kit.egress import Egress
from app.kit.endpoints import signing_secret
from app.kit.errors import EndpointRefused, InvalidRequest, WrongState
from app.kit.ids import new_id
from app.kit.redaction import shown_url, with_earlier_url
from app.kit.sealing import SecretBox, SecretsUnreadable
from app.webhooks.events import (
    EndpointCredentials,
    EventType,
    SigningSecret,
    WebhookDelivery,
    WebhookEndpoint,
    WebhookEvent,
    new_secret,
    rotated_secrets,
    secret_hint,
)
from app.webhooks.sending import EndpointSecrets, send_event


class SigningService:
    def __init__(self, *, secret_key: str, tenant: Tenant) -> None:
        self._secret_key = secret_key
        self._tenant = tenant

    def secret(self) -> str:
        return signing_secret(self._secret_key, self._tenant.project_id)


class WebhookEndpointService:
    def __init__(
        self,
        database: Database,
        egress: Egress,
        secret_box: SecretBox,
        tenant: Tenant,
        *,
        notify: Callable[[], Awaitable[None]],
        now: Callable[[], float] = time.time,
    ) -> None:
        self._notify = notify
        self._database = database
        self._egress = egress
        self._secrets = EndpointSecrets(secret_box, tenant.project_id)
        self._tenant = tenant
        self._now = now

    async def create(
        self, *, name: str, url: str, event_types: list[EventType]
    ) -> tuple[WebhookEndpoint, SigningSecret]:
        url = with_earlier_url(url, None, param="url")
        await self._check_url(url)
        secret = new_secret()
        endpoint = WebhookEndpoint(
            id=new_id("whe_"),
            name=name,
            url=shown_url(url),
            event_types=list(dict.fromkeys(event_types)),
            secret_hint=secret_hint(secret),
        )
        sealed = self._secrets.seal(endpoint.id, EndpointCredentials((secret,), url))
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
        """Changes all but `None`. An endpoint that was disabled is sent events again.

        A URL that is sent back in its shown form keeps its hidden parts.
        """
        if url is not None:
            async with self._database.tenant(self._tenant) as unit:
                before = await unit.webhook_endpoints.get(endpoint_id)
                sealed = await unit.webhook_endpoints.secrets(endpoint_id)
            earlier = self._opened(endpoint_id, sealed).whole_url(before.url)
            await self._check_url(with_earlier_url(url, earlier, param="url"))
        async with self._database.tenant(self._tenant) as unit:
            before, sealed = await unit.webhook_endpoints.hold(endpoint_id)
            changes: dict[str, Any] = {} if url is None else self._with_url(before, sealed, url)
            if name is not None and name != before.name:
                changes["name"] = name
            types = None if event_types is None else list(dict.fromkeys(event_types))
            if types is not None and types != before.event_types:
                changes["event_types"] = types
            if changes:
                await unit.webhook_endpoints.change(endpoint_id, changes)
            if before.disabled_at is not None:
                await unit.webhook_endpoints.enable(endpoint_id)
            return await unit.webhook_endpoints.get(endpoint_id)

    def _with_url(self, before: WebhookEndpoint, sealed: bytes, url: str) -> dict[str, Any]:
        credentials = self._opened(before.id, sealed)
        earlier = credentials.whole_url(before.url)
        whole = with_earlier_url(url, earlier, param="url")
        if whole == earlier:
            return {}
        return {
            "url": shown_url(whole),
            "secrets": self._secrets.seal(before.id, replace(credentials, url=whole)),
        }

    async def delete(self, endpoint_id: str) -> None:
        async with self._database.tenant(self._tenant) as unit:
            await unit.webhook_endpoints.delete(endpoint_id)

    async def rotate(
        self, endpoint_id: str, *, keep_old: bool
    ) -> tuple[WebhookEndpoint, SigningSecret]:
        """Makes a new secret, shown once. Old ones continue to sign for a day, or stop at once."""
        secret = new_secret()
        async with self._database.tenant(self._tenant) as unit:
            _, sealed = await unit.webhook_endpoints.hold(endpoint_id)
            earlier = self._opened(endpoint_id, sealed)
            signing = rotated_secrets(earlier.signing, secret, now=self._now(), keep_old=keep_old)
            await unit.webhook_endpoints.change(
                endpoint_id,
                {
                    "secrets": self._secrets.seal(endpoint_id, replace(earlier, signing=signing)),
                    "secret_hint": secret_hint(secret),
                },
            )
            return await unit.webhook_endpoints.get(endpoint_id), secret

    async def test(self, endpoint_id: str, event_type: EventType) -> int:
        """Raises `InvalidRequest` without an answer, `WrongState` if secrets are lost."""
        async with self._database.tenant(self._tenant) as unit:
            endpoint = await unit.webhook_endpoints.get(endpoint_id)
            sealed = await unit.webhook_endpoints.secrets(endpoint_id)
        prefix = "evalrun_" if event_type.startswith("eval.") else "ftjob-"
        event = WebhookEvent(new_id("evt_"), event_type, f"{prefix}test", int(self._now()))
        credentials = self._opened(endpoint_id, sealed)
        url = credentials.whole_url(endpoint.url)
        if url is None:
            raise WrongState(
                "A part of this endpoint's URL cannot be decrypted any more: update the endpoint "
                "with its whole 'url'.",
                param="url",
            )
        outcome = await send_event(self._egress, url, event, credentials.signing)
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

    async def redeliver(self, endpoint_id: str, delivery_id: str) -> WebhookDelivery:
        """Sends an event again under its id, with all retries. Raises `WrongState` while it has not
        ended, and for an endpoint that answered 410.
        """
        async with self._database.tenant(self._tenant) as unit:
            endpoint, _ = await unit.webhook_endpoints.hold(endpoint_id)
            if endpoint.disabled_at is not None:
                raise WrongState(
                    "This endpoint answered 410 Gone and is sent nothing. Update it first, which "
                    "enables it.",
                    param="webhook_endpoint_id",
                )
            delivery = await unit.webhook_endpoints.redeliver(endpoint_id, delivery_id)
            unit.after_end(self._notify)
            return delivery

    def _opened(self, endpoint_id: str, sealed: bytes) -> EndpointCredentials:
        try:
            return self._secrets.open(endpoint_id, sealed)
        except SecretsUnreadable as error:
            raise WrongState(
                "The secrets of this endpoint cannot be read any more: delete it and create it "
                "again.",
                param="webhook_endpoint_id",
            ) from error

    async def _check_url(self, url: str) -> None:
        try:
            await self._egress.check_url(url)
        except EndpointRefused as error:
            raise InvalidRequest(
                f"url is not allowed: {error}", param="url", code="endpoint_not_allowed"
            ) from error
