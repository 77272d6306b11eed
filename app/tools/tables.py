"""Registered objects of every noun: a row for each object and each version."""

from typing import Any

from sqlalchemy import ForeignKeyConstraint, Index, PrimaryKeyConstraint, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.kit.sql import Base, JsonColumn, Now, Timestamp, of_project


class RegisteredObjectTable(Base):
    __tablename__ = "registered_objects"
    __table_args__ = (
        PrimaryKeyConstraint("project_id", "id"),
        of_project(),
        Index(None, "project_id", "noun", "created_at", "id"),
        Index(
            "uq_registered_objects_living_name",
            "project_id",
            "noun",
            "name",
            unique=True,
            postgresql_where=text("deleted_at IS NULL"),
        ),
    )

    id: Mapped[str]
    project_id: Mapped[str]
    noun: Mapped[str]
    name: Mapped[str]
    version: Mapped[int]
    created_at: Mapped[Now]
    deleted_at: Mapped[Timestamp | None]


class RegisteredVersionTable(Base):
    __tablename__ = "registered_versions"
    __table_args__ = (
        PrimaryKeyConstraint("project_id", "object_id", "version"),
        ForeignKeyConstraint(
            ["project_id", "object_id"],
            ["registered_objects.project_id", "registered_objects.id"],
            ondelete="CASCADE",
        ),
    )

    project_id: Mapped[str]
    object_id: Mapped[str]
    version: Mapped[int]
    name: Mapped[str]
    definition: Mapped[JsonColumn]
    secrets: Mapped[bytes | None]
    object_metadata: Mapped[dict[str, Any] | None] = mapped_column(
        "metadata", JSONB(none_as_null=True)
    )
    created_at: Mapped[Now]
