"""What was sampled or answered within a step that is not committed yet."""

from sqlalchemy import PrimaryKeyConstraint
from sqlalchemy.orm import Mapped

from app.store.schema.base import Base, Json, Now, of_job


class JournalTable(Base):
    __tablename__ = "journal"
    __table_args__ = (PrimaryKeyConstraint("job_id", "key"), of_job())

    job_id: Mapped[str]
    key: Mapped[str]
    project_id: Mapped[str]
    step: Mapped[int]
    request_sha256: Mapped[str]
    payload: Mapped[Json]
    created_at: Mapped[Now]
