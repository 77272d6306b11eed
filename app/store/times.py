"""Converts between the database's timestamps and the wire's unix seconds."""

from datetime import UTC, datetime


def unix(moment: datetime) -> int:
    return int(moment.timestamp())


def unix_or_none(moment: datetime | None) -> int | None:
    return None if moment is None else unix(moment)


def moment(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, tz=UTC)


def moment_or_none(seconds: int | None) -> datetime | None:
    return None if seconds is None else moment(seconds)
