"""When a delivery is tried again, and which secrets sign."""

import base64

import pytest

from app.webhooks.events import (
    MAX_SECRETS,
    OVERLAP_S,
    AttemptOutcome,
    DeliveryError,
    EndpointCredentials,
    SigningSecret,
    new_secret,
    retry_delay_s,
    rotated_secrets,
    secret_hint,
    signing,
)
from tests.support.cases import cases

NOW = 1_700_000_000.0


def test_the_schedule_is_the_standards() -> None:
    waits = [retry_delay_s(attempts, chance=0.5) for attempts in range(1, 11)]
    minutes, hours = 60, 3600
    assert waits == [
        5,
        5 * minutes,
        30 * minutes,
        2 * hours,
        5 * hours,
        10 * hours,
        14 * hours,
        20 * hours,
        24 * hours,
        None,
    ]


@cases(("chance", "wait"), [(0.0, 240), (0.5, 300), (1.0, 360)])
def test_the_jitter_is_a_fifth_either_way(chance: float, wait: float) -> None:
    assert retry_delay_s(2, chance=chance) == pytest.approx(wait)


@cases(
    ("asked", "wait"),
    [
        (None, 300),
        ("10", 300),
        ("450", 450),
        ("999999999999999999999", 600),
        ("Tue, 14 Nov 2023 22:21:40 GMT", 500),
        ("Mon, 13 Nov 2023 22:13:20 GMT", 300),
        ("soon", 300),
        ("٣", 300),
    ],
)
def test_a_receiver_may_request_up_to_twice_the_time(asked: str | None, wait: float) -> None:
    found = retry_delay_s(2, chance=0.5, retry_after=asked, now=NOW)
    assert found == pytest.approx(wait)


def test_secrets_are_of_the_standards_form_and_never_shown() -> None:
    secret, other = new_secret(), new_secret()
    assert 24 <= len(base64.b64decode(secret.text.removeprefix("whsec_"))) <= 64
    assert secret.text != other.text
    assert secret.text not in repr(secret)
    assert secret_hint(secret) == f"whsec_***{secret.text[-4:]}"


def test_old_secrets_sign_for_a_day_and_no_longer() -> None:
    first, second, third = (SigningSecret(f"whsec_{name}") for name in "abc")
    assert rotated_secrets([first], second, now=NOW, keep_old=False) == (second,)
    once = rotated_secrets([first], second, now=NOW, keep_old=True)
    assert once == (second, SigningSecret(first.text, int(NOW) + OVERLAP_S))
    later = NOW + OVERLAP_S - 1
    twice = rotated_secrets(once, third, now=later, keep_old=True)
    assert [secret.text for secret in signing(twice, now=later)] == [
        third.text,
        second.text,
        first.text,
    ]
    assert [secret.text for secret in signing(twice, now=later + 1)] == [third.text, second.text]
    assert signing(twice, now=later + OVERLAP_S) == [third]
    credentials = EndpointCredentials(twice, "https://r.example/?token=t")
    assert EndpointCredentials.from_json(credentials.to_json()) == credentials


@cases(
    ("sealed", "shown", "whole"),
    [
        ("https://r.example/?t=1", "https://r.example/?t=[redacted]", "https://r.example/?t=1"),
        (None, "https://r.example/hook", "https://r.example/hook"),
        (None, "https://r.example/?t=1", "https://r.example/?t=1"),
        (None, "https://r.example/?t=[redacted]", None),
    ],
)
def test_a_url_that_was_redacted_without_its_envelope_is_lost(
    sealed: str | None, shown: str, whole: str | None
) -> None:
    earlier = EndpointCredentials.from_json({"secrets": [["whsec_a", None]]})
    assert EndpointCredentials(earlier.signing, sealed).whole_url(shown) == whole


def test_the_header_does_not_grow_without_end() -> None:
    secrets: tuple[SigningSecret, ...] = (new_secret(),)
    for _ in range(50):
        secrets = rotated_secrets(secrets, new_secret(), now=NOW, keep_old=True)
    assert len(secrets) == MAX_SECRETS


@cases(
    ("outcome", "delivered", "gone"),
    [
        (AttemptOutcome(200), True, False),
        (AttemptOutcome(299), True, False),
        (AttemptOutcome(300), False, False),
        (AttemptOutcome(410), False, True),
        (AttemptOutcome(error=DeliveryError.TIMEOUT), False, False),
    ],
)
def test_two_hundreds_are_deliveries(outcome: AttemptOutcome, delivered: bool, gone: bool) -> None:
    assert (outcome.delivered, outcome.gone) == (delivered, gone)
