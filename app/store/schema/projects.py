"""Organizations and their projects. A project is the unit of isolation."""

from sqlalchemy import ForeignKeyConstraint, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped

from app.store.schema.base import Base, Id, Now, Timestamp


class OrganizationTable(Base):
    __tablename__ = "organizations"
    __table_args__ = (UniqueConstraint("slug"),)

    id: Mapped[Id]
    slug: Mapped[str]
    title: Mapped[str]
    created_at: Mapped[Now]


class ProjectTable(Base):
    __tablename__ = "projects"
    __table_args__ = (
        ForeignKeyConstraint(["organization_id"], ["organizations.id"]),
        UniqueConstraint("organization_id", "id"),
        Index(None, "organization_id", "created_at", "id"),
        Index(
            "ix_projects_active",
            "organization_id",
            "created_at",
            "id",
            postgresql_where=text("archived_at IS NULL"),
        ),
        # An archived project's name is free again.
        Index(
            "uq_projects_active_name",
            "organization_id",
            "name",
            unique=True,
            postgresql_where=text("archived_at IS NULL"),
        ),
    )

    id: Mapped[Id]
    organization_id: Mapped[str]
    name: Mapped[str]
    created_at: Mapped[Now]
    archived_at: Mapped[Timestamp | None]
