"""Webhooks: types of events, endpoints, signing secrets, and the schedule of retries. Pure.

Source: Standard Webhooks 1.0 (schedule, secrets, rotation) and the hosted API's `Webhook*` schemas.
"""

import base64
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Any, Final, Literal, Self, get_args

from app.jobs.jobs import JobStatus
from app.kit.http import is_success
from app.kit.redaction import url_has_placeholder

EventType = Literal[
    "fine_tuning.job.succeeded",
    "fine_tuning.job.failed",
    "fine_tuning.job.cancelled",
    "eval.run.succeeded",
    "eval.run.failed",
    "eval.run.canceled",
]
EVENT_TYPES: Final[tuple[EventType, ...]] = get_args(EventType)

MAX_ENDPOINTS: Final = 20
OVERLAP_S: Final = 24 * 3600
"""Longest time for which a rotated secret continues to sign."""
MAX_SECRETS: Final = 10
"""Limit for secrets that sign at once: a header with all of them stays below 1 KB."""
SEND_TIMEOUT_S: Final = 10.0
RETRY_DELAYS_S: Final = (5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400)
"""Delays before the second to the tenth attempt; the example schedule of Standard Webhooks 1.0,
section "Deliverability and reliability": 75.6 h in all.
"""
JITTER: Final = 0.2
KEEP_S: Final = 30 * 24 * 3600.0

_SECRET_PREFIX: Final = "whsec_"  # noqa: S105 - the public prefix
# Within the 24 to 64 bytes of Standard Webhooks, and a multiple of three: base64 without padding.
_SECRET_BYTES: Final = 33
_HINT_CHARACTERS: Final = 4
_GONE: Final = 410


class DeliveryStatus(StrEnum):
    """State of a delivery: pending, accepted by the endpoint, or failed after all attempts."""

    PENDING = "pending"
    DELIVERED = "delivered"
    FAILED = "failed"


class DeliveryError(StrEnum):
    """Reason why an attempt got no status, or was not made."""

    UNREACHABLE = "unreachable"
    """No connection, or it broke before the reply was complete."""
    TIMEOUT = "timeout"
    TOO_LARGE = "too_large"
    """The reply is larger than the service reads."""
    REFUSED = "refused"
    """The service may not call the address."""
    BAD_ENCODING = "bad_encoding"
    """The reply is compressed or not HTTP."""
    SECRET_UNREADABLE = "secret_unreadable"  # noqa: S105 - the name of a fault
    """The secret key that sealed the endpoint's signing secrets is gone."""
    URL_LOST = "url_lost"
    """A part of the endpoint's URL was redacted without the secret key. Set the URL again."""
    ENDPOINT_DISABLED = "endpoint_disabled"
    """The endpoint answered 410 Gone to another delivery."""
    INTERNAL_ERROR = "internal_error"
    """A fault of the service, which its log describes."""


@dataclass(frozen=True, slots=True)
class SigningSecret:
    text: str = field(repr=False)
    until: int | None = None
    """Unix seconds at which it stops signing; `None` for the current one."""


@dataclass(frozen=True, slots=True)
class EndpointCredentials:
    """The sealed part of an endpoint."""

    signing: tuple[SigningSecret, ...]
    url: str | None = field(default=None, repr=False)
    """The whole URL. `None` in rows of earlier versions, which store the whole URL unsealed."""

    def whole_url(self, shown: str) -> str | None:
        if self.url is not None:
            return self.url
        return None if url_has_placeholder(shown) else shown

    def to_json(self) -> dict[str, Any]:
        stored: dict[str, Any] = {
            "secrets": [[secret.text, secret.until] for secret in self.signing]
        }
        return stored if self.url is None else {**stored, "url": self.url}

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Self:
        signing = tuple(SigningSecret(text, until) for text, until in stored["secrets"])
        return cls(signing, stored.get("url"))


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookEndpoint:
    id: str
    name: str
    url: str
    """The shown form: query values, fragment and user information read `[redacted]`."""
    event_types: list[str]
    secret_hint: str
    created_at: int = 0
    updated_at: int = 0
    disabled_at: int | None = None
    """Time of a 410 reply, after which nothing is sent to it."""
    last_failed_at: int | None = None
    """Time of the last delivery that failed for good, unless one succeeded since."""


@dataclass(frozen=True, slots=True)
class WebhookEvent:
    id: str
    type: str
    subject: str
    """Id of the job or the run."""
    created_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookDelivery:
    id: str
    event_id: str
    event_type: str
    status: DeliveryStatus
    attempts: int
    last_status_code: int | None
    last_error: DeliveryError | None
    next_attempt_at: int | None
    created_at: int
    finished_at: int | None


@dataclass(frozen=True, slots=True)
class AttemptOutcome:
    status_code: int | None = None
    error: DeliveryError | None = None
    retry_after: str | None = None

    @property
    def delivered(self) -> bool:
        return self.status_code is not None and is_success(self.status_code)

    @property
    def gone(self) -> bool:
        return self.status_code == _GONE


def event_body(event: WebhookEvent) -> bytes:
    body: dict[str, Any] = {
        "id": event.id,
        "object": "event",
        "created_at": event.created_at,
        "type": event.type,
        "data": {"id": event.subject},
    }
    return json.dumps(body, separators=(",", ":")).encode()


_OF_STATUS: Final[dict[JobStatus, EventType]] = {
    JobStatus.SUCCEEDED: "fine_tuning.job.succeeded",
    JobStatus.FAILED: "fine_tuning.job.failed",
    JobStatus.CANCELLED: "fine_tuning.job.cancelled",
}


def job_event(status: JobStatus) -> EventType | None:
    return _OF_STATUS.get(status)


def new_secret() -> SigningSecret:
    text = base64.b64encode(os.urandom(_SECRET_BYTES)).decode()
    return SigningSecret(f"{_SECRET_PREFIX}{text}")


def secret_hint(secret: SigningSecret) -> str:
    return f"{_SECRET_PREFIX}***{secret.text[-_HINT_CHARACTERS:]}"


def signing(secrets: Sequence[SigningSecret], *, now: float) -> list[SigningSecret]:
    return [secret for secret in secrets if secret.until is None or secret.until > now]


def rotated_secrets(
    secrets: Sequence[SigningSecret], fresh: SigningSecret, *, now: float, keep_old: bool
) -> tuple[SigningSecret, ...]:
    """Returns `fresh` first; the old ones end at once, or a day from now at the latest."""
    if not keep_old:
        return (fresh,)
    until = int(now) + OVERLAP_S
    older = [
        SigningSecret(secret.text, until if secret.until is None else secret.until)
        for secret in signing(secrets, now=now)
    ]
    return (fresh, *older)[:MAX_SECRETS]


def retry_delay_s(
    attempts: int, *, chance: float, retry_after: str | None = None, now: float = 0.0
) -> float | None:
    """Returns the seconds until the next attempt after `attempts` failed ones, or `None`.

    `chance` in 0..1 spreads it by a fifth either way. A receiver may ask for more time, up to twice
    the schedule's.
    """
    if attempts > len(RETRY_DELAYS_S):
        return None
    base = RETRY_DELAYS_S[attempts - 1]
    requested_s = _seconds(retry_after, now)
    delay = base if requested_s is None else min(max(requested_s, base), 2 * base)
    return delay * (1 + JITTER * (2 * chance - 1))


def _seconds(retry_after: str | None, now: float) -> float | None:
    if retry_after is None:
        return None
    if retry_after.isascii() and retry_after.isdigit():
        return float(retry_after[:9])
    try:
        return parsedate_to_datetime(retry_after).timestamp() - now
    except (ValueError, OverflowError):
        return None
