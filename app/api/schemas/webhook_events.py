"""Events the service sends to webhook endpoints. Source: the hosted API's `Webhook*` schemas."""

from typing import Literal

from pydantic import BaseModel

EventType = Literal[
    "fine_tuning.job.succeeded",
    "fine_tuning.job.failed",
    "fine_tuning.job.cancelled",
    "eval.run.succeeded",
    "eval.run.failed",
    "eval.run.canceled",
]


class EventSubject(BaseModel):
    id: str
    """Of the job or the run."""


class WebhookEvent(BaseModel):
    """Signed after Standard Webhooks; `id` is the same at every attempt to deliver it."""

    id: str
    object: Literal["event"] = "event"
    created_at: int
    type: str
    data: EventSubject
