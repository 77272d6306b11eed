"""Converts the exception group of a `TaskGroup` to the one exception that ended it.

Owns no error classes. Promises: every other exception passes through unchanged, and the group stays
reachable as the cause.
"""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def first_fault() -> Iterator[None]:
    """Raises the first exception of an exception group instead of the group.

    It is the cause; the other tasks were cancelled because of it.
    """
    try:
        yield
    except BaseExceptionGroup as faults:
        raise faults.exceptions[0] from faults
