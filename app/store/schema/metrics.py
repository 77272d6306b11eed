"""Points on curves, one per (job, name, split, step), and the blocks of these points."""

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


class JobMetricBlockTable(Base):
    """Summary of a curve's points whose steps are in `block * size … (block + 1) * size - 1`. A
    trigger on the points computes it; nothing else writes it.
    """

    __tablename__ = "job_metric_blocks"
    __table_args__ = (PrimaryKeyConstraint("job_id", "size", "name", "split", "block"), of_job())

    job_id: Mapped[str]
    name: Mapped[str]
    split: Mapped[str]
    size: Mapped[int]
    block: Mapped[int]
    project_id: Mapped[str]
    points: Mapped[int]
    total: Mapped[float] = mapped_column(Double)
    """Sum of the values, each limited to ±1e200."""
    low: Mapped[float] = mapped_column(Double)
    low_step: Mapped[int]
    high: Mapped[float] = mapped_column(Double)
    high_step: Mapped[int]
    first: Mapped[float] = mapped_column(Double)
    first_step: Mapped[int]
    last: Mapped[float] = mapped_column(Double)
    last_step: Mapped[int]
