"""API keys. The secret is stored only as an HMAC."""

from sqlalchemy import (
    CheckConstraint,
    ForeignKeyConstraint,
    Index,
    LargeBinary,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from app.store.schema.base import Base, Id, Now, Timestamp, of_own_project


class ApiKeyTable(Base):
    __tablename__ = "api_keys"
    __table_args__ = (
        ForeignKeyConstraint(["organization_id"], ["organizations.id"]),
        of_own_project(),
        # Includes the project, so that a key cannot refer to another tenant's account.
        ForeignKeyConstraint(
            ["project_id", "service_account_id"],
            ["service_accounts.project_id", "service_accounts.id"],
        ),
        UniqueConstraint("key_id"),
        Index(
            "ix_api_keys_living",
            "organization_id",
            "project_id",
            "created_at",
            "id",
            postgresql_where=text("revoked_at IS NULL"),
        ),
        # For `project_id IS NULL`, Postgres does not use the order of the index above.
        Index(
            "ix_api_keys_living_admin",
            "organization_id",
            "created_at",
            "id",
            postgresql_where=text("project_id IS NULL AND revoked_at IS NULL"),
        ),
        Index("ix_api_keys_service_account", "project_id", "service_account_id"),
        # A project key without its project would act for the whole organization.
        CheckConstraint("(kind = 'admin') = (project_id IS NULL)", name="admin_has_no_project"),
    )

    id: Mapped[Id]
    organization_id: Mapped[str]
    project_id: Mapped[str | None]
    kind: Mapped[str]
    name: Mapped[str]
    key_id: Mapped[str]
    secret_hmac: Mapped[bytes] = mapped_column(LargeBinary)
    last4: Mapped[str]
    created_at: Mapped[Now]
    expires_at: Mapped[Timestamp | None]
    revoked_at: Mapped[Timestamp | None]
    project_archived_at: Mapped[Timestamp | None]
    """Copy of the project's value in each of its keys: one look-up shows if a key is valid."""
    last_used_at: Mapped[Timestamp | None]
    service_account_id: Mapped[str | None]
