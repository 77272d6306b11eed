"""Events the service sends to webhook endpoints. Source: the hosted API's `Webhook*` schemas."""

from typing import Final, Literal

from app.domain.documents.described import DescribedModel
from app.domain.events.webhooks import EventType


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
