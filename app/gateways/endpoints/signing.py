"""Signs the service's calls to customers' tools and graders: Standard Webhooks 1.0.

Owns the signing secret of a project (derived, never stored) and the headers of one attempt.
Promises: `webhook-id` and `Idempotency-Key` are the same over all retries of one call; timestamp,
`X-Attempt` and signature differ per attempt. Must not know URLs or the content of a body.
"""

import base64
import hashlib
import hmac
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from standardwebhooks import Webhook

from app.telemetry.spans import SPANS
from app.telemetry.trace_ids import span_of, trace_of

_SECRET_BYTES: Final = 32
_CODE_LENGTH: Final = 10
"""Hexadecimal digits of a code: 40 bits, which no text contains by chance."""


def signing_secret(secret_key: str, project_id: str) -> str:
    """Derives the project's `whsec_…`, with which its owner verifies the service's calls.

    HKDF-SHA256 (RFC 5869) of the service's secret key with the project id as info.
    """
    derived = _derived(secret_key, "outbound-signing", project_id)
    return "whsec_" + base64.b64encode(derived).decode()


def cache_salt(secret_key: str, project_id: str) -> str:
    """Derives the salt that separates a project's prompts in an engine's cache, with the method of
    `signing_secret`, so that other projects cannot compute it.
    """
    return _derived(secret_key, "engine-cache", project_id).hex()


def _derived(secret_key: str, purpose: str, project_id: str) -> bytes:
    """Derives the key of one purpose and project. HKDF-SHA256 (RFC 5869)."""
    info = f"agent-rft/{purpose}/v1/{project_id}".encode()
    return HKDF(SHA256(), _SECRET_BYTES, salt=None, info=info).derive(secret_key.encode())


class CallSigner:
    """Signs every outbound call of one project."""

    def __init__(
        self,
        secret_key: str,
        *older_keys: str,
        project_id: str,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """A call has one signature for each key, so that its receiver can verify it with the old or
        the new secret after a change of the service's key.
        """
        secrets = [signing_secret(key, project_id) for key in (secret_key, *older_keys)]
        self._webhooks = [Webhook(secret) for secret in secrets]
        self._code_key = _derived(secret_key, "judge-codes", project_id)
        self._now = now

    def code(self, call_id: str) -> str:
        """Returns ten characters that only the service can derive from the id of a call."""
        return hmac.new(self._code_key, call_id.encode(), hashlib.sha256).hexdigest()[:_CODE_LENGTH]

    def headers(self, call_id: str, trace_id: str, *, body: bytes, attempt: int) -> dict[str, str]:
        """Returns the headers of one attempt (from 1). `body`, UTF-8, must be sent unchanged."""
        now, text = self._now(), body.decode()
        signatures = [webhook.sign(call_id, now, text) for webhook in self._webhooks]
        return {
            "webhook-id": call_id,
            "webhook-timestamp": str(int(now.timestamp())),
            "webhook-signature": " ".join(signatures),
            "Idempotency-Key": call_id,
            "X-Rollout-Id": trace_id,
            "X-Attempt": str(attempt),
            "traceparent": traceparent(trace_id, call_id, attempt=attempt),
        }


def traceparent(trace_id: str, call_id: str, *, attempt: int) -> str:
    """Returns the W3C Trace Context header: a rollout is a trace, each attempt a separate span, the
    one that `app.telemetry` records of it.
    """
    trace = trace_of(trace_id)
    flags = "01" if SPANS.samples(trace) else "00"
    return f"00-{trace}-{span_of(call_id, attempt)}-{flags}"
