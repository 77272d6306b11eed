"""Sessions of the dashboard and links that begin one. Their secrets are stored only as hashes."""

from sqlalchemy import CheckConstraint, ForeignKeyConstraint, Index
from sqlalchemy.orm import Mapped

from app.store.schema.base import Base, Id, Now, Timestamp, of_project


class DashboardSessionTable(Base):
    __tablename__ = "dashboard_sessions"
    __table_args__ = (
        of_project(),
        ForeignKeyConstraint(["organization_id"], ["organizations.id"]),
        CheckConstraint("kind IN ('session', 'link')", name="kind"),
        CheckConstraint("(project_id IS NULL) <> (organization_id IS NULL)", name="owner"),
        Index(None, "project_id"),
        Index(None, "organization_id"),
        Index(None, "expires_at"),
    )

    id: Mapped[Id]
    """Hash of the secret."""
    kind: Mapped[str]
    project_id: Mapped[str | None]
    """The project of the key; `None` for an admin key."""
    organization_id: Mapped[str | None]
    """The organization of an admin key; `None` for a project's key."""
    key_id: Mapped[str]
    """Look-up part of the API key."""
    created_at: Mapped[Now]
    expires_at: Mapped[Timestamp]
