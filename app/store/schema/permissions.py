"""Checkpoint permissions: other projects of the organization that may call a tuned model."""

from sqlalchemy import ForeignKeyConstraint, Index, PrimaryKeyConstraint, UniqueConstraint
from sqlalchemy.orm import Mapped

from app.store.schema.base import Base, Now, of_own_project


class CheckpointPermissionTable(Base):
    __tablename__ = "checkpoint_permissions"
    __table_args__ = (
        PrimaryKeyConstraint("project_id", "id"),
        UniqueConstraint(
            "project_id", "model_name", "target_project_id", name="uq_checkpoint_permissions_grant"
        ),
        of_own_project(),
        # Includes the organization, because foreign keys are not subject to row-level security.
        ForeignKeyConstraint(
            ["organization_id", "target_project_id"],
            ["projects.organization_id", "projects.id"],
            name="fk_checkpoint_permissions_target",
        ),
        ForeignKeyConstraint(
            ["project_id", "model_name"],
            ["tuned_models.project_id", "tuned_models.name"],
            name="fk_checkpoint_permissions_model",
            ondelete="CASCADE",
        ),
        Index(None, "project_id", "model_name", "created_at", "id"),
        Index(None, "target_project_id"),
    )

    id: Mapped[str]
    organization_id: Mapped[str]
    project_id: Mapped[str]
    """The owner of the model."""
    model_name: Mapped[str]
    target_project_id: Mapped[str]
    created_at: Mapped[Now]
