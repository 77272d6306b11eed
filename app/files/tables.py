"""Uploaded files; the bytes are in the object store."""

from sqlalchemy import ARRAY, BigInteger, ForeignKeyConstraint, Index, PrimaryKeyConstraint, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.files.files import UploadStatus
from app.kit.sql import Base, Now, Timestamp, of_project


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
