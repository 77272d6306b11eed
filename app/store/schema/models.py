"""Tuned models by the name that a tenant calls."""

from sqlalchemy import PrimaryKeyConstraint, UniqueConstraint
from sqlalchemy.orm import Mapped

from app.store.schema.base import Base, Now, Timestamp, of_job


class TunedModelTable(Base):
    __tablename__ = "tuned_models"
    __table_args__ = (
        PrimaryKeyConstraint("project_id", "name"),
        UniqueConstraint("engine_name"),
        of_job(),
    )

    name: Mapped[str]
    project_id: Mapped[str]
    job_id: Mapped[str]
    base_model: Mapped[str]
    engine_name: Mapped[str]
    object_key: Mapped[str]
    step: Mapped[int]
    reasoning_effort: Mapped[str | None]
    created_at: Mapped[Now]
    deleted_at: Mapped[Timestamp | None]
