"""Records of usage: what one committed step, or chats of one minute, used."""

from sqlalchemy import BigInteger, Double, Index, PrimaryKeyConstraint, func
from sqlalchemy.orm import Mapped, mapped_column

from app.store.schema.base import Base, Timestamp, of_own_project


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
