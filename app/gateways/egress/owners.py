"""The project that the running task calls for: its lookups and connections count as a share.

Must not know the limits.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Owner = tuple[str, str]
"""Organization and project; empty where a process works for one of them alone."""
_owner: ContextVar[Owner] = ContextVar("owner_of_calls", default=("", ""))


def current_owner() -> Owner:
    return _owner.get()


@contextmanager
def calls_of(organization_id: str, project_id: str) -> Iterator[None]:
    """Counts the calls of the block among those of a project."""
    former = _owner.set((organization_id, project_id))
    try:
        yield
    finally:
        _owner.reset(former)
