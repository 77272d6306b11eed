"""Sessions of the dashboard and links that begin one. Their secrets are stored only as hashes."""

from sqlalchemy import CheckConstraint, Index
from sqlalchemy.orm import Mapped

from app.store.schema.base import Base, Id, Now, Timestamp, of_project


class DashboardSessionTable(Base):
    __tablename__ = "dashboard_sessions"
    __table_args__ = (
        of_project(),
        CheckConstraint("kind IN ('session', 'link')", name="kind"),
        Index(None, "project_id"),
        Index(None, "expires_at"),
    )

    id: Mapped[Id]
    """Hash of the secret."""
    kind: Mapped[str]
    project_id: Mapped[str]
    key_id: Mapped[str]
    """Look-up part of the API key."""
    created_at: Mapped[Now]
    expires_at: Mapped[Timestamp]
