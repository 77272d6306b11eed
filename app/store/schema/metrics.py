"""Points on curves, one per (job, name, split, step)."""

from sqlalchemy import Double, PrimaryKeyConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.store.schema.base import Base, of_job


class JobMetricTable(Base):
    __tablename__ = "job_metrics"
    __table_args__ = (PrimaryKeyConstraint("job_id", "name", "split", "step"), of_job())

    job_id: Mapped[str]
    name: Mapped[str]
    split: Mapped[str]
    step: Mapped[int]
    project_id: Mapped[str]
    value: Mapped[float] = mapped_column(Double)
