"""Service accounts: owners of a project's keys."""

from sqlalchemy import Index, PrimaryKeyConstraint, text
from sqlalchemy.orm import Mapped

from app.store.schema.base import Base, Now, Timestamp, of_own_project


class ServiceAccountTable(Base):
    __tablename__ = "service_accounts"
    __table_args__ = (
        PrimaryKeyConstraint("project_id", "id"),
        of_own_project(),
        Index(
            "ix_service_accounts_living",
            "project_id",
            "created_at",
            "id",
            postgresql_where=text("deleted_at IS NULL"),
        ),
    )

    id: Mapped[str]
    organization_id: Mapped[str]
    project_id: Mapped[str]
    name: Mapped[str]
    role: Mapped[str]
    created_at: Mapped[Now]
    deleted_at: Mapped[Timestamp | None]
