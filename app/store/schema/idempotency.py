"""Responses stored under an Idempotency-Key."""

from sqlalchemy import Index, LargeBinary
from sqlalchemy.orm import Mapped, mapped_column

from app.store.schema.base import Base, Now


class StoredResponseTable(Base):
    __tablename__ = "stored_responses"
    __table_args__ = (Index(None, "created_at"),)

    scope: Mapped[str] = mapped_column(primary_key=True)
    """Id of the project, or of the organization for its administration."""
    key: Mapped[str] = mapped_column(primary_key=True)
    fingerprint: Mapped[bytes] = mapped_column(LargeBinary)
    status: Mapped[int | None]
    """`NULL` while the first request runs, on a path that creates no row."""
    content_type: Mapped[str | None]
    body: Mapped[bytes | None] = mapped_column(LargeBinary)
    """The sealed response; see `app.services.idempotency`."""
    created_at: Mapped[Now]
