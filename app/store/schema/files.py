"""Uploaded files; the bytes are in the object store."""

from sqlalchemy import BigInteger, Index, PrimaryKeyConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.store.schema.base import Base, Now, Timestamp, of_project


class FileTable(Base):
    __tablename__ = "files"
    __table_args__ = (
        PrimaryKeyConstraint("project_id", "id"),
        of_project(),
        Index(None, "project_id", "created_at", "id"),
        Index("ix_files_expiring", "expires_at", postgresql_where="expires_at IS NOT NULL"),
        Index("ix_files_deleted", "deleted_at", postgresql_where="deleted_at IS NOT NULL"),
    )

    id: Mapped[str]
    project_id: Mapped[str]
    filename: Mapped[str]
    purpose: Mapped[str]
    bytes: Mapped[int] = mapped_column(BigInteger)
    sha256: Mapped[str]
    object_key: Mapped[str]
    status: Mapped[str]
    status_details: Mapped[str | None]
    created_at: Mapped[Now]
    expires_at: Mapped[Timestamp | None]
    deleted_at: Mapped[Timestamp | None]
