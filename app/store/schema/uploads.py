"""Uploads in parts; the bytes of a part are in the object store until its upload ends."""

from sqlalchemy import ARRAY, BigInteger, ForeignKeyConstraint, Index, PrimaryKeyConstraint, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.data.uploads import UploadStatus
from app.store.schema.base import Base, Now, Timestamp, of_project


class UploadTable(Base):
    __tablename__ = "uploads"
    __table_args__ = (
        PrimaryKeyConstraint("project_id", "id"),
        of_project(),
        Index(None, "expires_at"),
    )

    id: Mapped[str]
    project_id: Mapped[str]
    filename: Mapped[str]
    purpose: Mapped[str]
    mime_type: Mapped[str]
    bytes: Mapped[int] = mapped_column(BigInteger)
    status: Mapped[UploadStatus] = mapped_column(Text)
    """`pending`, `completed` or `cancelled`; `expired` is derived from the time."""
    file_expires_after_s: Mapped[int | None]
    file_id: Mapped[str | None]
    part_ids: Mapped[list[str]] = mapped_column(ARRAY(Text), server_default="{}")
    created_at: Mapped[Now]
    expires_at: Mapped[Timestamp]


class UploadPartTable(Base):
    __tablename__ = "upload_parts"
    __table_args__ = (
        PrimaryKeyConstraint("project_id", "id"),
        ForeignKeyConstraint(
            ["project_id", "upload_id"], ["uploads.project_id", "uploads.id"], ondelete="CASCADE"
        ),
        Index(None, "project_id", "upload_id"),
    )

    id: Mapped[str]
    project_id: Mapped[str]
    upload_id: Mapped[str]
    bytes: Mapped[int] = mapped_column(BigInteger)
    created_at: Mapped[Now]
