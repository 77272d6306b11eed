"""Builds the services of webhook endpoints and of signed calls."""

from app.factory.tenant import TenantServices
from app.services.webhooks.signing import SigningService
from app.services.webhooks.webhook_endpoints import WebhookEndpointService


class WebhookServices(TenantServices):
    def signing(self) -> SigningService:
        secret_key = self._context.settings.secret_key.get_secret_value()
        return SigningService(secret_key=secret_key, tenant=self._tenant)

    def webhook_endpoints(self) -> WebhookEndpointService:
        context = self._context
        return WebhookEndpointService(
            context.database,
            self._egress(),
            context.secret_box,
            self._tenant,
            notify=context.queue.enqueue_deliveries,
        )
