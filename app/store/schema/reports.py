"""The paired report of a job, base against tuned."""

from sqlalchemy import PrimaryKeyConstraint
from sqlalchemy.orm import Mapped

from app.store.schema.base import Base, JsonColumn, Now, of_job


class ReportTable(Base):
    __tablename__ = "reports"
    __table_args__ = (PrimaryKeyConstraint("project_id", "job_id"), of_job())

    project_id: Mapped[str]
    job_id: Mapped[str]
    report: Mapped[JsonColumn]
    created_at: Mapped[Now]
