"""The common parts of contract tests: checks, deadline and record of requests."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from standardwebhooks import Webhook, WebhookVerificationError

from app.kit.egress import Egress, EgressFailure, EgressReply, EgressRequest, FailureKind
from app.kit.endpoints import signing_secret

CheckStatus = Literal["passed", "failed", "warned", "skipped"]

MAX_REQUESTS: Final = 200
MAX_RATE: Final = 50.0
MAX_TEST_S: Final = 60.0
MAX_PACED_S: Final = 40.0
"""Seconds of the test for the measured calls; the remaining time is for the checks before them."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """A failure means lost rollouts; a warning, that less would be learned from them."""

    name: str
    status: CheckStatus
    detail: str
    data: dict[str, Any] = field(default_factory=dict)


def passed(checks: Sequence[CheckResult]) -> bool:
    return all(check.status != "failed" for check in checks)


CALL_TIMEOUT_S: Final = 10.0
"""Timeout of one call; training waits longer, but a test must end."""
TIME_OVER: Final = "The time of the test was over."
_SHOWN: Final = 2_000
_HEADERS: Final = ("webhook-id", "webhook-timestamp", "webhook-signature", "Idempotency-Key")


class Deadline:
    def __init__(
        self, within_s: float = MAX_TEST_S, *, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._now = now
        self._ends_at = now() + within_s

    @property
    def remaining_s(self) -> float:
        return max(0.0, self._ends_at - self._now())


@dataclass(frozen=True, slots=True)
class Exchange:
    """Record of one HTTP request, without bodies, which could be 2 MB for each of 200 calls."""

    signed: bool
    """True if the signature verifies with the customer's method."""
    reply_bytes: int | None
    failure: FailureKind | None


@dataclass(slots=True)
class RecordingEgress:
    """Passes calls on and records the parts of requests and replies that the checks need."""

    inner: Egress
    verifier: Webhook
    exchanges: list[Exchange] = field(default_factory=list)
    last_reply: EgressReply | None = None

    async def check_url(self, url: str) -> None:
        await self.inner.check_url(url)

    async def send(self, request: EgressRequest) -> EgressReply:
        signed = self._is_signed(request.headers, request.body)
        try:
            reply = await self.inner.send(request)
        except EgressFailure as failure:
            self.exchanges.append(Exchange(signed, None, failure.kind))
            raise
        self.exchanges.append(Exchange(signed, len(reply.body), None))
        self.last_reply = reply
        return reply

    def _is_signed(self, headers: Mapping[str, str], body: bytes) -> bool:
        try:
            self.verifier.verify(body, dict(headers))
        except WebhookVerificationError:
            return False
        return True

    async def aclose(self) -> None:
        await self.inner.aclose()


def recording_egress(egress: Egress, secret_key: str, project_id: str) -> RecordingEgress:
    return RecordingEgress(egress, Webhook(signing_secret(secret_key, project_id)))


def signature_check(exchanges: Sequence[Exchange]) -> CheckResult:
    if not exchanges:
        return CheckResult("signature", "skipped", "Nothing was sent.")
    if not all(exchange.signed for exchange in exchanges):
        return CheckResult("signature", "failed", "A request's signature does not verify.")
    data = {"headers": list(_HEADERS), "requests": len(exchanges)}
    text = "Every request was signed; GET /v1/signing_secret has the secret to verify with."
    return CheckResult("signature", "passed", text, data)


def report_text(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
