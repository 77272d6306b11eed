"""Organizations and their projects. A project is the unit of isolation."""

from sqlalchemy import ForeignKeyConstraint, UniqueConstraint
from sqlalchemy.orm import Mapped

from app.store.schema.base import Base, Id, Now


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
        UniqueConstraint("organization_id", "name"),
        UniqueConstraint("organization_id", "id"),
    )

    id: Mapped[Id]
    organization_id: Mapped[str]
    name: Mapped[str]
    created_at: Mapped[Now]
