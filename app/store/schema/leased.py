"""Mixins for tables whose rows one worker at a time may work on; see `app.store.leases`."""

from sqlalchemy import BigInteger
from sqlalchemy.orm import Mapped, mapped_column

from app.store.schema.base import Now, Timestamp


class LeasedRow:
    """The columns that a lease needs: the row's key, its state, who may write and for how long."""

    id: Mapped[str]
    project_id: Mapped[str]
    status: Mapped[str]
    created_at: Mapped[Now]
    fence: Mapped[int] = mapped_column(BigInteger, server_default="0")
    """Rises with every claim; a write that carries a lower one is refused."""
    lease_until: Mapped[Timestamp | None]
    """The end of the lease on the database's clock; the row can be claimed once it has passed."""


class ClaimableRow(LeasedRow):
    """The columns of a row that workers claim by its id, a limited number of times."""

    attempts: Mapped[int] = mapped_column(server_default="0")
    """Claims since the last progress."""
    lease_owner: Mapped[str | None]
    """Host, process and claim that took the lease last."""
    dispatched_at: Mapped[Timestamp | None]
    """Time of the last notification that the sweeper sent for the row."""
