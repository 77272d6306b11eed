"""Organizations and their projects. A project is the unit of isolation."""

from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Double,
    ForeignKeyConstraint,
    Identity,
    Index,
    LargeBinary,
    PrimaryKeyConstraint,
    Text,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.kit.callers import Scope
from app.kit.sql import Base, Id, Now, Timestamp, of_own_project, of_project

_WEIGHTS: Final = "share_weight BETWEEN 1e-6 AND 1e6"
"""A weight is not NaN or infinite, and not so small that a share becomes infinite."""


_BY_TIME: Final = ("organization_id", "created_at", "id")


class OrganizationTable(Base):
    __tablename__ = "organizations"
    __table_args__ = (UniqueConstraint("slug"), CheckConstraint(_WEIGHTS, name="share_weight"))

    id: Mapped[Id]
    slug: Mapped[str]
    title: Mapped[str]
    created_at: Mapped[Now]
    share_weight: Mapped[float] = mapped_column(server_default="1")
    """An organization of weight 2 gets twice as many workers and claims as one of weight 1."""


class ProjectTable(Base):
    __tablename__ = "projects"
    __table_args__ = (
        ForeignKeyConstraint(["organization_id"], ["organizations.id"]),
        UniqueConstraint("organization_id", "id"),
        CheckConstraint(_WEIGHTS, name="share_weight"),
        Index(None, *_BY_TIME),
        Index("ix_projects_active", *_BY_TIME, postgresql_where=text("archived_at IS NULL")),
        # An archived project's name is free again.
        Index(
            *("uq_projects_active_name", "organization_id", "name"),
            unique=True,
            postgresql_where=text("archived_at IS NULL"),
        ),
    )

    id: Mapped[Id]
    organization_id: Mapped[str]
    name: Mapped[str]
    created_at: Mapped[Now]
    archived_at: Mapped[Timestamp | None]
    share_weight: Mapped[float] = mapped_column(server_default="1")
    """Weight 2 gets twice as many workers and claims as 1 within the organization."""
    max_queued_jobs: Mapped[int | None] = mapped_column(BigInteger)
    """The project's own quota, as in the following columns; `None`: that of the settings."""
    max_running_jobs: Mapped[int | None] = mapped_column(BigInteger)
    max_queued_eval_runs: Mapped[int | None] = mapped_column(BigInteger)
    max_running_eval_runs: Mapped[int | None] = mapped_column(BigInteger)
    max_files: Mapped[int | None] = mapped_column(BigInteger)
    max_stored_bytes: Mapped[int | None] = mapped_column(BigInteger)
    max_registered_objects: Mapped[int | None] = mapped_column(BigInteger)
    max_queued_exports: Mapped[int | None] = mapped_column(BigInteger)
    max_running_exports: Mapped[int | None] = mapped_column(BigInteger)
    max_eval_output_items: Mapped[int | None] = mapped_column(BigInteger)
    max_students: Mapped[int | None] = mapped_column(BigInteger)
    max_open_coach_sessions: Mapped[int | None] = mapped_column(BigInteger)
    max_feedback: Mapped[int | None] = mapped_column(BigInteger)


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
            *("ix_api_keys_living", "organization_id", "project_id", "created_at", "id"),
            postgresql_where=text("revoked_at IS NULL"),
        ),
        # For `project_id IS NULL`, Postgres does not use the order of the index above.
        Index(
            *("ix_api_keys_living_admin", *_BY_TIME),
            postgresql_where=text("project_id IS NULL AND revoked_at IS NULL"),
        ),
        Index("ix_api_keys_service_account", "project_id", "service_account_id"),
        # A project key without its project would act for the whole organization.
        CheckConstraint("(kind = 'admin') = (project_id IS NULL)", name="admin_has_no_project"),
        CheckConstraint("cardinality(scopes) > 0", name="scopes"),
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
    scopes: Mapped[list[Scope] | None] = mapped_column(ARRAY(Text))
    """`None`: everything in its project."""


class ServiceAccountTable(Base):
    __tablename__ = "service_accounts"
    __table_args__ = (
        PrimaryKeyConstraint("project_id", "id"),
        of_own_project(),
        Index(
            *("ix_service_accounts_living", "project_id", "created_at", "id"),
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
    kind: Mapped[str]
    project_id: Mapped[str | None]
    """The project of the key; `None` for an admin key."""
    organization_id: Mapped[str | None]
    """The organization of an admin key; `None` for a project's key."""
    key_id: Mapped[str]
    created_at: Mapped[Now]
    expires_at: Mapped[Timestamp]


class AuditLogTable(Base):
    __tablename__ = "audit_logs"
    __table_args__ = (
        ForeignKeyConstraint(["organization_id"], ["organizations.id"]),
        of_own_project(),
        Index(None, "organization_id", "seq"),
        Index(None, "id", unique=True),
        Index("ix_audit_logs_effective_at", "effective_at", postgresql_using="brin"),
    )

    seq: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    id: Mapped[str]
    organization_id: Mapped[str]
    project_id: Mapped[str | None]
    type: Mapped[str]
    resource_id: Mapped[str]
    details: Mapped[dict[str, Any]] = mapped_column(JSONB)
    actor_kind: Mapped[str]
    actor_id: Mapped[str]
    address: Mapped[str]
    effective_at: Mapped[Timestamp] = mapped_column(server_default=func.clock_timestamp())


class UsageRecordTable(Base):
    __tablename__ = "usage_records"
    __table_args__ = (
        PrimaryKeyConstraint("project_id", "id"),
        of_own_project(),
        Index(None, "organization_id", "kind", "used_at"),
        Index(None, "project_id", "kind", "used_at"),
        Index("ix_usage_records_used_at", "used_at", postgresql_using="brin"),
    )

    id: Mapped[str]
    """The id exists before the first attempt to write: a repeated one changes nothing."""
    organization_id: Mapped[str]
    project_id: Mapped[str]
    kind: Mapped[str]
    key_id: Mapped[str]
    model: Mapped[str]
    job_id: Mapped[str | None]
    """No foreign key: what a deleted job used was used."""
    used_at: Mapped[Timestamp] = mapped_column(server_default=func.clock_timestamp())
    requests: Mapped[int] = mapped_column(BigInteger, server_default="0")
    input_tokens: Mapped[int] = mapped_column(BigInteger, server_default="0")
    output_tokens: Mapped[int] = mapped_column(BigInteger, server_default="0")
    cached_tokens: Mapped[int] = mapped_column(BigInteger, server_default="0")
    trained_tokens: Mapped[int] = mapped_column(BigInteger, server_default="0")
    rollouts: Mapped[int] = mapped_column(BigInteger, server_default="0")
    tool_calls: Mapped[int] = mapped_column(BigInteger, server_default="0")
    grader_calls: Mapped[int] = mapped_column(BigInteger, server_default="0")
    judge_input_tokens: Mapped[int] = mapped_column(BigInteger, server_default="0")
    judge_output_tokens: Mapped[int] = mapped_column(BigInteger, server_default="0")
    training_s: Mapped[float] = mapped_column(Double, server_default="0")
    gpu_s: Mapped[float] = mapped_column(Double, server_default="0")
    cost: Mapped[float | None] = mapped_column(Double)
    """`None` where no price was configured when it was used."""
    currency: Mapped[str | None]
