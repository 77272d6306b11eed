"""Rollouts. The unique key guarantees that a sample is scored and trained once."""

from typing import Any

from sqlalchemy import Double, Index, PrimaryKeyConstraint, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.kit.sql import Base, JsonColumn, of_job

REPEATED_CALL = "jsonb_path_exists(trace, '$.turns[*].tool_calls[*] ? (@.repeated == true)')"


class RolloutTable(Base):
    __tablename__ = "rollouts"
    __table_args__ = (
        PrimaryKeyConstraint("project_id", "id"),
        UniqueConstraint(
            "job_id",
            "split",
            "step",
            "prompt_index",
            "sample_index",
            "attempt",
            name="uq_rollouts_sample",
        ),
        of_job(),
        Index("ix_rollouts_row", "job_id", "prompt_index", "split", "step"),
        Index(
            "ix_rollouts_reward",
            *("job_id", "reward", "split", "step", "prompt_index", "sample_index", "attempt"),
            postgresql_where=text("reward IS NOT NULL"),
        ),
        Index(
            "ix_rollouts_failed",
            *("job_id", "failure_class", "split", "step", "prompt_index"),
            postgresql_where=text("failure_class IS NOT NULL"),
        ),
        Index(
            "ix_rollouts_stopped",
            *("job_id", "stop_reason", "split", "step", "prompt_index"),
            postgresql_where=text("stop_reason <> 'final_answer'"),
        ),
        Index("ix_rollouts_tools", text("rollout_tools(job_id, trace)"), postgresql_using="gin"),
        Index(
            "ix_rollouts_repeated",
            *("job_id", "split", "step", "prompt_index"),
            postgresql_where=text(REPEATED_CALL),
        ),
    )

    id: Mapped[str]
    project_id: Mapped[str]
    job_id: Mapped[str]
    split: Mapped[str]
    step: Mapped[int]
    prompt_index: Mapped[int]
    sample_index: Mapped[int]
    attempt: Mapped[int]
    trace_id: Mapped[str]
    reward: Mapped[float | None] = mapped_column(Double)
    failure_class: Mapped[str | None]
    failure_message: Mapped[str | None]
    stop_reason: Mapped[str | None]
    policy_version: Mapped[int]
    prompt_tokens: Mapped[int]
    completion_tokens: Mapped[int]
    reasoning_tokens: Mapped[int]
    tool_calls: Mapped[int]
    components: Mapped[JsonColumn]
    trace: Mapped[JsonColumn]
    tokens: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True), deferred=True)
    started_at: Mapped[float] = mapped_column(Double)
    finished_at: Mapped[float] = mapped_column(Double)
