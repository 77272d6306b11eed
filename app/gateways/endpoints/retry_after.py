"""Reads the header Retry-After of a reply."""

import email.utils
from datetime import UTC, datetime


def retry_after(value: str | None) -> float:
    """Returns the seconds that a Retry-After header requests (RFC 9110 §10.2.3), 0 if it is absent
    or invalid.
    """
    if value is None:
        return 0.0
    if value.strip().isascii() and value.strip().isdigit():
        return float(value.strip()[:9])
    try:
        until = email.utils.parsedate_to_datetime(value)
        if until.tzinfo is None:
            until = until.replace(tzinfo=UTC)
        return max(0.0, (until - datetime.now(UTC)).total_seconds())
    except (ValueError, OverflowError):  # a day or a zone beyond the calendar
        return 0.0
