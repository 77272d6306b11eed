"""Mixins for tables whose rows one worker at a time may work on; see `app.store.leases.leases`."""

from sqlalchemy import BigInteger, Index, TextClause
from sqlalchemy.orm import Mapped, mapped_column

from app.store.schema.base import Now, Timestamp


class FencedRow:
    """The lease: the number of the newest claim, and the end of its time."""

    fence: Mapped[int] = mapped_column(BigInteger, server_default="0")
    """Rises with every claim; a write that carries a lower one is refused."""
    lease_until: Mapped[Timestamp | None]
    """The end of the lease on the database's clock; the row can be claimed once it has passed."""


class LeasedRow(FencedRow):
    """A tenant's row that workers may lease in some of its states."""

    id: Mapped[str]
    project_id: Mapped[str]
    status: Mapped[str]
    created_at: Mapped[Now]


class QueuedRow(LeasedRow):
    """A row that waits in a queue and is claimed a limited number of times; see
    `app.store.leases.queues`.
    """

    attempts: Mapped[int] = mapped_column(server_default="0")
    """Claims since the last progress."""
    lease_owner: Mapped[str | None]
    """Host, process and claim that took the lease last."""
    dispatched_at: Mapped[Timestamp | None]
    """Time of the last notification that the sweeper sent for the row."""
    queued_at: Mapped[Now]
    """Time at which the row last entered the queue. Rows of one project are claimed in this order,
    jobs of a higher priority first.
    """
    not_before: Mapped[Timestamp | None]
    """The row cannot be claimed before this time."""
    virtual_time: Mapped[float | None] = mapped_column("turn")
    """The project's virtual time among those of its organization, at the row's last claim."""


def queue_indexes(table: str, *first: TextClause, is_open: str) -> tuple[Index, ...]:
    """Returns the indexes that keep a claim's cost independent of the number of waiting rows.
    `first`: columns that come before the age in the order of a project's rows.
    """
    order: tuple[str | TextClause, ...] = ("project_id", *first, "queued_at", "created_at", "id")
    return (
        Index(
            f"ix_{table}_waiting",
            *order,
            postgresql_where=is_open,
        ),
        Index(f"ix_{table}_held", "lease_until", postgresql_where=is_open),
        Index(None, "turn"),
        Index(None, "project_id", "turn"),
    )
