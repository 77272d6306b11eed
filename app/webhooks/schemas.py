"""Webhook endpoints, deliveries, events and the signing secret on the wire."""

from typing import Annotated, Final, Literal, Self

from pydantic import Field, StringConstraints

from app.kit.fields import DescribedModel
from app.kit.schemas import ClosedBody
from app.webhooks.events import (
    DeliveryError,
    DeliveryStatus,
    EventType,
    WebhookDelivery,
    WebhookEndpoint,
)
from app.webhooks.events import SigningSecret as SigningSecretEndpoints


class SigningSecret(DescribedModel):
    """The secret that signs calls of tools and graders."""

    object: Literal["signing_secret"] = "signing_secret"
    secret: str
    """`whsec_…`, in the form that Standard Webhooks libraries read."""


Name = Annotated[str, StringConstraints(min_length=1, max_length=256)]
Url = Annotated[str, StringConstraints(min_length=1, max_length=2048)]
EventTypes = Annotated[list[EventType], Field(min_length=1, max_length=64)]


class CreateWebhookEndpoint(ClosedBody):
    """A new webhook endpoint."""

    name: Name
    url: Url
    """Address that events are sent to."""
    event_types: EventTypes
    """Events that are sent to it."""


class UpdateWebhookEndpoint(ClosedBody):
    """Changes of a webhook endpoint; absent fields do not change."""

    name: Name | None = None
    url: Url | None = None
    """Address that events are sent to."""
    event_types: EventTypes | None = None
    """Events that are sent to it."""


class RotateWebhookSecret(ClosedBody):
    """Options of a new signing secret."""

    keep_old_secret_active_for_24_hours: bool = False
    """True signs with both secrets for a day."""


class TestWebhookEndpoint(ClosedBody):
    """The event that a test sends to an endpoint."""

    event_type: EventType
    """Type of the sample event."""


class WebhookEndpointObject(DescribedModel):
    """An address that events are sent to, without its signing secret."""

    id: str
    object: Literal["webhook_endpoint"] = "webhook_endpoint"
    created_at: int
    updated_at: int
    """Time of the last change of configuration or secret."""
    name: str
    url: str
    """Address that events are sent to, with query values redacted."""
    event_types: list[str]
    """Events that are sent to it."""
    signing_secret_hint: str
    """The secret's last characters, by which an owner recognises it."""
    disabled_at: int | None
    """Time of the 410 reply that disabled the endpoint; any update enables it again."""
    last_failed_at: int | None
    """Time of the last delivery that failed after all attempts, unless one succeeded since."""

    @classmethod
    def of(cls, row: WebhookEndpoint) -> Self:
        return cls.read(row, signing_secret_hint=row.secret_hint)


class WebhookEndpointWithSecret(WebhookEndpointObject):
    """A webhook endpoint with its signing secret, which no other reply contains."""

    signing_secret: str = Field(repr=False)
    """The signing secret; no later reply contains it."""

    @classmethod
    def showing(cls, row: WebhookEndpoint, secret: SigningSecretEndpoints) -> Self:
        return cls.read(row, signing_secret_hint=row.secret_hint, signing_secret=secret.text)


class WebhookEndpointDeleted(DescribedModel):
    """The confirmation that a webhook endpoint is deleted."""

    id: str
    object: Literal["webhook_endpoint.deleted"] = "webhook_endpoint.deleted"
    deleted: Literal[True] = True


class WebhookEndpointTestResult(DescribedModel):
    """The outcome of a test event."""

    object: Literal["webhook_endpoint.test"] = "webhook_endpoint.test"
    webhook_endpoint_id: str
    """Id of the endpoint."""
    event_type: str
    """Type of the event that was sent."""
    success: Literal[True] = True
    """True when the endpoint answered; its status shows if it accepted the event."""
    status_code: int
    """Status of the endpoint's reply."""


class WebhookEventTypeList(DescribedModel):
    """The types of events that an endpoint can receive."""

    object: Literal["list"] = "list"
    data: list[str]
    """Names of the event types."""


class WebhookDeliveryObject(DescribedModel):
    """Delivery of one event to one endpoint, over all its attempts."""

    id: str
    object: Literal["webhook_endpoint.delivery"] = "webhook_endpoint.delivery"
    event_id: str
    """Id sent as `webhook-id` with every attempt."""
    event_type: str
    """Type of the event."""
    status: DeliveryStatus
    """State of the delivery."""
    attempts: int
    """Attempts so far."""
    last_status_code: int | None
    """Status of the endpoint's last reply."""
    last_error: DeliveryError | None
    """Reason why the last attempt got no status, or was not made."""
    next_attempt_at: int | None
    """Unix seconds of the next attempt; `null` when there is none."""
    created_at: int
    finished_at: int | None
    """Unix seconds of the last attempt."""

    @classmethod
    def of(cls, row: WebhookDelivery) -> Self:
        return cls.read(row)


class EventSubject(DescribedModel):
    """The object that a webhook event is about."""

    id: str
    """Id of the job or the eval run."""


class WebhookEvent(DescribedModel):
    """An event, signed by Standard Webhooks; `id` is the same at every attempt to deliver it."""

    id: str
    """Id of the event, the same in every attempt."""
    object: Literal["event"] = "event"
    created_at: int
    data: EventSubject
    """The job or eval run that ended."""


class FineTuningJobSucceededWebhookEvent(WebhookEvent):
    """Event: a fine-tuning job published its model."""

    type: Literal["fine_tuning.job.succeeded"]


class FineTuningJobFailedWebhookEvent(WebhookEvent):
    """Event: a fine-tuning job failed."""

    type: Literal["fine_tuning.job.failed"]


class FineTuningJobCancelledWebhookEvent(WebhookEvent):
    """Event: a fine-tuning job was cancelled."""

    type: Literal["fine_tuning.job.cancelled"]


class EvalRunSucceededWebhookEvent(WebhookEvent):
    """Event: an eval run was completed."""

    type: Literal["eval.run.succeeded"]


class EvalRunFailedWebhookEvent(WebhookEvent):
    """Event: an eval run failed."""

    type: Literal["eval.run.failed"]


class EvalRunCanceledWebhookEvent(WebhookEvent):
    """Event: an eval run was canceled."""

    type: Literal["eval.run.canceled"]


SENT: Final[dict[EventType, type[WebhookEvent]]] = {
    "fine_tuning.job.succeeded": FineTuningJobSucceededWebhookEvent,
    "fine_tuning.job.failed": FineTuningJobFailedWebhookEvent,
    "fine_tuning.job.cancelled": FineTuningJobCancelledWebhookEvent,
    "eval.run.succeeded": EvalRunSucceededWebhookEvent,
    "eval.run.failed": EvalRunFailedWebhookEvent,
    "eval.run.canceled": EvalRunCanceledWebhookEvent,
}
