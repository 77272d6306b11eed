"""Attempts to deliver one event: Standard Webhooks 1.0 through the guarded egress."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from standardwebhooks import Webhook

from app.kit.egress import Egress, EgressFailure, EgressRequest
from app.kit.sealing import SecretBox
from app.webhooks.events import (
    SEND_TIMEOUT_S,
    AttemptOutcome,
    DeliveryError,
    EndpointCredentials,
    SigningSecret,
    WebhookEvent,
    event_body,
    signing,
)

USER_AGENT: Final = "agent-rft/1 (webhooks)"


async def send_event(
    egress: Egress, url: str, event: WebhookEvent, secrets: Sequence[SigningSecret]
) -> AttemptOutcome:
    """Sends the event once. Never raises for a fault of the receiver."""
    body = event_body(event)
    headers = signed_headers(event.id, body, secrets, now=datetime.now(UTC))
    try:
        reply = await egress.send(
            EgressRequest(url, headers, body, timeout_s=SEND_TIMEOUT_S, reads_body=False)
        )
    except EgressFailure as failure:
        return AttemptOutcome(error=DeliveryError(failure.kind.value))
    return AttemptOutcome(reply.status, retry_after=reply.headers.get("retry-after"))


def signed_headers(
    event_id: str, body: bytes, secrets: Sequence[SigningSecret], *, now: datetime
) -> dict[str, str]:
    text = body.decode()
    signatures = [
        Webhook(secret.text).sign(event_id, now, text)
        for secret in signing(secrets, now=now.timestamp())
    ]
    return {
        "webhook-id": event_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": " ".join(signatures),
        "User-Agent": USER_AGENT,
    }


class EndpointSecrets:
    def __init__(self, box: SecretBox, project_id: str) -> None:
        self._box = box
        self._project_id = project_id

    def seal(self, endpoint_id: str, credentials: EndpointCredentials) -> bytes:
        plain = credentials.to_json()
        return self._box.seal(plain, project_id=self._project_id, row_id=endpoint_id)

    def open(self, endpoint_id: str, sealed: bytes) -> EndpointCredentials:
        plain = self._box.open(sealed, project_id=self._project_id, row_id=endpoint_id)
        return EndpointCredentials.from_json(plain)
