"""Checkpoints, one per (job, step)."""

from sqlalchemy import PrimaryKeyConstraint, UniqueConstraint
from sqlalchemy.orm import Mapped

from app.store.schema.base import Base, JsonColumn, Now, of_job


class CheckpointTable(Base):
    __tablename__ = "checkpoints"
    __table_args__ = (
        PrimaryKeyConstraint("project_id", "id"),
        UniqueConstraint("job_id", "step"),
        of_job(),
    )

    id: Mapped[str]
    project_id: Mapped[str]
    job_id: Mapped[str]
    step: Mapped[int]
    model_name: Mapped[str]
    object_key: Mapped[str]
    metrics: Mapped[JsonColumn]
    created_at: Mapped[Now]
