"""Events of jobs, in the order of writing."""

from typing import Any

from sqlalchemy import BigInteger, Identity, Index
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.store.schema.base import Base, Now, of_job


class JobEventTable(Base):
    __tablename__ = "job_events"
    __table_args__ = (of_job(), Index(None, "job_id", "seq"), Index(None, "id", unique=True))

    seq: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    id: Mapped[str]
    project_id: Mapped[str]
    job_id: Mapped[str]
    created_at: Mapped[Now]
    level: Mapped[str]
    type: Mapped[str]
    message: Mapped[str]
    data: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
