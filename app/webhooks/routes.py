"""Routes of webhook endpoints and of their deliveries."""

from fastapi import APIRouter

from app.http.dependencies import After, CurrentTenant, Limit, Services
from app.http.error_replies import responses
from app.kit.schemas import Page, object_page
from app.webhooks.events import EVENT_TYPES
from app.webhooks.schemas import (
    CreateWebhookEndpoint,
    RotateWebhookSecret,
    SigningSecret,
    TestWebhookEndpoint,
    UpdateWebhookEndpoint,
    WebhookDeliveryObject,
    WebhookEndpointDeleted,
    WebhookEndpointObject,
    WebhookEndpointTestResult,
    WebhookEndpointWithSecret,
    WebhookEventTypeList,
)

router = APIRouter(prefix="/v1", tags=["Webhooks"])
_PATH = "/webhook_endpoints/{webhook_endpoint_id}"


@router.post("/webhook_endpoints", operation_id="createWebhookEndpoint", responses=responses())
async def create_endpoint(
    body: CreateWebhookEndpoint, services: Services
) -> WebhookEndpointWithSecret:
    """Subscribes an address to events. The reply alone shows the secret that signs them."""
    endpoint, secret = await services.webhook_endpoints().create(
        name=body.name, url=body.url, event_types=body.event_types
    )
    return WebhookEndpointWithSecret.showing(endpoint, secret)


@router.get("/webhook_endpoints", operation_id="listWebhookEndpoints", responses=responses())
async def list_endpoints(
    services: Services, after: After = None, limit: Limit = 20
) -> Page[WebhookEndpointObject]:
    """Lists webhook endpoints, newest first."""
    rows, has_more = await services.webhook_endpoints().page(after=after, limit=limit)
    return object_page([WebhookEndpointObject.of(row) for row in rows], has_more=has_more)


@router.get(_PATH, operation_id="retrieveWebhookEndpoint", responses=responses(404))
async def get_endpoint(webhook_endpoint_id: str, services: Services) -> WebhookEndpointObject:
    """Returns a webhook endpoint."""
    return WebhookEndpointObject.of(await services.webhook_endpoints().get(webhook_endpoint_id))


@router.post(_PATH, operation_id="updateWebhookEndpoint", responses=responses(404))
async def update_endpoint(
    webhook_endpoint_id: str, body: UpdateWebhookEndpoint, services: Services
) -> WebhookEndpointObject:
    """Changes an endpoint, and enables it again if it was disabled."""
    endpoint = await services.webhook_endpoints().update(
        webhook_endpoint_id, name=body.name, url=body.url, event_types=body.event_types
    )
    return WebhookEndpointObject.of(endpoint)


@router.delete(_PATH, operation_id="deleteWebhookEndpoint", responses=responses(404))
async def delete_endpoint(webhook_endpoint_id: str, services: Services) -> WebhookEndpointDeleted:
    """Deletes an endpoint; no further event is sent to it."""
    await services.webhook_endpoints().delete(webhook_endpoint_id)
    return WebhookEndpointDeleted(id=webhook_endpoint_id)


@router.post(
    f"{_PATH}/rotate_secret", operation_id="rotateWebhookEndpointSecret", responses=responses(404)
)
async def rotate_secret(
    webhook_endpoint_id: str, body: RotateWebhookSecret, services: Services
) -> WebhookEndpointWithSecret:
    """Makes a new signing secret. The reply alone shows it."""
    endpoint, secret = await services.webhook_endpoints().rotate(
        webhook_endpoint_id, keep_old=body.keep_old_secret_active_for_24_hours
    )
    return WebhookEndpointWithSecret.showing(endpoint, secret)


@router.post(f"{_PATH}/test", operation_id="testWebhookEndpoint", responses=responses(404))
async def test_endpoint(
    webhook_endpoint_id: str, body: TestWebhookEndpoint, services: Services
) -> WebhookEndpointTestResult:
    """Sends a sample event at once, without retries."""
    status_code = await services.webhook_endpoints().test(webhook_endpoint_id, body.event_type)
    return WebhookEndpointTestResult(
        webhook_endpoint_id=webhook_endpoint_id, event_type=body.event_type, status_code=status_code
    )


@router.get(f"{_PATH}/deliveries", operation_id="listWebhookDeliveries", responses=responses(404))
async def list_deliveries(
    webhook_endpoint_id: str, services: Services, after: After = None, limit: Limit = 20
) -> Page[WebhookDeliveryObject]:
    """Lists the deliveries of the last 30 days, newest first (an extension of the hosted API)."""
    rows, has_more = await services.webhook_endpoints().deliveries(
        webhook_endpoint_id, after=after, limit=limit
    )
    return object_page([WebhookDeliveryObject.of(row) for row in rows], has_more=has_more)


@router.post(
    f"{_PATH}/deliveries/{{delivery_id}}/redeliver",
    operation_id="redeliverWebhookEvent",
    responses=responses(404),
)
async def redeliver(
    webhook_endpoint_id: str, delivery_id: str, services: Services
) -> WebhookDeliveryObject:
    """Sends the event of an ended delivery again, with its id and all retries (an extension)."""
    row = await services.webhook_endpoints().redeliver(webhook_endpoint_id, delivery_id)
    return WebhookDeliveryObject.of(row)


@router.get("/webhook_event_types", operation_id="listWebhookEventTypes", responses=responses())
async def list_event_types(_: CurrentTenant) -> WebhookEventTypeList:
    """Lists the events that can be subscribed to."""
    return WebhookEventTypeList(data=list(EVENT_TYPES))


signing_router = APIRouter(prefix="/v1/signing_secret", tags=["Signing"])


@signing_router.get("", operation_id="retrieveSigningSecret", responses=responses())
async def get_signing_secret(services: Services) -> SigningSecret:
    """Returns the project's secret, which signs the calls of tools and graders."""
    return SigningSecret(secret=services.signing().secret())
