"""Looks at the deliveries of an endpoint."""

from app.webhooks.events import WebhookDelivery
from tests.support.webhooks.scene import Scene


async def only(scene: Scene, endpoint_id: str) -> WebhookDelivery:
    [delivery] = await scene.deliveries(endpoint_id)
    return delivery
