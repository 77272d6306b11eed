import base64
import hashlib
import hmac
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Self

import pytest
from standardwebhooks import Webhook, WebhookVerificationError, webhooks
from typing_extensions import override

from app.kit.endpoints import CallSigner, cache_salt, signing_secret, traceparent
from tests.support.cases import cases

KEY = "service secret key of at least 32 bytes"
NOW = datetime.now(UTC)
BODY = '{"name":"é"}'.encode()
TRACE = "trace_01234567-89ab-cdef-0123-456789abcdef"


class _Stopped(datetime):
    """The receiver's clock: in a long run the module's own time is soon too old for a real one."""

    @classmethod
    @override
    def now(cls, tz: tzinfo | None = None) -> Self:
        return cls.fromtimestamp(NOW.timestamp(), tz)


@pytest.fixture(autouse=True)
def receivers_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhooks, "datetime", _Stopped)


def signed(**changes: str) -> dict[str, str]:
    signer = CallSigner(KEY, project_id="proj_a", now=lambda: NOW)
    return {**signer.headers("call_1", TRACE, body=BODY, attempt=1), **changes}


def independent(secret: str, headers: dict[str, str], body: bytes) -> bool:
    """Verification written from the specification alone."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    text = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = base64.b64encode(hmac.new(key, text, hashlib.sha256).digest()).decode()
    return f"v1,{expected}" in headers["webhook-signature"].split(" ")


def test_headers_of_an_attempt() -> None:
    headers = signed()
    assert headers["webhook-id"] == headers["Idempotency-Key"] == "call_1"
    assert headers["webhook-timestamp"] == str(int(NOW.timestamp()))
    assert (headers["X-Rollout-Id"], headers["X-Attempt"]) == (TRACE, "1")
    assert headers["traceparent"].startswith("00-0123456789abcdef0123456789abcdef-")
    secret = signing_secret(KEY, "proj_a")
    assert independent(secret, headers, BODY)
    assert not independent(secret, headers, BODY + b" ")
    assert not independent(signing_secret(KEY, "proj_b"), headers, BODY)


def test_ids_are_stable_over_retries_and_only_the_attempt_changes() -> None:
    times = iter([NOW, NOW + timedelta(seconds=5)])
    signer = CallSigner(KEY, project_id="proj_a", now=lambda: next(times))
    first = signer.headers("call_1", TRACE, body=BODY, attempt=1)
    second = signer.headers("call_1", TRACE, body=BODY, attempt=2)
    differing = {name for name in first if first[name] != second[name]}
    assert differing == {"webhook-timestamp", "webhook-signature", "X-Attempt", "traceparent"}
    assert first["traceparent"][:35] == second["traceparent"][:35]


def test_the_library_of_the_receiver_accepts_it() -> None:
    webhook = Webhook(signing_secret(KEY, "proj_a"))
    assert webhook.verify(BODY, signed()) == {"name": "é"}
    extra = signed()
    extra["webhook-signature"] = f"v1,{'A' * 44} {extra['webhook-signature']}"
    assert webhook.verify(BODY, extra) == {"name": "é"}


OLD = str(int((NOW - timedelta(minutes=6)).timestamp()))


@cases(
    "changes",
    [
        {"webhook-id": "call_2"},
        {"webhook-timestamp": str(int(NOW.timestamp()) + 1)},
        {"webhook-timestamp": OLD},
        {"webhook-signature": ""},
        {"webhook-signature": "v1," + base64.b64encode(b"0" * 32).decode()},
        {"webhook-signature": signed()["webhook-signature"].replace("v1,", "v2,")},
    ],
)
def test_anything_changed_is_refused(changes: dict[str, str]) -> None:
    webhook = Webhook(signing_secret(KEY, "proj_a"))
    with pytest.raises(WebhookVerificationError):
        webhook.verify(BODY, signed(**changes))


def test_secrets_are_per_project_and_per_service() -> None:
    secrets = {signing_secret(k, p) for k in (KEY, KEY + "x") for p in ("proj_a", "proj_b")}
    assert len(secrets) == 4
    assert all(len(base64.b64decode(s.removeprefix("whsec_"))) == 32 for s in secrets)
    assert signing_secret(KEY, "proj_a") == signing_secret(KEY, "proj_a")


def test_a_trace_id_of_another_form_still_makes_a_valid_traceparent() -> None:
    version, trace, span, flags = traceparent("trace_odd", "call_1", attempt=1).split("-")
    assert (version, len(trace), len(span), flags) == ("00", 32, 16, "01")
    assert trace == hashlib.sha256(b"trace_odd").hexdigest()[:32]


def test_a_projects_cache_salt_is_its_own_and_no_secret_of_another_use() -> None:
    salt = cache_salt(KEY, "proj_a")
    assert salt == cache_salt(KEY, "proj_a")
    assert salt not in {cache_salt(KEY, "proj_b"), cache_salt(KEY + "2", "proj_a")}
    assert base64.b64encode(bytes.fromhex(salt)).decode() not in signing_secret(KEY, "proj_a")
