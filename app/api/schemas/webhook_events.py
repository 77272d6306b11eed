"""Events the service sends to webhook endpoints. Source: the hosted API's `Webhook*` schemas."""

from typing import Final, Literal

from pydantic import BaseModel

from app.domain.events.webhooks import EventType


class EventSubject(BaseModel):
    id: str
    """Id of the job or the eval run."""


class WebhookEvent(BaseModel):
    """An event, signed by Standard Webhooks; `id` is the same at every attempt to deliver it."""

    id: str
    object: Literal["event"] = "event"
    created_at: int
    data: EventSubject


class FineTuningJobSucceededWebhookEvent(WebhookEvent):
    type: Literal["fine_tuning.job.succeeded"]


class FineTuningJobFailedWebhookEvent(WebhookEvent):
    type: Literal["fine_tuning.job.failed"]


class FineTuningJobCancelledWebhookEvent(WebhookEvent):
    type: Literal["fine_tuning.job.cancelled"]


class EvalRunSucceededWebhookEvent(WebhookEvent):
    type: Literal["eval.run.succeeded"]


class EvalRunFailedWebhookEvent(WebhookEvent):
    type: Literal["eval.run.failed"]


class EvalRunCanceledWebhookEvent(WebhookEvent):
    type: Literal["eval.run.canceled"]


SENT: Final[dict[EventType, type[WebhookEvent]]] = {
    "fine_tuning.job.succeeded": FineTuningJobSucceededWebhookEvent,
    "fine_tuning.job.failed": FineTuningJobFailedWebhookEvent,
    "fine_tuning.job.cancelled": FineTuningJobCancelledWebhookEvent,
    "eval.run.succeeded": EvalRunSucceededWebhookEvent,
    "eval.run.failed": EvalRunFailedWebhookEvent,
    "eval.run.canceled": EvalRunCanceledWebhookEvent,
}
