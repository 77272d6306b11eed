"""Feedback about answers, and the builds that made files of it."""

from sqlalchemy import (
    BigInteger,
    ForeignKeyConstraint,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.kit.fields import Json
from app.kit.sql import Base, JsonColumn, Now, of_project


class FeedbackTable(Base):
    """Feedback goes with the answers that it is about."""

    __tablename__ = "feedback"
    __table_args__ = (
        PrimaryKeyConstraint("project_id", "id"),
        of_project(),
        *(
            ForeignKeyConstraint(
                ["project_id", column], [f"{table}.project_id", f"{table}.id"], ondelete="CASCADE"
            )
            for column, table in (
                ("completion_id", "stored_completions"),
                ("rejected_completion_id", "stored_completions"),
                ("rollout_id", "rollouts"),
            )
        ),
        Index(None, "project_id", "created_at", "id"),
        Index(None, "created_at"),
        *(
            Index(None, "project_id", column)
            for column in (
                *("completion_id", "rejected_completion_id", "rollout_id", "end_user", "author"),
            )
        ),
    )

    id: Mapped[str]
    project_id: Mapped[str]
    type: Mapped[str]
    author: Mapped[str | None]
    end_user: Mapped[str | None]
    comment: Mapped[str | None]
    completion_id: Mapped[str | None]
    rejected_completion_id: Mapped[str | None]
    rollout_id: Mapped[str | None]
    rating: Mapped[str | None]
    content: Mapped[JsonColumn]
    """Texts that were sent: a better answer, a worse one, the prompt of both."""
    bytes: Mapped[int] = mapped_column(BigInteger)
    created_at: Mapped[Now]


class FeedbackBuildTable(Base):
    """A build exists before its files, whose ids it names."""

    __tablename__ = "feedback_builds"
    __table_args__ = (
        PrimaryKeyConstraint("project_id", "id"),
        of_project(),
        Index(None, "project_id", "created_at", "id"),
        Index("ix_feedback_builds_people", "people", postgresql_using="gin"),
    )

    id: Mapped[str]
    project_id: Mapped[str]
    curriculum_id: Mapped[str | None]
    """`None` until the files are registered."""
    curriculum_version: Mapped[int | None] = mapped_column(Integer)
    report: Mapped[JsonColumn]
    people: Mapped[list[str]] = mapped_column(ARRAY(Text))
    removed_people: Mapped[list[str]] = mapped_column(ARRAY(Text), server_default=text("'{}'"))
    file_ids: Mapped[list[str]] = mapped_column(ARRAY(Text), server_default=text("'{}'"))
    learned: Mapped[list[Json]] = mapped_column(JSONB, server_default=text("'[]'"))
    """The jobs that read each deleted file, and digests of the people whose rows it had."""
    created_at: Mapped[Now]
